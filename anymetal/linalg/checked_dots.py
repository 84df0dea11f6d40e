"""Sums of products within a tolerance, by the cheapest way that can be shown to keep it.

A ladder: each rung adds the products of the pairs that are still open, in more precision than the
one before, and closes those whose error it bounds by the tolerance times their own size. The
bounds are measured with the sums (a posteriori): the magnitudes of the products, those of the
rounding errors (Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26(6),
2005, algorithm 5.8), or what lies below the window of the limbs. The last rung is exact. Nothing
here looks at a number: rungs are launches, whose SIMD-groups return at once where nothing is open.
docs/extended_precision.md has the proofs.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import NamedTuple

import mlx.core as mx

from anymetal.linalg.row_dots import BLOCK, LIMBS, Check, bounded, in_limbs

#: The least and the largest tolerance: a float32 is hardly nearer than the one, and beyond the
#: other nothing is promised.
TIGHTEST, LOOSEST = 2.0**-22, 0.5

_ROUNDOFF = 2.0**-24
#: For the roundings of the bounds themselves, and for those of second order.
_ROOM = 1.01
_MOST = 2**16  #: roundings that leave them below that


class Rung(NamedTuple):
    """Some way to add, and the pairs that are within the tolerance after it."""

    name: str
    met: mx.array


class Sums(NamedTuple):
    """Results, and how they came about."""

    values: mx.array
    rungs: list[Rung]


def additions(count: int) -> int:
    """How many a product goes through in a sum of so many, at most."""
    blocks = -(-count // BLOCK)
    return -(-min(count, BLOCK) // 32) + -(-blocks // 32) + 10


def float_may_do(steps: int, tolerance: float) -> bool:
    """Whether sums in float32 with so many roundings are worth a try.

    Their bound is the roundings times the condition; twice the least that it can be has to fit.
    """
    return steps <= _MOST and 2 * _ROOM * steps * _ROUNDOFF <= tolerance


def checked_dots(
    x: mx.array,
    y: mx.array,
    tolerance: float,
    *,
    first: Sums | None = None,
    symmetric: bool = False,
    root: bool = False,
) -> Sums:
    """The dot product of each row of x with each row of y, within a tolerance.

    Args:
        x, y, symmetric, root: As those of `row_dots`, no axis being empty.
        tolerance: The relative error that results may have.
        first: Results of a first rung that is not one of ours.
    """
    count = x.shape[2]
    sums = first
    if first is None and count <= BLOCK and float_may_do(additions(count), tolerance):
        check = Check(None, _limits(count, tolerance, compensated=False))
        values, met = bounded(x, y, False, check, symmetric, root)
        sums = Sums(values, [Rung("float32", met)])
    open_of = sums.rungs[-1].met if sums else None
    check = Check(open_of, _limits(count, tolerance, compensated=True))
    sums = _joined(sums, "compensated", *bounded(x, y, True, check, symmetric, root))
    for name, limbs in LIMBS.items():
        check = Check(sums.rungs[-1].met, _digits(tolerance))
        sums = _joined(sums, name, *in_limbs(x, y, limbs, check, symmetric, root))
    return sums


def float_products(
    values: mx.array, count: int, left: mx.array, right: mx.array, tolerance: float
) -> Sums:
    """A first rung of sums of `count` products in float32, added in any order by whomever.

    Their magnitudes are bounded by the Euclidean norms of the factors, `left` and `right`, which
    broadcast to `values` (Cauchy and Schwarz).
    """
    factor = _ROOM * count * _ROUNDOFF
    lost = math.sqrt(count) * 2.0**-62  # squares that underflow, in either norm
    left, right = _ROOM * left + lost, _ROOM * right + lost
    error = factor * left * right + count * 2.0**-120 + count * 2.0**-125 * (left + right)
    met = (error <= _share(tolerance) * mx.abs(values)) & mx.isfinite(values)
    return Sums(values, [Rung("float32", met)])


def report(operation: str, sums: Sums) -> None:
    """Print how many sums each rung settled, where numbers can be had."""
    left = [mx.logical_not(rung.met).sum() for rung in sums.rungs]
    try:
        mx.eval(left)
    except ValueError:  # inside of mx.compile and mx.vmap there are none yet
        return
    before, parts = sums.values.size, []
    for rung, after in zip(sums.rungs, map(int, left), strict=True):
        if before > after:
            parts.append(f"{before - after} {rung.name}")
        before = after
    print(f"{operation}: sums by {', '.join(parts)}", file=sys.stderr)


def _joined(before: Sums | None, name: str, values: mx.array, met: mx.array) -> Sums:
    if before is None:
        return Sums(values, [Rung(name, met)])
    kept = mx.where(before.rungs[-1].met, before.values, values)
    return Sums(kept, [*before.rungs, Rung(name, met)])


def _share(tolerance: float) -> float:
    """The part of a result that its error may be, so that it is within a tolerance of the sum."""
    return tolerance / (1 + tolerance) / _ROOM


# These are made once: small sums take microseconds.
@functools.lru_cache(maxsize=256)
def _limits(count: int, tolerance: float, compensated: bool) -> mx.array:
    """`limits` of bounded_header.metal.

    A sum of D additions is off by D u Σ|xy|; a sum s and errors e as two floats by 2 D u Σ|e| and
    the rounding of s + e. To flush factors loses less than 2⁻¹²⁶ of the largest one, to flush
    results 2⁻¹²⁶, at fewer than 16 places per product and 12 per addition of lanes.
    """
    steps = additions(count)
    factor = _ROOM * (2 * steps if compensated else steps) * _ROUNDOFF
    rounding = _ROUNDOFF if compensated else 0.0
    flushed, results = 2.0**-124 * count, 2.0**-120 * (count + 64)
    limits = mx.array([factor, flushed, results, rounding, _share(tolerance)])
    mx.eval(limits)
    return limits


@functools.lru_cache(maxsize=256)
def _digits(tolerance: float) -> mx.array:
    """`digits` of limbs: half of the tolerance is left to the one rounding."""
    digits = mx.array(math.floor(math.log2(tolerance)) - 1, mx.int32)
    mx.eval(digits)
    return digits
