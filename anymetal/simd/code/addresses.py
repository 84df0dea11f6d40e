"""Addresses that differ between lanes, as a scalar base and a vector of indices.

Vectors of 64-bit pointers are twice as wide as the 32-bit indices in them. With indices, tests and
loops over lanes are cheaper, and gathers and scatters take twice as many lanes at once; but LLVM
sees base and indices only if the address is put together in the block that uses it. So each block
does that itself, and blocks hand on indices.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.simd.code.values import Values


class Addresses(NamedTuple):
    """`base` plus `scale` bytes times `vector`, signed numbers of `type_`. Or, without a base, the
    pointers in `whole`, which `vector` has as numbers."""

    vector: str
    type_: t.Type
    scale: int
    base: str = ""
    whole: str = ""  #: the vector of pointers, where there is no base
    below: int = 0  #: a bound that the numbers are below (and not negative), if one is known

    def pointers(self, w: Writer) -> str:
        """As a vector of pointers, for an instruction of the same block."""
        if self.whole:
            return self.whole
        wide = self.vector
        if self.type_ != t.I64:
            wide = w.value(f"sext {w.vector(self.type_)} {self.vector} to {w.vector(t.I64)}")
        return w.value(
            f"getelementptr [{self.scale} x i8], ptr {self.base}, {w.vector(t.I64)} {wide}"
        )

    def lane(self, w: Writer, lane: str) -> str:
        """The address of lane number `lane`, an i32."""
        if self.whole:
            return w.value(f"extractelement {w.vector(t.PTR)} {self.whole}, i32 {lane}")
        number = w.value(f"extractelement {w.vector(self.type_)} {self.vector}, i32 {lane}")
        return self.of(w, number)

    def moved(self, w: Writer, distance: int) -> Addresses:
        """The addresses so many bytes behind."""
        if not distance:
            return self
        if not self.whole:
            return self._replace(base=w.value(f"getelementptr i8, ptr {self.base}, i64 {distance}"))
        vector = w.vector(t.PTR)
        whole = w.value(f"getelementptr i8, {vector} {self.whole}, i64 {distance}")
        return self._replace(whole=whole, vector="")

    def lanes(self, w: Writer) -> list[str]:
        """The address of each lane. Indices of 32 bits leave their vector in pairs: a move from a
        vector register costs as much as the two shifts."""
        if self.type_ != t.I32:
            return [self.lane(w, str(lane)) for lane in range(w.width)]
        pairs = f"<{w.width // 2} x i64>"
        both = w.value(f"bitcast {w.vector(t.I32)} {self.vector} to {pairs}")
        numbers: list[str] = []
        for i in range(w.width // 2):
            pair = w.value(f"extractelement {pairs} {both}, i64 {i}")
            low = w.value(f"trunc i64 {pair} to i32")
            numbers += [w.value(f"sext i32 {low} to i64"), w.value(f"ashr i64 {pair}, 32")]
        wide = self._replace(type_=t.I64)
        return [wide.of(w, number) for number in numbers]

    def decided(self, w: Writer) -> Addresses:
        """The same, fit for decisions. What lanes that are not active have loaded may be poison,
        and a branch that depends on poison counts as one that is never reached, also where those
        lanes are masked."""
        if self.whole:
            whole = w.value(f"freeze {w.vector(t.PTR)} {self.whole}")
            numbers = w.value(f"ptrtoint {w.vector(t.PTR)} {whole} to {w.vector(t.I64)}")
            return self._replace(vector=numbers, whole=whole)
        return self._replace(vector=w.value(f"freeze {w.vector(self.type_)} {self.vector}"))

    def of(self, w: Writer, number: str) -> str:
        """The address for a number, where there is a base."""
        return w.value(f"getelementptr [{self.scale} x i8], ptr {self.base}, {self.type_} {number}")


def addresses_of(w: Writer, v: Values, pointer: Value) -> Addresses:
    """The addresses of a pointer: of a gep with one varying index as base and indices, of 32 bits
    if possible; of anything else as pointers."""
    if isinstance(pointer, Instr) and pointer.op == "gep":
        terms = list(zip(pointer.operands[1:], pointer.arg[:-1], strict=True))
        varying = [term for term in terms if not v.shape(term[0]).is_uniform]
        simple = len(varying) == 1 and v.shape(pointer.operands[0]).is_uniform
        if simple and all(v.at_hand(value) for value in pointer.operands):
            value, scale = varying[0]
            base = v.scalar(pointer.operands[0])
            for other, factor in terms:
                if other is not value:
                    index = f"{other.type} {v.scalar(other)}"
                    base = w.value(f"getelementptr [{factor} x i8], ptr {base}, {index}")
            base = w.value(f"getelementptr i8, ptr {base}, i64 {pointer.arg[-1]}")
            numbers, type_ = _narrow(w, v, value)
            return Addresses(numbers, type_, scale, base, below=v.bound(value))
    whole = v.vector(pointer)
    numbers = w.value(f"ptrtoint {w.vector(t.PTR)} {whole} to {w.vector(t.I64)}")
    return Addresses(numbers, t.I64, 1, whole=whole)


def _narrow(w: Writer, v: Values, value: Value) -> tuple[str, t.Type]:
    """A number in 32 bits, if it was extended from no more."""
    if isinstance(value, Instr) and value.op in ("sext", "zext") and v.at_hand(value.operands[0]):
        narrow = value.operands[0]
        if narrow.type == t.I32 and (value.op == "sext" or "nneg" in value.flags):
            return v.vector(narrow), t.I32
        if narrow.type in (t.I8, t.I16):
            small = f"{w.vector(narrow.type)} {v.vector(narrow)}"
            return w.value(f"{value.op} {small} to {w.vector(t.I32)}"), t.I32
    return v.vector(value), value.type
