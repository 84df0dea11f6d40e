"""Which additions of floats are under locks, and which of them happen together."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.machine import Machine
from anymetal.simd import questions
from tests.compiling import known_of
from tests.ir.programs import program

_LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
#: 16 registers of 8 numbers: 4 vectors of 32.
_AVX2 = Machine("x86_64-unknown-linux-gnu", "x86-64-v3", "+avx2")
_PLACES = """
    %lane = call i32 @__am_lane()
    %group = call i32 @__am_group_x()
    %far = load i32, ptr %n
    %which = icmp eq i32 %far, 0
    %one = getelementptr float, ptr %out, i32 %group
    %run = getelementptr float, ptr %out, i32 %lane
    %next = getelementptr i8, ptr %run, i64 128
    %there = getelementptr float, ptr %a, i32 %lane
    %far.lane = mul i32 %lane, %far
    %spread = getelementptr float, ptr %out, i32 %far.lane
    %beside = getelementptr float, ptr %a, i32 %far.lane
    %either = select i1 %which, ptr %run, ptr %there
"""


def adds(*lines: str) -> str:
    """Additions to these places in turn, named by number, and other lines as they stand."""
    made = [
        f"%add{number} = atomicrmw fadd ptr {line}, float 1.0 monotonic" if line[0] == "%" else line
        for number, line in enumerate(lines, 1)
    ]
    return "\n".join([_PLACES, *made, "ret void"])


@pytest.mark.parametrize(
    ("lines", "locked"),
    [
        (["%run"], ["%add1"]),
        (["%one"], []),  # the processor's own addition
        (["%one", "%run"], ["%add1", "%add2"]),
        (["%there", "%one"], ["%add1"]),
        (["%either"], ["%add1"]),
        # Nobody adds to an array in two ways.
        (["%either", "%run", "store float 0.0, ptr %there"], []),
        (["%either", "%there", "store float 0.0, ptr %run"], []),
        (["%run", "store float 0.0, ptr %there"], ["%add1"]),
        (["%run", "%spread"], []),  # lanes with elements of their own
        (["%run", "%beside"], ["%add1"]),
        (["%either", "%beside", "%run"], []),
    ],
)
def test_locks(lines: list[str], locked: list[str]) -> None:
    kernel = program(adds(*lines), "ptr %n, ptr %a, ptr %out")
    found = known_of(kernel, _LAUNCH)(questions.under_locks)
    assert sorted(instr.name for instr in found) == locked


@pytest.mark.parametrize(
    ("lines", "together"),
    [
        (["%run", "%next"], [["%add1", "%add2"]]),
        (["%run", "%there", "%next"], [["%add1", "%add3"], ["%add2"]]),
        (["%run", "call void @__am_threadgroup_barrier(i32 0)", "%next"], [["%add1"], ["%add3"]]),
        (["%run", "br label %more\nmore:", "%next"], [["%add1"], ["%add3"]]),
        (
            ["%run"] * 5,
            [["%add1", "%add2", "%add3", "%add4"], ["%add5"]],
        ),
        (["%one", "%run"], [["%add2"]]),
    ],
)
def test_together(lines: list[str], together: list[list[str]]) -> None:
    kernel = program(adds(*lines), "ptr %n, ptr %a, ptr %out")
    found = known_of(kernel, _LAUNCH, machine=_AVX2)(questions.added_together)
    lists = {id(one): [instr.name for instr in one] for one in found.values()}
    assert list(lists.values()) == together
