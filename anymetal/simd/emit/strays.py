"""Accesses of a checked build that lie outside of their arrays: one call of C for a gang.

The program tests each access (passes/check_bounds.py). If a lane's is outside, the C function of
targets/cpu/strays.cpp notes which access, where and how often.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.model import Instr
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.code.values import Values
from anymetal.simd.emit.positions import CONTEXT_NAMES

#: The name of that function in generated code.
NOTE = "am_stray"


class Strays:
    """Emits the test whether any lane is outside, and the call."""

    def __init__(self, writer: Writer, values: Values, masks: Masks) -> None:
        self.w = writer
        self.v = values
        self.masks = masks

    def emit(self, instr: Instr, mask: Mask) -> None:
        w = self.w
        bad, position, owner, site, record = instr.operands
        lanes = self.masks.both(mask, self.v.vector(bad))
        vectors = [(v.type, self.v.vector(v)) for v in (position, owner)]
        some, none = w.fresh("strays"), w.fresh("strays.none")
        w.do(f"br i1 {self.masks.any(lanes)}, label %{some}, label %{none}")
        w.label(some)
        memory = [self._stored(type_, vector) for type_, vector in vectors]
        bits = self.masks.word(lanes)
        context = ", ".join(f"i32 %{name}" for name in CONTEXT_NAMES if name != "active")
        arrays = ", ".join(f"ptr {address}" for address in memory)
        parameters = ["ptr", "i32", "i32", "i32", "ptr", "ptr", *["i32"] * (len(CONTEXT_NAMES) - 1)]
        w.declarations[NOTE] = f"declare hidden void @{NOTE}({', '.join(parameters)}) cold"
        w.do(
            f"call void @{NOTE}(ptr {self.v.scalar(record)}, i32 {self.v.scalar(site)}, "
            f"i32 {bits}, i32 {w.width}, {arrays}, {context})"
        )
        w.do(f"br label %{none}")
        w.label(none)

    def _stored(self, type_: t.Type, vector: str) -> str:
        spelling = self.w.vector(type_)
        address = self.w.alloca(spelling, "stray")
        self.w.do(f"store {spelling} {vector}, ptr {address}")
        return address
