"""Vectors of float to integers of up to 32 bits: out-of-range values saturate, NaN becomes 0.

LLVM's x86 back end takes its intrinsic for that apart lane by lane. Here the value is clamped
first: a few vector instructions if float can represent the bounds, and one selection more for the
upper bound of 32 bits, which it cannot.
"""

from __future__ import annotations

import struct

from anymetal.emission.writer import Writer
from anymetal.ir import types as t


def saturated(w: Writer, signed: bool, target: t.Int, name: str) -> str:
    """The integers for a vector of float."""
    floats, ints, flags = w.vector(t.FLOAT), w.vector(target), w.vector(t.I1)
    bits = target.bits - signed
    low, above = -float(1 << bits) if signed else 0.0, float(1 << bits)
    high = above - 1 if bits <= 24 else _before(above)
    # The bound is no NaN, so these are single instructions.
    value = _call(w, "maxnum", name, low)
    value = _call(w, "minnum", value, high)
    whole = w.value(f"fpto{'s' if signed else 'u'}i {floats} {value} to {ints}")
    if high != above - 1:
        bound, top = w.splat_constant(t.FLOAT, _text(above)), str((1 << bits) - 1)
        over = w.value(f"fcmp oge {floats} {name}, {bound}")
        largest = w.splat_constant(target, top)
        whole = w.value(f"select {flags} {over}, {ints} {largest}, {ints} {whole}")
    if low == 0:
        return whole  # NaN has become the lower bound, 0
    nan = w.value(f"fcmp uno {floats} {name}, zeroinitializer")
    return w.value(f"select {flags} {nan}, {ints} zeroinitializer, {ints} {whole}")


def _call(w: Writer, which: str, name: str, bound: float) -> str:
    floats = w.vector(t.FLOAT)
    limit = w.splat_constant(t.FLOAT, _text(bound))
    return w.call(floats, f"llvm.{which}.v{w.width}f32", [(floats, name), (floats, limit)])


def _before(value: float) -> float:
    """The largest float32 below a positive one."""
    bits = struct.unpack("<i", struct.pack("<f", value))[0]
    return float(struct.unpack("<f", struct.pack("<i", bits - 1))[0])


def _text(value: float) -> str:
    return f"{value:.1f}"
