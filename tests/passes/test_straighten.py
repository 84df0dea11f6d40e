"""Control flow without decided branches, unreachable blocks and chains."""

from __future__ import annotations

from anymetal.ir.model import Const
from anymetal.ir.spec import Stage, check
from anymetal.ir.types import I1
from anymetal.passes.straighten import straighten
from tests.ir.programs import ops, program

_BODY = """
%c = load i8, ptr %a
%is = icmp eq i8 %c, 0
br i1 %is, label %then, label %join
then:
%x = load i32, ptr %out
br label %join
join:
%v = phi i32 [ %x, %then ], [ 7, %entry ]
store i32 %v, ptr %out
ret void
"""


def test_what_is_decided_becomes_one_block() -> None:
    kernel = program(_BODY)
    kernel.blocks[0].terminator.operands = [Const(I1, "true")]
    straighten(kernel)
    check(kernel, Stage.SCALAR)
    assert ops(kernel) == ["load", "icmp", "load", "store", "ret"]


def test_the_other_way() -> None:
    kernel = program(_BODY)
    kernel.blocks[0].terminator.operands = [Const(I1, "false")]
    straighten(kernel)
    check(kernel, Stage.SCALAR)
    assert ops(kernel) == ["load", "icmp", "store", "ret"]


def test_what_is_open_stays() -> None:
    kernel = program(_BODY)
    straighten(kernel)
    assert len(kernel.blocks) == 3


def test_loops_stay() -> None:
    kernel = program("br label %loop\nloop:\n%x = load i32, ptr %a\nbr label %loop")
    straighten(kernel)
    assert len(kernel.blocks) == 2
