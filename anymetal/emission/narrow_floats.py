"""half and bfloat for processors that cannot convert them: through float, on the bits.

Subnormals of half survive although those of float are flushed, and NaNs stay NaNs.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t


class Bits:
    """Emits integer operations on 32-bit words: one value (width 0) or a vector of lanes."""

    def __init__(self, writer: Writer, width: int) -> None:
        self.w = writer
        self.width = width

    def type(self, type_: t.Type) -> str:
        return self.w.vector(type_) if self.width else str(type_)

    def number(self, value: int, type_: t.Type = t.I32) -> str:
        return self.w.splat_constant(type_, str(value)) if self.width else str(value)

    def cast(self, op: str, name: str, source: t.Type, target: t.Type) -> str:
        return self.w.value(f"{op} {self.type(source)} {name} to {self.type(target)}")

    def do(self, op: str, name: str, other: str | int) -> str:
        right = self.number(other) if isinstance(other, int) else other
        return self.w.value(f"{op} {self.type(t.I32)} {name}, {right}")

    def where(self, condition: str, yes: str, no: str) -> str:
        word = self.type(t.I32)
        return self.w.value(f"select {self.type(t.I1)} {condition}, {word} {yes}, {word} {no}")

    def read(self, name: str, type_: t.Type) -> str:
        """A narrow number's bits, zero-extended."""
        return self.cast("zext", self.cast("bitcast", name, type_, t.I16), t.I16, t.I32)

    def write(self, word: str, type_: t.Type) -> str:
        return self.cast("bitcast", self.cast("trunc", word, t.I32, t.I16), t.I16, type_)


def to_float(bits: Bits, type_: t.Type, name: str) -> str:
    word = bits.read(name, type_)
    high = bits.do("shl", word, 16) if type_ == t.BFLOAT else _widened_half(bits, word)
    return bits.cast("bitcast", high, t.I32, t.FLOAT)


def from_float(bits: Bits, type_: t.Type, name: str) -> str:
    """Rounded to nearest even."""
    word = bits.cast("bitcast", name, t.FLOAT, t.I32)
    narrowed = _narrowed_bfloat if type_ == t.BFLOAT else _narrowed_half
    return bits.write(narrowed(bits, word), type_)


def _narrowed_bfloat(bits: Bits, word: str) -> str:
    high = bits.do("lshr", word, 16)
    bias = bits.do("add", bits.do("and", high, 1), 0x7FFF)
    rounded = bits.do("lshr", bits.do("add", word, bias), 16)
    magnitude = bits.do("and", word, 0x7FFFFFFF)
    nan = bits.do("icmp ugt", magnitude, 0x7F800000)
    return bits.where(nan, bits.do("or", high, 0x40), rounded)


def _widened_half(bits: Bits, word: str) -> str:
    """A subnormal is an integer times 2^-24 and is converted as one."""
    magnitude = bits.do("and", word, 0x7FFF)
    sign = bits.do("shl", bits.do("and", word, 0x8000), 16)
    shifted = bits.do("shl", magnitude, 13)
    normal = bits.do("add", shifted, 112 << 23)
    special = bits.do("or", shifted, 0x7F800000)
    count = bits.cast("sitofp", magnitude, t.I32, t.FLOAT)
    unit = "0x3E70000000000000"  # 2^-24, as LLVM writes it
    unit = bits.w.splat_constant(t.FLOAT, unit) if bits.width else unit
    small = bits.w.value(f"fmul {bits.type(t.FLOAT)} {count}, {unit}")
    small = bits.cast("bitcast", small, t.FLOAT, t.I32)
    finite = bits.where(bits.do("icmp ult", magnitude, 0x0400), small, normal)
    return bits.do("or", sign, bits.where(bits.do("icmp uge", magnitude, 0x7C00), special, finite))


def _narrowed_half(bits: Bits, word: str) -> str:
    magnitude = bits.do("and", word, 0x7FFFFFFF)
    sign = bits.do("and", bits.do("lshr", word, 16), 0x8000)
    odd = bits.do("and", bits.do("lshr", word, 13), 1)
    rebased = bits.do("add", magnitude, 0xFFF - (112 << 23))
    normal = bits.do("lshr", bits.do("add", rebased, odd), 13)
    # Adding 0.5 rounds a subnormal half and leaves its bits at the bottom.
    half = "0x3FE0000000000000"
    half = bits.w.splat_constant(t.FLOAT, half) if bits.width else half
    value = bits.cast("bitcast", magnitude, t.I32, t.FLOAT)
    moved = bits.w.value(f"fadd {bits.type(t.FLOAT)} {value}, {half}")
    small = bits.do("sub", bits.cast("bitcast", moved, t.FLOAT, t.I32), 126 << 23)
    finite = bits.where(bits.do("icmp ult", magnitude, 113 << 23), small, normal)
    too_large = bits.do("icmp uge", magnitude, 143 << 23)
    nan = bits.do("icmp ugt", magnitude, 0x7F800000)
    payload = bits.do("and", bits.do("lshr", magnitude, 13), 0x3FF)
    special = bits.where(nan, bits.do("or", payload, 0x7E00), bits.number(0x7C00))
    return bits.do("or", sign, bits.where(too_large, special, finite))
