"""Bits of a position, as bits of the lane number: x % 8 and x / 8 where warps begin at multiples of
32, so that more addresses follow from the lane.

    and %x, 7       becomes     and lane, 7
    xor %x, 7       becomes     (%x - lane) + (lane ^ 7)
    lshr %x, 3      becomes     ((%x - lane) >> 3) + (lane >> 3)

%x may also count in steps of a power of two, such as 4 * lane.

Only for programs that are looked at: the code would be longer.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.uniformity import Shapes, shapes
from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.rewrite import rewrite
from anymetal.ir.sizes import SIMD_GROUP

_HIGHEST = 20  #: the lowest bit of a lane number, in one that is looked at


def run(known: Analyses) -> bool:
    """`known.width` is that of a warp."""
    shape = known(shapes)
    return rewrite(known.program, lambda block, instr: _split(block, instr, shape))


def _split(block: Block, instr: Instr, shape: Shapes) -> Value | None:
    if instr.op not in ("and", "xor", "lshr") or instr.type != t.I32:
        return None
    position, constant = instr.operands
    number = constant.int_value if isinstance(constant, Const) else None
    lowest = shape.lane_bits(position)
    if number is None or lowest is None or lowest > _HIGHEST:
        return None
    number_of_lane = Instr(t.I32, "call", [], "__am_lane")
    lane = Instr(t.I32, "shl", [number_of_lane, Const(t.I32, str(lowest))])
    if instr.op == "lshr" and not 0 < number < lowest + SIMD_GROUP.bit_length() - 1:
        return None
    if instr.op != "lshr" and not 0 <= number < SIMD_GROUP << lowest:
        return None
    block.append(number_of_lane)
    block.append(lane)
    inside = block.append(Instr(t.I32, instr.op, [lane, constant]))
    if instr.op == "and":
        return inside
    warp = block.append(Instr(t.I32, "sub", [position, lane]))
    if instr.op == "lshr":
        warp = block.append(Instr(t.I32, "lshr", [warp, constant]))
    return block.append(Instr(t.I32, "add", [warp, inside], None, "nuw nsw"))
