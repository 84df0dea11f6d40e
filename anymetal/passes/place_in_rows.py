"""Threadgroups of short rows: a thread's position follows from its lane number.

In threadgroups of 16 x 16 a gang is two whole rows. If the length of the rows is known, a power of
two up to the width of a gang, x and y are bits of the lane number:

    call @__am_thread_x()      becomes      lane & 15
    call @__am_thread_y()      becomes      gang * 2 + (lane >> 4)

What follows from the lane number is known when compiling (analysis/lane_numbers.py), so accesses by
x and y become runs of memory (simd/access/tiles.py).
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.rewrite import rewrite
from anymetal.ir.sizes import SIMD_GROUP


def run(known: Analyses, length: int) -> bool:
    """`length`: threads in x of every threadgroup; they are 1 deep in z."""
    return rewrite(known.program, lambda block, instr: _position(block, instr, length))


def _position(block: Block, instr: Instr, length: int) -> Value | None:
    axis = instr.arg if instr.op == "call" else ""
    if axis not in ("__am_thread_x", "__am_thread_y", "__am_thread_z"):
        return None
    if axis == "__am_thread_z":
        return Const(t.I32, "0")
    lane = block.append(Instr(t.I32, "call", [], "__am_lane"))
    if axis == "__am_thread_x":
        return block.append(Instr(t.I32, "and", [lane, Const(t.I32, str(length - 1))]))
    gang = block.append(Instr(t.I32, "call", [], "__am_gang"))
    rows = Const(t.I32, str(SIMD_GROUP // length))
    first = block.append(Instr(t.I32, "mul", [gang, rows], None, "nuw nsw"))
    shift = Const(t.I32, str(length.bit_length() - 1))
    row = block.append(Instr(t.I32, "lshr", [lane, shift]))
    return block.append(Instr(t.I32, "add", [first, row], None, "nuw nsw"))
