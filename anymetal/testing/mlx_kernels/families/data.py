"""Arrays for checks, their values as NumPy sees them, and comparisons."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

import mlx.core as mx
import numpy as np

Array: TypeAlias = Any  # of NumPy, whose operations promise less than they return
Random: TypeAlias = np.random.Generator
#: What the names of kernels call types.
DTYPES: dict[str, mx.Dtype] = {
    "bool_": mx.bool_,
    "uint8": mx.uint8,
    "uint16": mx.uint16,
    "uint32": mx.uint32,
    "uint64": mx.uint64,
    "int8": mx.int8,
    "int16": mx.int16,
    "int32": mx.int32,
    "int64": mx.int64,
    "float16": mx.float16,
    "bfloat16": mx.bfloat16,
    "float32": mx.float32,
    "complex64": mx.complex64,
}
#: As they are matched at the end of a name: the longest first, so that uint8 is not int8.
TYPE = "(" + "|".join(sorted(DTYPES, key=len, reverse=True)) + ")"
FLOATS = ("float16", "bfloat16", "float32")
#: The distance of 1 to the next number.
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}


class Wrong(Exception):
    """A kernel has given something else than the reference."""


class Unused(Exception):
    """MLX makes a kernel of this name, but its host code never launches it."""


def match(pattern: str, name: str) -> tuple[str, ...]:
    """The groups of a pattern that all of a name has; "" for those that are not there.

    Raises ValueError if it is another name, which no check is for.
    """
    found = re.fullmatch(pattern, name)
    if not found:
        raise ValueError(f"no check knows a kernel of the name {name}")
    return found.groups("")


def numpy_type(dtype: str) -> Any:
    """The type of NumPy with the same numbers; that of float32 for bfloat16."""
    return {"bool_": np.bool_, "bfloat16": np.float32}.get(dtype) or np.dtype(dtype)


def array(values: Array, dtype: str) -> mx.array:
    """Values as MLX has them."""
    return mx.array(np.ascontiguousarray(values).astype(numpy_type(dtype))).astype(
        DTYPES[dtype], stream=mx.cpu
    )


def values(one: mx.array) -> Array:
    """What an array holds: floats and complex numbers in double, all others as they are."""
    if one.dtype == mx.bfloat16:
        one = one.astype(mx.float32, stream=mx.cpu)
    held = np.array(one)
    kind = held.dtype.kind
    return held.astype(np.float64 if kind == "f" else np.complex128) if kind in "fc" else held


def random(rng: Random, dtype: str, shape: Any, low: float = -3.0, high: float = 3.0) -> mx.array:
    """Random numbers: floats between two, integers of all sizes that their type has."""
    if dtype == "bool_":
        return array(rng.random(shape) < 0.5, dtype)
    if dtype == "complex64":
        parts = rng.uniform(low, high, (2, *np.atleast_1d(shape)))
        return array(parts[0] + 1j * parts[1], dtype)
    if dtype in FLOATS:
        return array(rng.uniform(low, high, shape), dtype)
    info = np.iinfo(numpy_type(dtype))
    return array(rng.integers(info.min, info.max, shape, numpy_type(dtype), endpoint=True), dtype)


def small(rng: Random, dtype: str, shape: Any, most: int = 9) -> mx.array:
    """Random numbers of a small size, in all types."""
    if dtype in ("bool_", "complex64", *FLOATS):
        return random(rng, dtype, shape)
    low = 0 if dtype.startswith("u") else -most
    return array(rng.integers(low, most, shape, endpoint=True), dtype)


def turned(want: Array, got: mx.array) -> Array:
    """Logarithms of complex numbers, as many whole turns further as those of a kernel are: MLX's
    sums of exponential functions leave angles as they come."""
    if not np.iscomplexobj(want):
        return want
    with np.errstate(all="ignore"):
        turns = np.rint((values(got).reshape(want.shape) - want).imag / (2 * np.pi))
    return want + 2j * np.pi * np.where(np.isfinite(turns), turns, 0)


def error(got: mx.array, want: Array, dtype: str, ulps: float = 4.0, scale: Any = None) -> float:
    """The largest error, relative to `scale` (by default the value wanted, at least 1).

    It may be as many times the type's epsilon as `ulps` says; integers must be equal. Raises Wrong.
    """
    held = values(got).reshape(-1)
    want = np.asarray(want).reshape(-1)
    if dtype not in EPSILON:
        expected = want.astype(held.dtype)
        if not np.array_equal(held, expected):
            raise Wrong(_first(held, expected, held != expected))
        return 0.0
    size = np.maximum(np.abs(want), 1.0) if scale is None else np.ravel(scale)
    with np.errstate(all="ignore"):
        relative = np.abs(held - want) / size
        same = (held == want) | (np.isnan(held) & np.isnan(want))
        largest = np.finfo(np.float16).max if dtype == "float16" else np.finfo(np.float32).max
        same |= (np.abs(want) > largest) & np.isinf(held)
    relative = np.where(same, 0.0, relative)
    relative = np.where(np.isnan(relative), np.inf, relative)
    worst = float(relative.max(initial=0.0))
    if worst > ulps * EPSILON[dtype]:
        raise Wrong(_first(held, want, relative > ulps * EPSILON[dtype]))
    return worst


def _first(held: Array, want: Array, wrong: Array) -> str:
    place = int(np.flatnonzero(wrong)[0])
    return (
        f"{int(wrong.sum())} of {held.size} are wrong; the first is number {place}: "
        f"{held[place]!r}, not {want[place]!r}"
    )


def vectorized(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of numbers as one of arrays."""
    return np.vectorize(function, otypes=[np.float64])
