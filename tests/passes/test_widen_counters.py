"""Which counters of loops are there in 64 bits, too."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr
from anymetal.ir.spec import Stage, check
from anymetal.passes.widen_counters import widen
from tests.compiling import known_of
from tests.ir.programs import program
from tests.ir.short import llvm

_LOOP = """
lane = lane()
row = lane // 8
column = lane % 8
size = shape[0]
half = size // 2
br label %before
before:
br label %loop
loop:
%k = phi i32 [ {start}, %before ], [ %next, %loop ]
%s = phi float [ 0.0, %before ], [ %t, %loop ]
t = s + a[{index}]
next = {next}
more = next < size
br i1 %more, label %loop, label %end
end:
%last = phi float [ %t, %loop ]
out[lane] = last
ret void
"""
_ROW = "row * 32 + k + column"


@pytest.mark.parametrize(
    ("start", "following", "index", "steps"),
    [
        ("0", "k + 8", _ROW, [8]),
        ("0", "k + 4", "(k + row) * size + column", [4]),
        ("%size", "k + -8", _ROW, [-8]),
        ("0", "k + half", _ROW, [None]),
        # No part of an index, or one of each lane.
        ("0", "k + 8", "lane", []),
        ("%lane", "k + 8", "k", []),
        # The next number is no sum.
        ("1", "k * 3", _ROW, []),
    ],
)
def test_which_counters_are_wide(
    start: str, following: str, index: str, steps: list[int | None]
) -> None:
    text = llvm(_LOOP.format(start=start, next=following, index=index), {"shape": "i32"})
    kernel = program(text, "ptr %a, ptr %shape, ptr %out")
    launch = LaunchFacts(linear=True, aligned=False, flat=True)
    assert widen(known_of(kernel, launch)) == bool(steps)
    check(kernel, Stage.SCALAR)
    found = []
    for counter, wide in kernel.twins.items():
        assert (counter.type, wide.type, wide.op) == (t.I32, t.I64, "phi")
        (grown,) = (v for v in wide.operands if isinstance(v, Instr) and wide in v.operands)
        step = grown.operands[1]
        found.append(step.int_value if isinstance(step, Const) else None)
    assert found == steps
