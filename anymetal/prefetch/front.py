"""Blocks that all threads of some threadgroups come by.

    if (i >= n) return;  // grids are rounded up
    int at = index[i / 64];

The load is in the second block. Where `n` is known, all threads of the threadgroups in front of the
last one come by there.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import predecessors
from anymetal.analysis.ranges import Bounds
from anymetal.ir import types as t
from anymetal.ir.calls import ALL
from anymetal.ir.model import Block, Const, Instr, Value

#: What is true of a number in front of a bound; and by how much that lies behind what is compared.
_BELOW = {"ult": 0, "ule": 1, "slt": 0, "sle": 1}
_OPPOSITE = {"uge": "ult", "ugt": "ule", "sge": "slt", "sgt": "sle"}


def front(known: Analyses, position: str, count: int) -> list[Block]:
    """Those that all come by whose position, which a call gives, is below `count`, in order."""
    below = Bounds({**known.program.limits, position: count})
    blocks = [known.program.blocks[0]]
    while (block := _next(blocks[-1], below)) and len(known(predecessors)[block]) == 1:
        blocks.append(block)
    return blocks


def _next(block: Block, below: Bounds) -> Block | None:
    end = block.terminator
    if end.op != "br" or not end.operands:
        return end.arg[0] if end.op == "br" else None
    (condition,) = end.operands
    ways = zip(end.arg, (True, False), strict=True)
    return next((way for way, holds in ways if _is(condition, holds, below)), None)


def _is(condition: Value, holds: bool, below: Bounds) -> bool:
    """Whether a condition certainly is so."""
    if not isinstance(condition, Instr):
        return isinstance(condition, Const) and bool(condition.int_value) == holds
    parts = condition.operands
    if condition.op == "icmp":
        return _compares(condition, holds, below)
    if condition.op == "call" and condition.arg == ALL:
        return holds and _is(parts[0], True, below)
    if (condition.op, holds) in (("or", False), ("and", True)):
        return all(_is(part, holds, below) for part in parts)
    if condition.op == "select":  # `a || b` is select(a, true, b), `a && b` select(a, b, false)
        first, *rest = parts
        other = rest[holds]
        is_one = isinstance(other, Const) and bool(other.int_value) != holds
        return is_one and _is(first, holds, below) and _is(rest[not holds], holds, below)
    return False


def _compares(condition: Instr, holds: bool, below: Bounds) -> bool:
    """Whether a number certainly is below a constant, or not behind it."""
    value, other = condition.operands
    way = condition.arg if holds else _OPPOSITE.get(condition.arg, "")
    if way not in _BELOW or not isinstance(other, Const) or not isinstance(value.type, t.Int):
        return False
    bound, most = below(value), (other.int_value or 0) + _BELOW[way]
    return 0 < bound <= min(most, 1 << (value.type.bits - 1))
