"""Floating formats as bit patterns, errors in ulp, and the arguments that functions are tried with.

Values are handled in double, which holds float, half and bfloat exactly.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from anymetal.testing.math_table import Array, Function

#: Arguments that every function is tried with, in all combinations up to two arguments.
EDGES = (
    *(0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, 127.5, 1e4, 65504.0, 8388607.5),
    *(1e10, 1e30, 3.4028234663852886e38, 1e-3, 1e-7, 6e-8, 6.1e-5, 1e-20, 1.1754943508222875e-38),
    *(1e-40, 1.4e-45, np.inf, np.nan),
)
EXACT_IN_DOUBLE = 1e-8  #: ulp of float by which a double may be wrong
_NEIGHBOURS = 24


@dataclass(frozen=True)
class Format:
    """A floating type of Metal."""

    name: str
    dtype: mx.Dtype
    bits: int
    precision: int  #: of the mantissa, with the implicit bit
    exponents: tuple[int, int]  #: of the smallest and of the largest normal number
    flushes: bool  #: arithmetic may take subnormals as zero

    @property
    def words(self) -> np.dtype[np.unsignedinteger]:
        return np.dtype(np.uint32 if self.bits == 32 else np.uint16)

    def decode(self, words: Array) -> Array:
        """Bit patterns to values."""
        if self is HALF:
            return words.view(np.float16).astype(np.float64)
        wide = words if self is FLOAT else words.astype(np.uint32) << 16
        with np.errstate(invalid="ignore"):
            return wide.view(np.float32).astype(np.float64)

    def encode(self, values: Array) -> Array:
        """Values to the bit patterns of the nearest numbers."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self is HALF:
                return values.astype(np.float16).view(np.uint16)
            words = values.astype(np.float32).view(np.uint32)
        if self is FLOAT:
            return words
        rounded = ((words.astype(np.uint64) + 0x7FFF + (words >> 16 & 1)) >> 16).astype(np.uint16)
        return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)

    def array(self, words: Array) -> mx.array:
        return mx.array(words).view(self.dtype)

    def words_of(self, array: mx.array) -> Array:
        return np.array(array.view(mx.uint32 if self.bits == 32 else mx.uint16))

    def flushed(self, values: Array) -> Array:
        """Subnormal numbers as zeros."""
        small = np.abs(values) < 2.0 ** self.exponents[0]
        return np.where(small, np.copysign(0, values), values)

    def ulp_error(self, actual: Array, exact: Array) -> Array:
        """Distance in units in the last place of the exact result; infinite where only one is NaN.

        Infinity counts as the number behind the largest. Where results are flushed, all numbers
        below the smallest normal one are equal.
        """
        limit = 2.0 ** (self.exponents[1] + 1)
        low = 2.0 ** self.exponents[0]
        exact = np.clip(exact, -limit, limit)
        with np.errstate(invalid="ignore"):
            exponent = np.where(exact == 0, self.exponents[0], np.frexp(exact)[1] - 1)
            exponent = np.maximum(exponent, self.exponents[0])
            unit = np.exp2(exponent - self.precision + 1.0)
            error = np.abs(np.clip(actual, -limit, limit) - exact) / unit
        error = np.where(np.isnan(error), np.inf, error)
        error[np.isnan(actual) & np.isnan(exact)] = 0
        if self.flushes:
            flushed = np.abs(actual) < low
            error[flushed & (np.abs(exact) < low * (1 + 2.0**-self.precision))] = 0
        return error

    def bound(self, function: Function, space: str) -> float:
        """What Metal allows, with what the exact value in double may be wrong by."""
        ulps = function.ulps
        if space == "fast::" and function.fast is not None:
            ulps = function.fast
        if ulps in (0, np.inf):
            return ulps
        if self is BFLOAT:
            return 0.5 + (ulps + EXACT_IN_DOUBLE) * 2.0**-16
        return (function.half if self is HALF else ulps) + EXACT_IN_DOUBLE


FLOAT = Format("float", mx.float32, 32, 24, (-126, 127), flushes=True)
HALF = Format("half", mx.float16, 16, 11, (-14, 15), flushes=False)
BFLOAT = Format("bfloat", mx.bfloat16, 16, 8, (-126, 127), flushes=True)
FORMATS = (FLOAT, HALF, BFLOAT)


def arguments(function: Function, kind: Format, count: int) -> list[Array]:
    """Bit patterns of about `count` or more arguments; all there are if 16 bits hold them.

    The same for every run.
    """
    if function.arity == 1 and kind.bits == 16 and not function.positive:
        return [np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)]
    rng = np.random.default_rng(zlib.crc32(function.name.encode()))
    columns = [_column(function, kind, count, rng) for _ in range(function.arity)]
    for column in columns[1:]:
        rng.shuffle(column)
    if function.partner is not None:
        columns = _with_partner(function, kind, columns, rng)
    edges = kind.encode(np.array([*EDGES, *(-e for e in EDGES)]))
    if function.arity == 3:
        edges = edges[:: len(edges) // 12]
    crossed = np.meshgrid(*[edges] * function.arity)
    columns = [
        np.concatenate([column, grid.ravel()])
        for column, grid in zip(columns, crossed, strict=True)
    ]
    if function.positive:
        keep = kind.decode(columns[0]) > 0
        columns = [column[keep] for column in columns]
    return columns


def _column(function: Function, kind: Format, count: int, rng: np.random.Generator) -> Array:
    """Arguments of one position: all exponents, the function's ranges, neighbours of its points."""
    mantissa = kind.precision - 1
    # Without the exponent of infinities and NaNs: Metal has no signalling NaNs.
    exponents = np.arange((1 << (kind.bits - 1 - mantissa)) - 1, dtype=np.int64)
    signs = np.array([0, 1], np.int64)[:, None]
    heads = (signs << (kind.bits - 1) | exponents << mantissa).ravel()
    heads = np.repeat(heads, max(1, count // 2 // len(heads)))
    parts = [heads | rng.integers(0, 1 << mantissa, len(heads))]
    for low, high in function.ranges:
        uniform = rng.uniform(low, high, count // 4)
        parts.append(kind.encode(uniform).astype(np.int64))
    if function.points:
        points = np.array(function.points)
        near = kind.encode(np.concatenate([points, -points])).astype(np.int64)
        steps = np.arange(-_NEIGHBOURS, _NEIGHBOURS + 1)
        parts.append((near[:, None] + steps).ravel() % (1 << kind.bits))
    return np.concatenate(parts).astype(kind.words)


def _with_partner(
    function: Function, kind: Format, columns: list[Array], rng: np.random.Generator
) -> list[Array]:
    """As many arguments again, the last of them chosen to be difficult with the others."""
    assert function.partner is not None
    others = columns[:-1]
    with np.errstate(all="ignore"):
        last = function.partner(
            *(kind.decode(column) for column in others), rng.uniform(-1, 1, len(others[0]))
        )
    return [
        *(np.concatenate([column, column]) for column in others),
        np.concatenate([columns[-1], kind.encode(last)]),
    ]
