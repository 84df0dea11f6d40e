"""Takes the lane number out of divisions and remainders of a thread's index.

`i / 8` and `i % 8 * 4` of an index that counts on from lane to lane are varying. But where `i` is a
multiple of 32 in lane 0, the lane number has bits of its own in `i`, and in `4 * i`. So a shift or
a mask is applied to the uniform part and to the lane number separately:

    i >> 3      becomes  ((i - lane) >> 3) + (lane >> 3)
    4 * i & 28  becomes  4 * lane & 28          as no bits of the uniform part are left
    i ^ 33      becomes  ((i - lane) ^ 32) + (lane ^ 1)

The lane's part is known when compiling: see analysis/lane_numbers.py and simd/access/tiles.py.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.uniformity import Shapes, shapes
from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.rewrite import rewrite
from anymetal.ir.sizes import SIMD_GROUP


def split_lanes(known: Analyses) -> bool:
    """Rewrites such divisions."""
    program = known.program
    found = known(shapes)
    return rewrite(program, lambda block, instr: _split(block, instr, found))


def _split(block: Block, instr: Instr, shapes: Shapes) -> Value | None:
    if instr.op not in ("lshr", "and", "xor", "or") or not shapes[instr].is_varying:
        return None
    value, number = instr.operands
    if not isinstance(number, Const) or number.int_value is None:
        return None
    lowest = shapes.lane_bits(value)
    if lowest is None or _is_lane(value):
        return None
    lane = _lane(block, instr.type, lowest, shapes.width)
    bits = (shapes.width - 1) << lowest
    numbers = [number, number]
    if instr.op in ("xor", "or"):  # each part has the bits in its own places
        numbers = [Const(instr.type, str(number.int_value & places)) for places in (bits, ~bits)]
    part = block.append(Instr(instr.type, instr.op, [lane, numbers[0]]))
    if instr.op == "and" and not number.int_value & ~bits:  # no bits of the uniform part are left
        return part
    base = block.append(Instr(instr.type, "sub", [value, lane]))
    rest = block.append(Instr(instr.type, instr.op, [base, numbers[1]]))
    return block.append(Instr(instr.type, "add", [rest, part], None, "nuw nsw"))


def _is_lane(value: Value) -> bool:
    """Whether the value is the lane number itself, perhaps extended, masked or shifted left."""
    while isinstance(value, Instr) and value.op in ("zext", "shl", "and"):
        value = value.operands[0]
    return isinstance(value, Instr) and value.op == "call" and value.arg == "__am_lane"


def _lane(block: Block, type_: t.Type, lowest: int, width: int) -> Value:
    """The number of a lane in its gang, from bit `lowest` on."""
    lane: Value = block.append(Instr(t.I32, "call", [], "__am_lane"))
    if width < SIMD_GROUP:
        lane = block.append(Instr(t.I32, "and", [lane, Const(t.I32, str(width - 1))]))
    if type_ != t.I32:
        lane = block.append(Instr(type_, "zext", [lane], None, "nneg"))
    if not lowest:
        return lane
    return block.append(Instr(type_, "shl", [lane, Const(type_, str(lowest))], None, "nuw nsw"))
