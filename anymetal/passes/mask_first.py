"""Masks come before shifts, where the mask leaves nothing of the lane number.

LLVM writes `i / 32 * 2` as `(i >> 4) & ~1`, whose first half differs between lanes:

    %s = lshr %i, 4                  %m = and %i, -32        uniform
    %r = and %s, 268435454  becomes  %r = lshr %m, 4         uniform

It pays where a flat index is taken apart: all that follows from the row is then computed once.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.lane_numbers import signed
from anymetal.analysis.uniformity import Shapes, shapes
from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.rewrite import rewrite


def run(known: Analyses) -> bool:
    """Whether there was such a mask."""
    if not any(_shifted(instr) for instr in known.program.instructions()):
        return False
    found = known(shapes)
    return rewrite(known.program, lambda block, instr: _masked_first(block, instr, found))


def _shifted(instr: Instr) -> tuple[Value, int, int] | None:
    """The value, the number of bits and the mask, if an instruction masks a value shifted right."""
    if instr.op != "and":
        return None
    shift, mask = instr.operands
    if not isinstance(shift, Instr) or shift.op != "lshr" or not isinstance(mask, Const):
        return None
    value, amount = shift.operands
    if not isinstance(amount, Const) or amount.int_value is None or mask.int_value is None:
        return None
    return value, amount.int_value, mask.int_value


def _masked_first(block: Block, instr: Instr, shapes: Shapes) -> Value | None:
    parts = _shifted(instr)
    if parts is None or not isinstance(instr.type, t.Int):
        return None
    value, amount, mask = parts
    wide = (mask << amount) % (1 << instr.type.bits)
    lowest = shapes.lane_bits(value)
    if lowest is None or wide & (shapes.width - 1) << lowest:
        return None

    def append(op: str, operand: Value, number: int) -> Instr:
        constant = Const(instr.type, str(signed(number, instr.type)))
        return block.append(Instr(instr.type, op, [operand, constant], None, "", instr.loc))

    return append("lshr", append("and", value, wide), amount)
