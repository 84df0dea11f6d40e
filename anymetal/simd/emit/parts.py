"""Accesses to interleaved private arrays at a uniform index.

The units of all lanes are consecutive (private_memory.py), and nobody else uses them. So inactive
lanes may be loaded, and stored as they were: processors without masked instructions for the size
need no gathers and scatters. A part of a unit, such as a field of a struct, is shifted out of the
unit, or merged into it.
"""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.emit.private_memory import Interleaved


class Parts(GangEmitter):
    """Emits such accesses. `offset` is a byte offset in a lane's own space."""

    def load(self, type_: t.Type, array: Interleaved, offset: str, align: int, mask: Mask) -> str:
        """The loaded vector, with anything in inactive lanes."""
        w = self.w
        if type_.size == array.unit:
            if not self.machine.masked("load", type_.size):
                mask = None
            return self.accesses.load(type_, self._units(array, offset), True, align, mask)
        whole, part = t.Int(8 * array.unit), t.Int(8 * type_.size)
        units = w.value(f"load {w.vector(whole)}, ptr {self._units(array, offset)}, align {align}")
        shift = w.splat(whole, self._shift(array, offset))
        moved = w.value(f"lshr {w.vector(whole)} {units}, {shift}")
        return self._cast(part, type_, w.value(self._trunc(whole, part, moved)))

    def store(
        self, type_: t.Type, name: str, array: Interleaved, offset: str, align: int, mask: Mask
    ) -> None:
        """Stores the vector `name`."""
        w, address = self.w, self._units(array, offset)
        whole = t.Int(8 * array.unit)
        if type_.size == array.unit:
            if mask is None or self.machine.masked("store", type_.size):
                self.accesses.store(type_, name, address, True, align, mask)
                return
            spelling = w.vector(type_)
            old = w.value(f"load {spelling}, ptr {address}, align {align}")
        else:
            spelling = w.vector(whole)
            old = w.value(f"load {spelling}, ptr {address}, align {align}")
            name = self._among(old, self._cast(type_, t.Int(8 * type_.size), name), type_, array,
                               self._shift(array, offset))  # fmt: skip
        if mask is not None:
            name = w.value(f"select {self.masks.type} {mask}, {spelling} {name}, {spelling} {old}")
        w.do(f"store {spelling} {name}, ptr {address}, align {align}")

    def _among(self, units: str, part: str, type_: t.Type, array: Interleaved, shift: str) -> str:
        """The units with one part replaced."""
        w, whole, narrow = self.w, t.Int(8 * array.unit), t.Int(8 * type_.size)
        spelling = w.vector(whole)
        wide = w.value(f"zext {w.vector(narrow)} {part} to {spelling}")
        moved = w.value(f"shl {spelling} {wide}, {w.splat(whole, shift)}")
        here = w.value(f"shl {whole} {(1 << narrow.bits) - 1}, {shift}")
        others = w.splat(whole, w.value(f"xor {whole} {here}, -1"))
        kept = w.value(f"and {spelling} {units}, {others}")
        return w.value(f"or {spelling} {kept}, {moved}")

    def _units(self, array: Interleaved, offset: str) -> str:
        """The address of all lanes' units at an offset."""
        w = self.w
        if array.mixed:
            offset = w.value(f"and i64 {offset}, {-array.unit}")
        behind = w.value(f"mul i64 {offset}, {w.width}")
        return w.value(f"getelementptr i8, ptr {array.address}, i64 {behind}")

    def _shift(self, array: Interleaved, offset: str) -> str:
        """Where a part begins in its unit, in bits."""
        w, whole = self.w, t.Int(8 * array.unit)
        inside = w.value(f"and i64 {offset}, {array.unit - 1}")
        bits = w.value(f"shl i64 {inside}, 3")
        return bits if whole == t.I64 else w.value(f"trunc i64 {bits} to {whole}")

    def _trunc(self, whole: t.Type, part: t.Type, name: str) -> str:
        return f"trunc {self.w.vector(whole)} {name} to {self.w.vector(part)}"

    def _cast(self, source: t.Type, target: t.Type, name: str) -> str:
        """A value as another type of its size in memory, where i1 has a byte."""
        if source == target:
            return name
        op = "zext" if source == t.I1 else "trunc" if target == t.I1 else "bitcast"
        return self.w.value(f"{op} {self.w.vector(source)} {name} to {self.w.vector(target)}")
