"""Upper bounds of integers that hold whatever is in memory: they follow from types, masks, shifts
and minima, and from the largest threadgroup."""

from __future__ import annotations

from collections.abc import Mapping

from anymetal.ir import types as t
from anymetal.ir.calls import IN_THREADGROUP
from anymetal.ir.model import Const, Instr, Value
from anymetal.ir.walk import from_below

_SAME = ("zext", "sext")
_OF_BOTH = ("add", "mul", "shl", "or", "xor", "and")


class Bounds:
    """The bounds of a program's values, found when they are asked for."""

    def __init__(self, limits: Mapping[str, int] = IN_THREADGROUP) -> None:
        self.limits = limits  #: of positions (ir/model.py)
        self.known: dict[Value, int] = {}

    def __call__(self, value: Value) -> int:
        """A number that an integer, read as unsigned, is below; 0 if none is known."""
        return from_below(value, self.known, _parts, self._bound)

    def _bound(self, value: Value) -> int:
        if isinstance(value, Const):
            number = value.int_value
            return number + 1 if number is not None and number >= 0 else 0
        if not isinstance(value, Instr) or not isinstance(value.type, t.Int):
            return 0
        limit = 1 << value.type.bits if value.type.bits <= 16 else 0
        return min((b for b in (limit, self._result(value)) if b), default=0)

    def _result(self, value: Instr) -> int:
        if value.op == "call" and value.arg in self.limits:
            return self.limits[value.arg]
        below = [self.known[v] for v in _parts(value)]
        if value.op in ("add", "mul", "shl"):
            return _grown(value, *below)
        if value.op == "zext":
            return below[0]
        if value.op == "sext":
            source = value.operands[0].type
            assert isinstance(source, t.Int)
            return below[0] if below[0] <= 1 << (source.bits - 1) else 0
        if value.op in ("or", "xor"):
            sizes = [(b - 1).bit_length() for b in below if b]
            return 1 << max(sizes) if len(sizes) == 2 else 0
        if value.op == "and" or _is_minimum(value):
            return min((b for b in below if b), default=0)
        if value.op == "lshr" and below:
            assert isinstance(value.type, t.Int) and isinstance(value.operands[1], Const)
            largest = (below[0] or 1 << value.type.bits) - 1
            return (largest >> (value.operands[1].int_value or 0)) + 1
        if value.op == "urem" and isinstance(value.operands[1], Const):
            return max(value.operands[1].int_value or 0, 0)
        return 0


def _parts(value: Value) -> list[Value]:
    """The operands whose bounds the bound of a value is made of."""
    if not isinstance(value, Instr):
        return []
    if value.op in _SAME or (value.op == "lshr" and isinstance(value.operands[1], Const)):
        return value.operands[:1]
    return value.operands if value.op in _OF_BOTH or _is_minimum(value) else []


def _is_minimum(value: Instr) -> bool:
    return value.op == "call" and str(value.arg).startswith("llvm.umin.")


def _grown(value: Instr, *below: int) -> int:
    """The bound of a sum, product or left shift; 0 if it may wrap."""
    assert isinstance(value.type, t.Int)
    left, right = (b - 1 for b in below)
    if left < 0 or right < 0:
        return 0
    if value.op == "shl":
        largest = left << right if right < value.type.bits else -1
    else:
        largest = left + right if value.op == "add" else left * right
    return largest + 1 if 0 <= largest < 1 << value.type.bits else 0
