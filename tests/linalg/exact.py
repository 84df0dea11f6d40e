"""Sums of products of float32 without any error, and their rounding: what results are held to."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

#: Every product of two float32 is a whole multiple of this.
UNIT = Fraction(1, 2**298)

#: Half of the distance between 1 and the next float32.
ROUNDOFF = Fraction(1, 2**24)


def integer_parts(x: Array) -> tuple[list[int], list[int]]:
    """Whole numbers and exponents of finite float32: x = m 2^e, where e is that of its last bit."""
    bits = x.astype(np.float32).ravel().view(np.uint32).astype(np.int64)
    field = bits >> 23 & 0xFF
    m = (bits & 0x7FFFFF) | np.where(field > 0, 0x800000, 0)
    signed = np.where(bits >> 31 == 1, -m, m)
    return signed.tolist(), (np.maximum(field, 1) - 150).tolist()


def products(x: Array, y: Array) -> list[tuple[int, int]]:
    """Each product as a whole number and an exponent; without those that are zero."""
    terms = zip(*integer_parts(x), *integer_parts(y), strict=True)
    return [(a * b, e + f) for a, e, b, f in terms if a * b]


def exact_dot(x: Array, y: Array) -> Fraction:
    """The sum of products."""
    return sum(m << (e + 298) for m, e in products(x, y)) * UNIT


def absolute_dot(x: Array, y: Array) -> Fraction:
    """The sum of the magnitudes of products."""
    return exact_dot(np.abs(x), np.abs(y))


def window_bottom(x: Array, y: Array) -> int:
    """Exponent of the last bit that a limb sum of these products keeps."""
    largest = max(e for _, e in products(x, y))
    return largest + math.ceil(math.log2(x.size)) - 79


def limb_dot(x: Array, y: Array) -> Fraction:
    """What is documented for limbs: every product is cut below the window, then added exactly."""
    terms = products(x, y)
    if not terms:
        return Fraction(0)
    bottom = window_bottom(x, y)
    cut = 0
    for m, e in terms:
        shift = e - bottom
        magnitude = abs(m) << shift if shift >= 0 else abs(m) >> -shift
        cut += magnitude if m > 0 else -magnitude
    return cut * Fraction(2) ** bottom


def nearest(value: Fraction) -> np.float32:
    """The float32 next to a number, the even one of two; subnormal numbers are numbers."""
    largest = 2**128 - 2**104
    if abs(value) >= largest + 2**103:
        return np.float32(math.copysign(math.inf, value))
    guess = np.float32(float(value))  # may be off by one unit: rounded twice
    if np.isinf(guess):
        return np.float32(math.copysign(largest, value))
    around = [np.nextafter(guess, np.float32(way)) for way in (-math.inf, math.inf)]
    candidates = [guess, *(c for c in around if np.isfinite(c))]
    return min(
        candidates,
        key=lambda c: (abs(Fraction(float(c)) - value), int(c.view(np.uint32)) & 1),
    )


def nearest_root(value: Fraction) -> np.float32:
    """The float32 next to the square root of a number."""
    root = Fraction(
        math.isqrt(value.numerator * value.denominator << 200), value.denominator << 100
    )
    # Never half-way between floats unless it is exact: that square has 49 bits or more.
    return nearest(root)


def ill_conditioned(
    count: int, condition: float, random: np.random.Generator
) -> tuple[Array, Array]:
    """Vectors whose dot product has about this condition: Ogita, Rump and Oishi, algorithm 6.1.

    The first half grows up to the square root of the condition; the second half cancels what the
    sum is so far, with less and less left over.
    """
    half, top = count // 2, math.log2(condition) / 2
    exponents = np.rint(random.uniform(0, top, half))
    exponents[0], exponents[-1] = round(top) + 1, 0
    x = (random.uniform(-1, 1, count)).astype(np.float32)
    y = (random.uniform(-1, 1, count)).astype(np.float32)
    x[:half] *= np.exp2(exponents)
    y[:half] *= np.exp2(exponents)
    rest = np.rint(np.linspace(top, 0, count - half))
    total = exact_dot(x[:half], y[:half])
    for i, exponent in enumerate(rest, start=half):
        x[i] *= np.float32(2**exponent)
        wanted = Fraction(float(random.uniform(-1, 1))) * 2 ** int(exponent)
        y[i] = np.float32(float((wanted - total) / Fraction(float(x[i]))))
        total += Fraction(float(x[i])) * Fraction(float(y[i]))
    order = random.permutation(count)
    return x[order], y[order]


def condition_of(x: Array, y: Array) -> float:
    """2 Σ|xy| / |Σxy|."""
    return float(2 * absolute_dot(x, y) / abs(exact_dot(x, y)))
