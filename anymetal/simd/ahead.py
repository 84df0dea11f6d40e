"""Asking for memory that gangs to come will need (see passes/ahead.py)."""

from __future__ import annotations

from anymetal.ir.calls import AHEAD_READ, AHEAD_WRITE, NEXT_READ
from anymetal.ir.model import Instr, Program
from anymetal.simd.shape import Shapes
from anymetal.simd.streams import LINE
from anymetal.simd.values import Values
from anymetal.simd.writer import Writer

PREFETCH = "llvm.prefetch.p0"
_ELEMENT = 4  #: bytes that a lane accesses, roughly


def ask(w: Writer, v: Values, instr: Instr) -> None:
    """For the lines of an element, or of a run of elements of all lanes."""
    pointer = instr.operands[0]
    stride = v.shape(pointer).stride
    last = stride * (w.width - 1)
    offsets = {*range(0, last, LINE if last > 0 else -LINE), 0}
    if instr.arg != NEXT_READ:  # where the next step does not go on
        offsets.add(last)
    kind = "1" if instr.arg == AHEAD_WRITE else "0"
    cache = "2" if instr.arg == NEXT_READ else "3"
    for offset in sorted(offsets):
        address = w.value(f"getelementptr i8, ptr {v.scalar(pointer)}, i64 {offset}")
        w.call("void", PREFETCH, [("ptr", address), ("i32", kind), ("i32", cache), ("i32", "1")])


def bytes_asked_for(program: Program, shapes: Shapes) -> int:
    """How much memory a gang asks for, once through."""
    asks = (i for i in program.instructions() if i.arg in (AHEAD_READ, AHEAD_WRITE))
    return sum(abs(shapes[i.operands[0]].stride) * shapes.width + _ELEMENT for i in asks)
