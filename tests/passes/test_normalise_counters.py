"""Counters that begin at positions, and loops that all threads leave together."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.analysis.induction import trips
from anymetal.analysis.uniformity import shapes
from anymetal.ir.model import Program
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage, check
from anymetal.passes import normalise_counters
from anymetal.targets.cpu.llvm_target import machine_for
from tests.ir.programs import ir_text, run_program

#: Each thread notes in which iterations it was at which numbers.
_LOOP = """
    %lane = call i32 @__am_lane()
    %start = {start}
    br label %loop
loop:
    %i = phi i32 [ %start, %entry ], [ %next, %loop ]
    %n = phi i32 [ 0, %entry ], [ %n.next, %loop ]
    %row = mul i32 %n, 32
    %place = add i32 %row, %lane
    %to = getelementptr i32, ptr %out, i32 %place
    store i32 %i, ptr %to, align 4
    %n.next = add i32 %n, 1
    %next = add i32 %i, {step}
    %more = icmp {kind} i32 %{tested}, {limit}
    br i1 %more, label %{yes}, label %{no}
end:
    ret void
"""
_FROM_LANE = {
    "the lane": "add i32 %lane, 0",
    "a part of it": "and i32 %lane, 7",
    "another one": "lshr i32 %lane, 2",
}
#: Kind of test, and whether the loop goes on where it holds.
_TESTS = {"ult": True, "slt": True, "ule": True, "uge": False, "ugt": False, "sge": False}
_COMPARE = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "ge": lambda a, b: a >= b, "gt": lambda a, b: a > b,
}  # fmt: skip


def text(start: str, step: int, limit: int, kind: str = "ult", tested: str = "next") -> str:
    yes, no = ("loop", "end") if _TESTS[kind] else ("end", "loop")
    return ir_text(_LOOP.format(**locals()))


def analysed(program: Program) -> Analyses:
    launch = LaunchFacts(linear=True, aligned=True, flat=True, whole=True)
    return Analyses(program, launch, 32, machine_for(""))


def counted(start: int, step: int, limit: int, kind: str, tested: str) -> int:
    """The iterations of the loop, one by one."""
    number, iterations = start, 0
    while True:
        iterations += 1
        seen, number = number, number + step
        holds = _COMPARE[kind[1:]](seen if tested == "i" else number, limit)
        if holds != _TESTS[kind] or iterations > 1000:
            return iterations


def run(text: str, threads: int = 32) -> tuple[bool, bytes, bytes]:
    """Whether the pass changes the program, and what it writes before and after."""
    before, after = read_program(text), read_program(text)
    changed = normalise_counters.run(analysed(after))
    check(after, Stage.READ)
    if changed:
        known = analysed(after)
        (count,) = known(trips).values()
        (branch,) = (i for i in after.instructions() if i.op == "br" and len(i.arg) == 2)
        assert known(shapes)[branch.operands[0]].is_uniform and count > 1
    written = [np.full(32 * 32 * 4, 0xEE, np.uint8) for _ in range(2)]
    for program, out in zip((before, after), written, strict=True):
        run_program(program, [np.zeros(4, np.uint8), out], 32, threads)
    return changed, written[0].tobytes(), written[1].tobytes()


@pytest.mark.parametrize("kind", _TESTS)
@pytest.mark.parametrize(
    ("start", "step", "limit", "fires"),
    [
        ("the lane", 32, 128, True),
        ("the lane", 32, 127, False),
        ("the lane", 16, 128, False),
        ("a part of it", 8, 32, True),
        ("a part of it", 8, 36, False),
        ("another one", 8, 64, True),
        ("another one", 16, 64, True),
        ("another one", 16, 50, False),
    ],
)
def test_what_is_written_stays(start: str, step: int, limit: int, kind: str, fires: bool) -> None:
    inclusive = kind[1:] in ("le", "gt")
    body = text(_FROM_LANE[start], step, limit - inclusive, kind)
    for threads in (32, 27):
        changed, before, after = run(body, threads)
        assert changed == fires and before == after


@given(
    first=st.sampled_from([1, 2, 8, 32]),
    step=st.integers(1, 40),
    limit=st.integers(1, 200),
    kind=st.sampled_from(sorted(_TESTS)),
    tested=st.sampled_from(["i", "next"]),
)
def test_it_fires_where_all_count_alike(
    first: int, step: int, limit: int, kind: str, tested: str
) -> None:
    start = f"and i32 %lane, {first - 1}" if first > 1 else "add i32 0, 0"
    program = read_program(text(start, step, limit, kind, tested))
    changed = normalise_counters.run(analysed(program))
    counts = {counted(begin, step, limit, kind, tested) for begin in range(first)}
    assert changed <= (len(counts) == 1)
    if changed:
        assert set(analysed(program)(trips).values()) == counts
    elif first > 1:
        assert len(counts) > 1 or counts == {1}


@pytest.mark.parametrize(
    "start",
    ["load i32, ptr %a, align 4", "add i32 %lane, 5000", "sub i32 %lane, 1"],
)
def test_not_where_nothing_is_known_of_the_start(start: str) -> None:
    program = read_program(text(start, 32, 128))
    assert not normalise_counters.run(analysed(program))


def test_not_where_the_count_would_wrap() -> None:
    beyond = text(_FROM_LANE["the lane"], 1 << 30, (1 << 30) + 7, tested="i")
    assert not normalise_counters.run(analysed(read_program(beyond)))
    assert normalise_counters.run(
        analysed(read_program(text("and i32 %lane, 3", 4, 8, tested="i")))
    )


def test_what_is_read_behind_the_loop_is_what_it_was() -> None:
    behind = """end:
  %last = phi i32 [ %next, %loop ]
  %far = getelementptr i32, ptr %out, i32 %lane
  %there = getelementptr i32, ptr %far, i32 512
  store i32 %last, ptr %there, align 4
"""
    body = re.sub(r"end:.*\n", behind, text(_FROM_LANE["the lane"], 32, 128))
    changed, before, after = run(body)
    assert changed and before == after
