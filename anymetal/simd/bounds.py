"""What integers lie below, whatever is in memory: from their types, masks, shifts and clamps, and
from how large a threadgroup can be."""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr, Value

#: Positions in a threadgroup, of at most 1024 threads.
_POSITIONS = {"__am_lane": 32, "__am_gang": 32} | {f"__am_thread_{axis}": 1024 for axis in "xyz"}


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
    if value.op == "call" and value.arg in _POSITIONS:
        return _POSITIONS[value.arg]
    if value.op in ("add", "mul", "shl"):
        return _grown(value)
    if value.op == "zext":
        return bound(operands[0])
    if value.op == "sext":
        below, source = bound(operands[0]), operands[0].type
        assert isinstance(source, t.Int)
        return below if below <= 1 << (source.bits - 1) else 0
    if value.op in ("or", "xor"):
        sizes = [(b - 1).bit_length() for b in map(bound, operands) if b]
        return 1 << max(sizes) if len(sizes) == 2 else 0
    if value.op == "and" or (value.op == "call" and str(value.arg).startswith("llvm.umin.")):
        return min((b for b in map(bound, operands) if b), default=0)
    if value.op == "lshr" and isinstance(operands[1], Const):
        assert isinstance(value.type, t.Int)
        below = bound(operands[0]) or 1 << value.type.bits
        return (below - 1 >> (operands[1].int_value or 0)) + 1
    if value.op == "urem" and isinstance(operands[1], Const):
        return max(operands[1].int_value or 0, 0)
    return 0


def _grown(value: Instr) -> int:
    """A sum or product of small numbers, which does not wrap."""
    assert isinstance(value.type, t.Int)
    left, right = (bound(v) - 1 for v in value.operands)
    if left < 0 or right < 0:
        return 0
    if value.op == "shl":
        largest = left << right if right < value.type.bits else -1
    else:
        largest = left + right if value.op == "add" else left * right
    return largest + 1 if 0 <= largest < 1 << value.type.bits else 0
