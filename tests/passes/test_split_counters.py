"""Counters that begin at known places of the lanes: a uniform count, and what lanes begin with."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.ir.model import Program
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage, check
from anymetal.passes import split_counters
from anymetal.simd import questions
from anymetal.targets.cpu.llvm_target import machine_for
from tests.ir.programs import ir_text, run_program
from tests.ir.short import llvm

_ARGS = "ptr %x, ptr %a, ptr %shape"
#: Lanes stand for places in 8 rows of 4 elements; %x has rows of 40, of which %n is told.
_PROGRAM = """
n = shape[0]
lane = lane()
row = lane >> 2
column = lane & 3
START
br label %loop
loop:
%i = phi i32 [ 0, %entry ], [ %i_next, %loop ]
%s = phi float [ 0.5, %entry ], [ %t, %loop ]
COUNTER
BODY
i_next = i + 1
%more = MORE
br i1 %more, label %loop, label %end
end:
%sum = phi float [ %t, %loop ]
BEHIND
place = lane() * 2 + 1600
a[place] = sum
a[place + 1] = last
ret void
"""


def text(start: str, counter: str, body: str, **parts: str) -> str:
    usual = {"MORE": "icmp ne i32 %i_next, 4", "BEHIND": "last = 1.0"}
    result = _PROGRAM
    given = {"START": start, "COUNTER": counter, "BODY": body, **usual, **parts}
    for name, part in given.items():
        result = result.replace(name, part)
    return ir_text(llvm(result, {"shape": "i32"}), _ARGS)


_NUMBER = "%k = phi i32 [ %row, %entry ], [ %k_next, %loop ]"
_ADDED = "t = fmuladd(x[k * 40 + column], 0.5, s)\nk_next = k + 8"
_POINTER = "%p = phi ptr [ %q, %entry ], [ %p_next, %loop ]"
_AT = "at = row * 40 + column\n%wide = zext i32 %at to i64\n"
_BEGIN = _AT + "%q = getelementptr float, ptr %x, i64 %wide"
_LOADED = "%v = load float, ptr %p, align 4\nt = fmuladd(v, 0.5, s)\n"

_SPLIT = {
    "a number": text("", _NUMBER, _ADDED),
    "a number that is read behind the loop": text(
        "", _NUMBER, _ADDED,
        BEHIND="%k_end = phi i32 [ %k, %loop ]\n%last = sitofp i32 %k_end to float"),
    "a number that decides": text("", _NUMBER, _ADDED, MORE="icmp slt i32 %k_next, 30"),
    "a step that was loaded": text(
        "step = shape[1]", _NUMBER, "t = fmuladd(x[k * 40 + column], 0.5, s)\nk_next = k + step"),
    "a pointer": text(_BEGIN, _POINTER,
                      f"{_LOADED}%p_next = getelementptr float, ptr %p, i64 320"),
    "a pointer by rows of a length that was loaded": text(
        f"{_BEGIN}\n%rows = sext i32 %n to i64", _POINTER,
        f"{_LOADED}%p_next = getelementptr [8 x float], ptr %p, i64 %rows, i64 1"),
}  # fmt: skip
_LEFT_ALONE = {
    "the same in all lanes": text("", "%k = phi i32 [ %n, %entry ], [ %k_next, %loop ]", _ADDED),
    "at a distance from lane to lane": text(
        "begin = lane * 3", "%k = phi i32 [ %begin, %entry ], [ %k_next, %loop ]", _ADDED),
    "from memory": text(
        "%begin = load i32, ptr %q, align 4".join((_BEGIN + "\n", "\nfirst = begin & 7")),
        "%k = phi i32 [ %first, %entry ], [ %k_next, %loop ]", _ADDED),
    "lanes have steps of their own": text(
        "", _NUMBER, "t = fmuladd(x[k * 40 + column], 0.5, s)\nk_next = k + column"),
    "a step that the loop changes": text(
        "", _NUMBER, "t = fmuladd(x[k * 40 + column], 0.5, s)\nk_next = k + i"),
    "products": text("", _NUMBER, "t = fmuladd(x[k * 8 + column], 0.5, s)\nk_next = k * 2"),
}  # fmt: skip


def known(program: Program) -> Analyses:
    launch = LaunchFacts(linear=True, aligned=True, flat=True, whole=True)
    return Analyses(program, launch, 32, machine_for(""))


@pytest.mark.parametrize("name", _SPLIT)
@pytest.mark.parametrize("threads", [32, 27])
def test_results_are_the_same(name: str, threads: int) -> None:
    """Bit by bit; and what was a gather is known to be rows."""
    before, after = read_program(_SPLIT[name]), read_program(_SPLIT[name])
    assert split_counters.run(known(after))
    check(after, Stage.GANG)
    assert not known(before)(questions.tiles)
    assert known(after)(questions.tiles)
    expected, actual = _memory(), _memory()
    run_program(before, expected, 32, threads)
    run_program(after, actual, 32, threads)
    assert expected[1].tobytes() == actual[1].tobytes()
    assert expected[1].tobytes() != _memory()[1].tobytes()


@pytest.mark.parametrize("name", _LEFT_ALONE)
def test_left_alone(name: str) -> None:
    assert not split_counters.run(known(read_program(_LEFT_ALONE[name])))


def _memory() -> list[np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    rng = np.random.default_rng(13)
    arrays = [rng.standard_normal(2000).astype(np.float32).view(np.uint8) for _ in range(2)]
    return [*arrays, np.array([40, 8], np.int32).view(np.uint8)]
