"""Asking for memory that gangs or steps to come will need (see prefetch/run_ahead.py,
prefetch/next_step.py)."""

from __future__ import annotations

from anymetal.analysis.affine import Distance
from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.calls import AHEAD_WRITE, LINE_READ, NEXT_READ
from anymetal.ir.model import Instr
from anymetal.simd.code.values import Values

PREFETCH = "llvm.prefetch.p0"
FIRST, SECOND = "3", "2"  #: caches, as LLVM numbers them
_ELEMENT = 4  #: bytes that a lane accesses, roughly


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
    kind = "1" if instr.arg == AHEAD_WRITE else "0"
    cache = SECOND if instr.arg == NEXT_READ else FIRST
    for offset in sorted(offsets):
        _ask(w, v.scalar(pointer), offset, cache, kind)


def ask_for_runs(
    w: Writer, v: Values, starts: list[str], size: int, distance: Distance, line: int
) -> None:
    """For the lines of runs of `size` bytes that lie so far behind these, to be read soon."""
    far = "0"
    for product, factor in distance.items():
        term = str(factor)
        for value in product:
            number = v.scalar(value)
            if value.type != t.I64:
                number = w.value(f"sext {value.type} {number} to i64")
            term = w.value(f"mul i64 {term}, {number}")
        far = w.value(f"add i64 {far}, {term}")
    for start in starts:
        there = w.value(f"getelementptr i8, ptr {start}, i64 {far}")
        for offset in (*range(0, size, line), size - 1):
            _ask(w, there, offset, SECOND)


def _ask(w: Writer, address: str, offset: int, cache: str, kind: str = "0") -> None:
    there = w.value(f"getelementptr i8, ptr {address}, i64 {offset}")
    w.call("void", PREFETCH, [("ptr", there), ("i32", kind), ("i32", cache), ("i32", "1")])
