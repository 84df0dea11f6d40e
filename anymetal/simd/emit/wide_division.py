"""Division of vectors of 64-bit integers by way of double, for processors that convert between the
two in SIMD.

A quotient of up to 64 bits does not fit the 53 of a double, so it comes in two steps: what the
first leaves over is divided again. With the reciprocal rounded down by 2^-50, more than the four
roundings that lead to it and from it (2^-51 together), neither step takes too much. The first one
lacks at most 2^15 divisors, the second at most one, which a comparison adds.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.emission.writer import Writer
from anymetal.ir import types as t

_BELOW_ONE = "0x3FEFFFFFFFFFFFF8"  #: 1 - 2^-50


class Divisor(NamedTuple):
    """What lanes divide by, as vectors: its size, whether it is negative (all bits or none; empty
    if unsigned), and the reciprocal of its size."""

    size: str
    sign: str
    reciprocal: str


def uniform(w: Writer, signed: bool, scalar: str) -> Divisor:
    """A divisor that all lanes share. Zero is one as well: any results."""
    size, sign = _size_and_sign(w, signed, "i64", scalar, "63")
    double = w.value(f"uitofp i64 {size} to double")
    one = w.value(f"fdiv double {_BELOW_ONE}, {double}")
    return Divisor(w.splat(t.I64, size), sign and w.splat(t.I64, sign), w.splat(t.DOUBLE, one))


def varying(w: Writer, signed: bool, vector: str) -> Divisor:
    """A divisor for each lane."""
    size, sign = _size_and_sign(w, signed, w.vector(t.I64), vector, w.splat_constant(t.I64, "63"))
    below_one = w.splat_constant(t.DOUBLE, _BELOW_ONE)
    doubles = w.vector(t.DOUBLE)
    double = w.value(f"uitofp {w.vector(t.I64)} {size} to {doubles}")
    return Divisor(size, sign, w.value(f"fdiv {doubles} {below_one}, {double}"))


def divided(w: Writer, op: str, dividend: str, by: Divisor) -> str:
    """The quotient, or the remainder, as `op` says: udiv, sdiv, urem or srem."""
    longs, flags = w.vector(t.I64), w.vector(t.I1)
    bits = w.splat_constant(t.I64, "63")
    size, sign = _size_and_sign(w, op[0] == "s", longs, dividend, bits)
    first, rest = _step(w, size, by)
    second, rest = _step(w, rest, by)
    more = w.value(f"icmp uge {longs} {rest}, {by.size}")
    if op in ("udiv", "sdiv"):
        quotient = w.value(f"add {longs} {first}, {second}")
        one = w.value(f"zext {flags} {more} to {longs}")
        quotient = w.value(f"add {longs} {quotient}, {one}")
        return _negated(w, quotient, sign and w.value(f"xor {longs} {sign}, {by.sign}"))
    less = w.value(f"select {flags} {more}, {longs} {by.size}, {longs} zeroinitializer")
    return _negated(w, w.value(f"sub {longs} {rest}, {less}"), sign)


def _step(w: Writer, dividend: str, by: Divisor) -> tuple[str, str]:
    """A quotient that is not too large, and what it leaves over. Divided by zero, it is no number
    that fits; `freeze` makes it one."""
    longs, doubles = w.vector(t.I64), w.vector(t.DOUBLE)
    double = w.value(f"uitofp {longs} {dividend} to {doubles}")
    ratio = w.value(f"fmul {doubles} {double}, {by.reciprocal}")
    quotient = w.value(f"fptoui {doubles} {ratio} to {longs}")
    quotient = w.value(f"freeze {longs} {quotient}")
    product = w.value(f"mul {longs} {quotient}, {by.size}")
    return quotient, w.value(f"sub {longs} {dividend}, {product}")


def _size_and_sign(w: Writer, signed: bool, type_: str, value: str, bits: str) -> tuple[str, str]:
    if not signed:
        return value, ""
    sign = w.value(f"ashr {type_} {value}, {bits}")
    turned = w.value(f"xor {type_} {value}, {sign}")
    return w.value(f"sub {type_} {turned}, {sign}"), sign


def _negated(w: Writer, value: str, sign: str) -> str:
    """The value, negated in lanes whose sign is set."""
    if not sign:
        return value
    turned = w.value(f"xor {w.vector(t.I64)} {value}, {sign}")
    return w.value(f"sub {w.vector(t.I64)} {turned}, {sign}")
