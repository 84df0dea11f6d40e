"""Loops in which lanes walk along rows take several iterations at a time."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.ir.model import Program
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage, check
from anymetal.passes import unroll_rows
from anymetal.targets.cpu.llvm_target import machine_for
from tests.ir.programs import ir_text, ops, run_program
from tests.ir.short import llvm

_ARGS = "ptr %x, ptr %a, ptr %shape"
_COLUMNS = 40
_PROGRAM = """
n = shape[0]
row = thread_x() * ROW
br label %loop
loop:
%i = phi i32 [ START, %entry ], [ %i_next, %loop ]
%twice = phi i32 [ 5, %entry ], [ %twice_next, %loop ]
%old = phi float [ 0.5, %entry ], [ %s, %loop ]
%s = phi float [ 1.0, %entry ], [ %t, %loop ]
BODY
twice_next = twice + 2
i_next = i + STEP
%more = icmp ne i32 %TESTED, LIMIT
br i1 %more, label %loop, label %end
end:
%sum = phi float [ %t, %loop ]
%before = phi float [ %old, %loop ]
%counted = phi i32 [ %twice, %loop ]
%reached = phi i32 [ %i_next, %loop ]
place = thread_x() * 4 + 1600
a[place] = sum
a[place + 1] = before
%whole = sitofp i32 %counted to float
a[place + 2] = whole
%as_float = sitofp i32 %reached to float
a[place + 3] = as_float
ret void
"""

_SUM = "t = fmuladd(x[row + i], 0.5, s)"


def text(body: str, **parts: str) -> str:
    """The loop, from 0 to 24 by 1 along rows of 40 elements unless something else is said."""
    usual = {"ROW": str(_COLUMNS), "START": "0", "STEP": "1", "LIMIT": "24", "TESTED": "i_next"}
    result = _PROGRAM
    for name, part in {**usual, "BODY": body, **parts}.items():
        result = result.replace(name, part)
    return ir_text(llvm(result, {"shape": "i32"}), _ARGS)


def unrolled(of: str) -> tuple[bool, Program]:
    program = read_program(of)
    launch = LaunchFacts(linear=True, aligned=True, flat=True, whole=True)
    changed = unroll_rows.run(Analyses(program, launch, 32, machine_for("")))
    check(program, Stage.GUARDED)
    return changed, program


_UNROLLED = {
    "eight at a time": (text(_SUM), 8),
    "four at a time": (text(_SUM, LIMIT="20"), 4),
    "from elsewhere": (text(_SUM, START="3", LIMIT="11"), 8),
    "the counter is tested before it grows": (text(_SUM, TESTED="i", LIMIT="23"), 8),
    "what the last iteration had": (text("t = x[row + i] - old"), 8),
    "two counters": (text("t = fmuladd(x[row + i], a[twice], s)"), 8),
    "stores between the loads": (text(f"{_SUM}\na[row + i] = t"), 8),
    "stores that a later iteration reads": (text(f"{_SUM}\nx[row + i + 1] = t"), 8),
    "down": (text("t = fmuladd(x[row - i + 30], 0.5, s)"), 8),
    "a count down": (text(_SUM, START="39", STEP="-1", LIMIT="15"), 8),
    "in place": (text(f"{_SUM}\nx[row + i] = t"), 8),
    "a long body": (text("\n".join([_SUM, *(f"a[row + i + {k}] = t" for k in range(6))])), 4),
}
_LEFT_ALONE = {
    "neighbours share elements": text(_SUM, ROW="1"),
    "short rows": text(_SUM, ROW="4"),
    "every other element": text("t = fmuladd(x[row + i * 2], 0.5, s)"),
    "the same for all lanes": text("t = fmuladd(x[i], 0.5, s)"),
    "a number of iterations that has no divisor": text(_SUM, LIMIT="23"),
    "a number that is not known": text(_SUM, LIMIT="%n"),
    "down to what is not known": text(_SUM, START="39", STEP="-1", LIMIT="%n"),
    "threads meet": text(f"{_SUM}\ncall void @__am_threadgroup_barrier(i32 1)"),
}


@pytest.mark.parametrize("name", _UNROLLED)
@pytest.mark.parametrize("threads", [32, 27])
def test_results_are_the_same(name: str, threads: int) -> None:
    """Bit by bit, of whole and of partial gangs."""
    of, count = _UNROLLED[name]
    before = read_program(of)
    changed, program = unrolled(of)
    assert changed
    assert ops(program).count("load") - 1 == count * (ops(before).count("load") - 1)
    memory = [_memory() for _ in range(3)]
    run_program(before, memory[0], 32, threads)
    run_program(program, memory[1], 32, threads)
    for expected, actual in zip(memory[0], memory[1], strict=True):
        assert expected.tobytes() == actual.tobytes()
    assert memory[0][1].tobytes() != memory[2][1].tobytes()


@pytest.mark.parametrize("name", _LEFT_ALONE)
def test_left_alone(name: str) -> None:
    assert not unrolled(_LEFT_ALONE[name])[0]


def _memory() -> list[np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    rng = np.random.default_rng(11)
    arrays = [rng.standard_normal(2000).astype(np.float32).view(np.uint8) for _ in range(2)]
    return [*arrays, np.full(8, 24, np.int32).view(np.uint8)]
