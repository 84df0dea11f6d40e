"""Reductions of whole arrays, rows and columns, running reductions, and places of the largest."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    EPSILON,
    FLOATS,
    TYPE,
    Array,
    Random,
    array,
    error,
    random,
    small,
    turned,
    values,
)

_Fold = Callable[..., Array]


_FOLDS: dict[str, _Fold] = {
    "sum": np.sum,
    "prod": np.prod,
    "min": np.min,
    "max": np.max,
    "and": lambda x, axis: np.asarray(np.all(x != 0, axis=axis)),
    "or": lambda x, axis: np.asarray(np.any(x != 0, axis=axis)),
}
_NAME = re.compile(
    r"(?P<kind>(?:all|row|col|init)_reduce)"
    r"(?:_(?P<how>[a-z0-9]+?)(?:_large)?(?:_(?P<dims>\d)(?:_32_32)?_reduce)?)?"
    rf"_(?P<op>{'|'.join(_FOLDS)}){TYPE}"
)


def _given(op: str, taken: str) -> str:
    """The type of the result, as in the instantiations."""
    if op in ("and", "or"):
        return "bool_"
    if op in ("sum", "prod"):
        narrow = {"uint8": "int32", "uint16": "uint32", "int8": "int32", "int16": "int32"}
        return narrow.get(taken, taken)
    return taken


def _drawn(rng: Random, op: str, dtype: str, shape: Any) -> mx.array:
    if op == "prod":  # near 1, so that nothing overflows
        if dtype == "complex64":
            angle = rng.uniform(0, 7, shape)
            return array(rng.uniform(0.9, 1.1, shape) * np.exp(1j * angle), dtype)
        if dtype in FLOATS:
            return random(rng, dtype, shape, 0.9, 1.1)
        return array(
            rng.integers(1, 3, shape) if dtype != "bool_" else rng.random(shape) < 0.9, dtype
        )
    if op in ("and", "or"):
        return array(rng.random(shape) < (0.999 if op == "and" else 0.001), dtype)
    return small(rng, dtype, shape, 99)


def _checked(got: mx.array, x: Array, op: str, taken: str, axis: int, count: int) -> float:
    given = _given(op, taken)
    if given in EPSILON:
        want = _FOLDS[op](x, axis=axis)
        # Sums in the type itself: each of so many additions may round.
        size = np.maximum(np.sum(np.abs(x), axis=axis) if op == "sum" else np.abs(want), 1)
        exact = op in ("min", "max")
        return error(got, want, given, 0 if exact else 2 + count**0.5, np.ravel(size))
    wide = x.astype(np.int64) if taken != "uint64" else x
    with np.errstate(all="ignore"):
        want = _FOLDS[op](wide if op not in ("min", "max") else x, axis=axis)
        return error(got, want.astype(values(got).dtype), given)


def reduce(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`col_reduce_2pass_large_5_32_32_reduce_sumfloat16`."""
    match = _NAME.fullmatch(name)
    assert match
    kind, op, taken = match["kind"], match["op"], match[5]
    if kind == "init_reduce":
        return _initial(kernel, op, taken)
    given = DTYPES[_given(op, taken)]
    if kind == "all_reduce":
        count = 3001
        x = _drawn(rng, op, taken, count)
        threads = 768
        got = kernel(x, (1, given), count, count, grid=threads, threadgroup=threads)[0]
        return _checked(got, values(x), op, taken, 0, count)
    how = match["how"]
    check = _rows if kind == "row_reduce" else _columns
    return check(kernel, op, taken, given, how, int(match["dims"] or 1), rng)


def _initial(kernel: LibraryFunction, op: str, dtype: str) -> float:
    got = values(kernel((7, DTYPES[dtype]), grid=7, threadgroup=7)[0])
    neutral: Any = {"sum": 0, "prod": 1, "and": True, "or": False}.get(op)
    if neutral is None:
        if dtype == "complex64":
            neutral = complex(np.inf, np.inf) if op == "min" else complex(-np.inf, -np.inf)
        elif dtype in FLOATS:
            neutral = np.inf if op == "min" else -np.inf
        else:
            info = np.iinfo(got.dtype) if dtype != "bool_" else None
            most, least = (info.max, info.min) if info else (True, False)
            neutral = most if op == "min" else least
    assert (got == neutral).all(), f"{got[0]!r}, not {neutral!r}"
    return 0.0


def _rows(
    kernel: LibraryFunction, op: str, taken: str, given: mx.Dtype, how: str, dims: int, rng: Random
) -> float:
    """Sums along the last axis, and the first `dims` axes of an array for `small`, `looped`."""
    if how == "simple":
        rows, length = 38, 301
        x = _drawn(rng, op, taken, (rows, length))
        threads = 96
        grid = (threads, -(-rows // 4), 1)
        got = kernel(x, (rows, given), length, rows, grid=grid, threadgroup=(threads, 1, 1))[0]
        return _checked(got, values(x), op, taken, 1, length)
    outputs, length = 37, 7 if how == "small" else 131
    extra = {1: (5,), 2: (3, 2), 5: (2, 1, 2, 1, 3)}[dims]
    shape = (*extra, outputs, length)
    x = _drawn(rng, op, taken, shape)
    strides = _row_strides(shape)
    repeats = int(np.prod(extra))
    sizes = [length, repeats, [outputs], [length], 1, list(extra), strides[:dims], dims]
    group = (37, 1, 1) if how == "small" else (64, 1, 1)
    grid = (37, 1, 1) if how == "small" else (64, outputs, 1)
    got = kernel(x, (outputs, given), *sizes, grid=grid, threadgroup=group)[0]
    flat = np.moveaxis(values(x).reshape(repeats, outputs, length), 0, 1).reshape(outputs, -1)
    return _checked(got, flat, op, taken, 1, flat.shape[1])


def _row_strides(shape: tuple[int, ...]) -> list[int]:
    return [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]


def _columns(
    kernel: LibraryFunction, op: str, taken: str, given: mx.Dtype, how: str, dims: int, rng: Random
) -> float:
    """Sums along the first of two axes, and of the axes in front of these."""
    stride = 20 if how == "longcolumn" else 45
    blocks, rows = {1: (), 2: (3,), 5: (2, 1, 2, 1)}[dims], 150
    shape = (*blocks, rows, stride)
    x = _drawn(rng, op, taken, shape)
    repeats = int(np.prod(blocks))
    reduce_strides = _row_strides(shape)[:-1]
    sizes: list[Any] = [rows, stride, [0], [0], 0, [*blocks, rows], reduce_strides, dims, repeats]
    flat = values(x).reshape(-1, stride)
    outer = 1
    group, grid = (256, 1, 1), (256 * -(-stride // 32), 1, 1)
    if how == "small":
        group = (-(-stride // 4), 8, 1)
        grid = group
    elif how == "longcolumn":
        outer, group = 32, (stride, 16, 1)
        grid = (stride, 16, outer)
        sizes.append(stride)
    elif how == "2pass":
        outer, grid = 32, (grid[0], 32, 1)
        sizes.append(1)
    got = kernel(x, (outer * stride, given), *sizes, grid=grid, threadgroup=group)[0]
    if outer == 1:
        return _checked(got, flat, op, taken, 0, len(flat))
    # Partial results: MLX's second kernel takes them all together, and so does the reference.
    partial = values(got).reshape(outer, stride)
    together = _FOLDS[op](partial, axis=0)
    again = array(together, _given(op, taken))
    return _checked(again, flat, op, taken, 0, len(flat))


# --- running reductions ------------------------------------------------------------------------

_SCAN = re.compile(
    r"(?P<kind>contig|strided)_scan_(?P<reverse>reverse_)?(?P<which>inclusive|exclusive)_"
    rf"(?P<op>[a-z]+)_{TYPE}_{TYPE}"
)
_RUNNING: dict[str, Any] = {
    "sum": np.cumsum,
    "prod": np.cumprod,
    "min": np.minimum.accumulate,
    "max": np.maximum.accumulate,
    "logaddexp": np.logaddexp.accumulate,
}


def scan(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`strided_scan_reverse_exclusive_logaddexp_float16_float16`."""
    match = _SCAN.fullmatch(name)
    assert match
    op, taken, given = match["op"], match[5], match[6]
    length, lanes = 273, 45
    contiguous = match["kind"] == "contig"
    shape = (5, length) if contiguous else (2, length, lanes)
    x = _drawn(rng, "prod" if op == "prod" else op, taken, shape)
    reads = 4 if DTYPES[taken].size <= 4 else 2
    if contiguous:
        threads = -(-length // (32 * reads)) * 32
        sizes, grid = [length], (threads, 5, 1)
    else:
        threads, blocks = 32 // reads * 32, -(-lanes // 32)
        sizes, grid = [length, lanes, blocks], (threads, 2 * blocks, 1)
    out = (x.size, DTYPES[given])
    got = kernel(x, out, *sizes, grid=grid, threadgroup=(threads, 1, 1))[0]
    held = values(x) if taken != "bool_" or op in ("min", "max") else values(x).astype(np.int32)
    want, size = _running(held, op, bool(match["reverse"]), match["which"] == "exclusive", given)
    if given not in EPSILON:
        return error(got, want.astype(values(got).dtype), given)
    want = turned(want, got) if op == "logaddexp" else want
    return error(got, want, given, 0 if op in ("min", "max") else 4 + length**0.5, size)


def _running(x: Array, op: str, reverse: bool, exclusive: bool, given: str) -> tuple[Array, Array]:
    """The running reduction along axis 1, and the size of what was added up."""
    if reverse:
        x = x[:, ::-1]
    with np.errstate(all="ignore"):
        if np.iscomplexobj(x) and op == "logaddexp":
            want = np.log(np.cumsum(np.exp(x), axis=1))
        elif x.dtype.kind in "iu" and op in ("sum", "prod"):
            want = _RUNNING[op](x, axis=1, dtype=x.dtype)
        else:
            want = _RUNNING[op](x, axis=1)
    left = _left(x, want) if np.iscomplexobj(x) and op == "logaddexp" else np.ones(want.shape)
    if exclusive:
        first = np.full_like(want[:, :1], _first(op, want.dtype))
        want = np.concatenate([first, want[:, :-1]], axis=1)
        left = np.concatenate([left[:, :1], left[:, :-1]], axis=1)
    size = np.maximum(np.cumsum(np.abs(x), axis=1) if op == "sum" else np.abs(want), left)
    size = np.where(np.isfinite(size), size, 1)
    return (want[:, ::-1], size[:, ::-1]) if reverse else (want, size)


def _left(x: Array, want: Array) -> Array:
    """How much larger than their sums the sizes of exponential functions are, which cancel out."""
    return np.cumsum(np.exp(x.real), axis=1) / np.exp(want.real)


def _first(op: str, dtype: Any) -> Any:
    """What an exclusive scan begins with."""
    if op in ("sum", "prod"):
        return int(op == "prod")
    lowest = op in ("max", "logaddexp")
    if dtype.kind == "c":
        return (
            complex(-np.inf, 0 if op == "logaddexp" else -np.inf)
            if lowest
            else complex(np.inf, np.inf)
        )
    if dtype.kind == "f":
        return -np.inf if lowest else np.inf
    if dtype.kind == "b":
        return not lowest
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


# --- places ------------------------------------------------------------------------------------


def arg_reduce(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`argmin_bfloat16`, along the middle axis of three."""
    op, dtype = name.split("_", 1)
    x = small(rng, dtype, (3, 300, 5), 50)
    sizes = [[3, 5], [1500, 1], [5, 1], 2, 5, 300]
    got = kernel(x, (15, mx.uint32), *sizes, grid=(96, 15, 1), threadgroup=(96, 1, 1))[0]
    return error(got, getattr(np, op)(values(x), axis=1), "uint32")


def searchsorted(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`searchsorted_float16_left`."""
    rest, _, side = name.removeprefix("searchsorted_").rpartition("_")
    dtype, where = rest, cast("Any", side)
    x = values(small(rng, dtype, 200, 60))
    x = np.sort(x)
    v = small(rng, dtype, 301, 70)
    got = kernel(
        array(x, dtype), v, (301, mx.uint32), 200, 1, grid=(301, 1, 1), threadgroup=(64, 1, 1)
    )[0]
    return error(got, np.searchsorted(x, values(v), side=where), "uint32")


def arange(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`arangefloat16`."""
    dtype = name.removeprefix("arange")
    start, step = (1.5, 0.25) if dtype in FLOATS else (3, 2)
    got = kernel(start, step, (100, DTYPES[dtype]), grid=100, threadgroup=32)[0]
    return error(got, start + step * np.arange(100.0), dtype, 1)
