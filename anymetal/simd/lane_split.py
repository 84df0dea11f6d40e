"""Takes the lane number out of divisions of a thread's index.

`i / 8` and `i % 8` of an index that counts on from lane to lane vary. But where the first lane's
index is a multiple of 32 they are a uniform part plus what follows from the lane number:

    i >> 3  =  ((i - lane) >> 3) + (lane >> 3)          i & 7  =  lane & 7

which lane_numbers.py and tiles.py know what to do with.
"""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Program, Value
from anymetal.ir.rewrite import rewrite
from anymetal.simd.shape import Shapes


def split_lanes(program: Program, shapes: Shapes) -> bool:
    """Rewrites such divisions; whether there were any, so that shapes must be found anew."""
    if shapes.width != 32:
        return False
    return rewrite(program, lambda block, instr: _split(block, instr, shapes))


def _split(block: Block, instr: Instr, shapes: Shapes) -> Value | None:
    if instr.op not in ("lshr", "and"):
        return None
    value, number = instr.operands
    if not isinstance(number, Const) or number.int_value is None:
        return None
    if not shapes.counts_lanes(value) or getattr(value, "arg", None) == "__am_lane":
        return None
    amount, low = number.int_value, shapes.width - 1
    if instr.op == "lshr":
        return _shifted(block, value, number) if 0 < 1 << amount <= low else None
    if amount & ~low:  # the base takes part, too
        return None
    return block.append(Instr(instr.type, "and", [_lane(block, instr.type), number]))


def _lane(block: Block, type_: t.Type) -> Value:
    lane = block.append(Instr(t.I32, "call", [], "__am_lane"))
    return lane if type_ == t.I32 else block.append(Instr(type_, "zext", [lane], None, "nneg"))


def _shifted(block: Block, value: Value, number: Const) -> Value:
    type_ = value.type
    lane = _lane(block, type_)
    base = block.append(Instr(type_, "sub", [value, lane]))
    high = block.append(Instr(type_, "lshr", [base, number]))
    row = block.append(Instr(type_, "lshr", [lane, number]))
    return block.append(Instr(type_, "add", [high, row], None, "nuw nsw"))
