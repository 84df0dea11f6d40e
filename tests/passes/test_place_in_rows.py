"""Positions in a threadgroup of short rows."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Instr
from anymetal.ir.spec import Stage, check
from anymetal.passes import place_in_rows
from tests.ir.programs import ops, program

_OUT_OF_ORDER = """
br label %second
first:
store i32 %p, ptr %out
ret void
second:
%p = call i32 @__am_thread_{axis}()
br label %first
"""


@pytest.mark.parametrize("length", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_blocks_in_any_order(axis: str, length: int) -> None:
    """A use may stand in front of its definition in the text."""
    kernel = program(_OUT_OF_ORDER.format(axis=axis))
    place_in_rows.run(Analyses(kernel), length)
    check(kernel, Stage.SCALAR)
    calls = [i.arg for i in kernel.instructions() if i.op == "call"]
    assert calls == {"x": ["__am_lane"], "y": ["__am_lane", "__am_gang"], "z": []}[axis]


def test_phis_get_the_position() -> None:
    kernel = program(
        """
        %p = call i32 @__am_thread_x()
        br label %loop
        loop:
        %i = phi i32 [ %p, %entry ], [ %next, %loop ]
        %next = add i32 %i, 5
        %more = icmp ult i32 %next, 100
        br i1 %more, label %loop, label %end
        end:
        %last = phi i32 [ %i, %loop ]
        store i32 %last, ptr %out
        ret void
        """
    )
    place_in_rows.run(Analyses(kernel), 8)
    check(kernel, Stage.SCALAR)
    phi = next(i for i in kernel.instructions() if i.op == "phi")
    assert [v.op for v in phi.operands if isinstance(v, Instr)] == ["and", "add"]
    assert ops(kernel)[:2] == ["call", "and"]
