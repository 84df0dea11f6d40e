"""Asking for memory that gangs or steps to come will need (see prefetch/)."""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir.calls import LINE_READ, NEXT_READ
from anymetal.ir.model import Instr
from anymetal.simd.code.values import Values

PREFETCH = "llvm.prefetch.p0"
FIRST, SECOND = "3", "2"  #: caches, as LLVM numbers them


def ask(w: Writer, v: Values, instr: Instr, line: int) -> None:
    """For the lines, of so many bytes, of an element, or of a run of elements of all lanes."""
    pointer = instr.operands[0]
    stride = v.shape(pointer).stride
    last = stride * (w.width - 1)
    offsets = {*range(0, last, line if last > 0 else -line), 0}
    if instr.arg == LINE_READ:
        offsets = {0}
    elif instr.arg != NEXT_READ:  # where the next step does not go on
        offsets.add(last)
    cache = SECOND if instr.arg == NEXT_READ else FIRST
    for offset in sorted(offsets):
        there = w.value(f"getelementptr i8, ptr {v.scalar(pointer)}, i64 {offset}")
        w.call("void", PREFETCH, [("ptr", there), ("i32", "0"), ("i32", cache), ("i32", "1")])
