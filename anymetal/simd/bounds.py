"""What integers lie below, whatever is in memory: from their types, masks, shifts and clamps."""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr, Value


def bound(value: Value) -> int:
    """What an integer lies below, read as unsigned; 0 if that is unknown."""
    if isinstance(value, Const):
        number = value.int_value
        return number + 1 if number is not None and number >= 0 else 0
    if not isinstance(value, Instr) or not isinstance(value.type, t.Int):
        return 0
    limit = 1 << value.type.bits if value.type.bits <= 16 else 0
    found = {b for b in (limit, _result(value)) if b}
    return min(found, default=0)


def _result(value: Instr) -> int:
    operands = value.operands
    if value.op == "zext":
        return bound(operands[0])
    if value.op == "and" or (value.op == "call" and str(value.arg).startswith("llvm.umin.")):
        return min((b for b in map(bound, operands) if b), default=0)
    if value.op == "lshr" and isinstance(operands[1], Const):
        assert isinstance(value.type, t.Int)
        below = bound(operands[0]) or 1 << value.type.bits
        return (below - 1 >> (operands[1].int_value or 0)) + 1
    if value.op == "urem" and isinstance(operands[1], Const):
        return max(operands[1].int_value or 0, 0)
    return 0
