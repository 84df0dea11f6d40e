"""Sorts of rows: in one block, and in several that are merged, two or more at a time.

All are stable, and NaN comes last. `bn512_tn4`: 512 threads with 4 numbers each are a block.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    EPSILON,
    TYPE,
    Array,
    Random,
    array,
    error,
    match,
    random,
    small,
    values,
)

_PER_THREAD = 4
#: Sizes of arrays along the axes that are not sorted.
_ROWS = (3, 5)


def sort(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`carg_block_sort_int8_uint32_bn64_tn4`, `merge_mbsort_float16_uint32_bn512_tn4`."""
    if "_mbsort_" in name:
        how, dtype, threads = match(rf"(\w+)_mbsort_{TYPE}_uint32_bn(\d+)_tn4", name)
        blocks = {"sort": _in_blocks, "partition": _partitions, "merge": _merged}[how]
        return blocks(kernel, dtype, int(threads), rng)
    how, _, dtype, given, threads = match(
        rf"(n?c)(arg)?_block_sort_{TYPE}_{TYPE}_bn(\d+)_tn4", name
    )
    one = _contiguous if how == "c" else _strided
    return one(kernel, dtype, given, _length(rng, int(threads)), rng)


def _length(rng: Random, threads: int) -> int:
    """One for which the host code takes so many threads: less than half would do for no other."""
    most = threads * _PER_THREAD
    return int(rng.integers(1 if threads == 32 else most // 2 + 1, most, endpoint=True))


def _drawn(rng: Random, dtype: str, shape: tuple[int, ...]) -> mx.array:
    """Numbers of all sizes, or a few of which many are equal; some floats are NaN."""
    if dtype not in EPSILON:
        return random(rng, dtype, shape) if rng.random() < 0.5 else small(rng, dtype, shape, 20)
    parts = rng.integers(-20, 20, (2, *shape)) / 4
    held = parts[0] + 1j * parts[1] if dtype == "complex64" else parts[0]
    return array(np.where(rng.random(shape) < rng.choice([0.0, 0.1]), np.nan, held), dtype)


def _order(x: Array, axis: int) -> Array:
    """Where the numbers in the right order are."""
    last = np.isnan(x) if x.dtype.kind in "fc" else np.zeros(x.shape, bool)
    held = np.where(last, 0, x)
    parts = (held.imag, held.real) if x.dtype.kind == "c" else (held,)
    return np.lexsort((*parts, last), axis=axis)


def _wanted(x: Array, axis: int, places: bool) -> Array:
    order = _order(x, axis)
    return order if places else np.take_along_axis(x, order, axis)


def _contiguous(kernel: LibraryFunction, dtype: str, given: str, length: int, rng: Random) -> float:
    """Along the last of two axes, or the first."""
    rows, axis = _ROWS[0], int(rng.integers(2))
    shape = (rows, length) if axis else (length, rows)
    steps = (1, length) if axis else (rows, 1)
    x = _drawn(rng, dtype, shape)
    sizes = [length, steps[0], steps[0], steps[1], steps[1]]
    group = _group(length)
    out = (shape, DTYPES[given])
    got = kernel(x, out, *sizes, grid=(group, rows, 1), threadgroup=(group, 1, 1))[0]
    return error(got, _wanted(values(x), axis, given != dtype), given, 0)


def _group(length: int) -> int:
    """Threads for a row in one block."""
    return max(32, 1 << (-(-length // _PER_THREAD) - 1).bit_length())


def _strided(kernel: LibraryFunction, dtype: str, given: str, length: int, rng: Random) -> float:
    """Along the middle of three axes, of an array with gaps behind the last one."""
    rows, columns = _ROWS
    step = columns + 2
    x = _drawn(rng, dtype, (rows, length, step))
    group = _group(length)
    got = kernel(
        x,
        ((rows, length, columns), DTYPES[given]),
        length,
        step,
        columns,
        2,
        [rows, columns],
        [length * step, 1],
        [length * columns, 1],
        grid=(group, rows * columns, 1),
        threadgroup=(group, 1, 1),
    )[0]
    return error(got, _wanted(values(x)[..., :columns], 1, given != dtype), given, 0)


# --- several blocks ------------------------------------------------------------------------------


def _in_blocks(kernel: LibraryFunction, dtype: str, threads: int, rng: Random) -> float:
    """Each block for itself, along the first of two axes."""
    block, rows = threads * _PER_THREAD, 2
    length = 2 * block + int(rng.integers(1, block))
    x = _drawn(rng, dtype, (length, rows))
    new = [((rows, length), one) for one in (x.dtype, mx.uint32)]
    sizes = [length, rows, 1, [rows], [1]]
    grid = (3 * threads, rows, 1)
    got = kernel(x, *new, *sizes, grid=grid, threadgroup=(threads, 1, 1))
    held = values(x).T
    places = _runs(held, block)
    want = np.take_along_axis(held, places, 1)
    return max(error(got[0], want, dtype, 0), error(got[1], places, "uint32"))


def _runs(x: Array, size: int) -> Array:
    """Where the numbers of each row are, if so many at a time are put in order."""
    starts = range(0, x.shape[1], size)
    return np.concatenate([start + _order(x[:, start : start + size], 1) for start in starts], 1)


class _Merge:
    """Rows of three blocks, of which runs are in order, and twice these shall be."""

    def __init__(self, dtype: str, threads: int, rng: Random) -> None:
        self.block, self.rows, self.blocks = threads * _PER_THREAD, 2, 3
        self.length = 2 * self.block + int(rng.integers(1, self.block))
        self.tiles = int(rng.choice([2, 4]))  #: blocks that are one when they are merged
        drawn = values(_drawn(rng, dtype, (self.rows, self.length)))
        self.places = _runs(drawn, self.block * self.tiles // 2)
        self.held = np.take_along_axis(drawn, self.places, 1)
        self.memory = array(self.held, dtype), array(self.places, "uint32")

    def order(self) -> Array:
        """Where the numbers of merged runs come from."""
        return _runs(self.held, self.block * self.tiles)

    def partitions(self) -> Array:
        """For each block of the result, how far the first of two runs has been taken by then."""
        whole, order = self.block * self.tiles, self.order()
        taken = np.empty((self.rows, self.blocks + 1), int)
        for number in range(self.blocks + 1):
            start = number // self.tiles * whole
            middle = min(self.length, start + whole // 2)
            before = order[:, start : min(number * self.block, self.length)]
            taken[:, number] = min(start, self.length) + (before < middle).sum(axis=1)
        return taken


def _partitions(kernel: LibraryFunction, dtype: str, threads: int, rng: Random) -> float:
    one = _Merge(dtype, threads, rng)
    count = one.blocks + 1
    new = ((one.rows, count), mx.uint32)
    sizes = [one.length, one.tiles, one.blocks]
    grid, group = (count, one.rows, 1), (count, 1, 1)
    got = kernel(new, *one.memory, *sizes, grid=grid, threadgroup=group)[0]
    return error(got, one.partitions(), "uint32")


def _merged(kernel: LibraryFunction, dtype: str, threads: int, rng: Random) -> float:
    one = _Merge(dtype, threads, rng)
    new = [(part.shape, part.dtype) for part in one.memory]
    got = kernel(
        array(one.partitions(), "uint32"),
        *one.memory,
        *new,
        one.length,
        one.tiles,
        one.blocks,
        grid=(one.blocks * threads, one.rows, 1),
        threadgroup=(threads, 1, 1),
    )
    order = one.order()
    want = [np.take_along_axis(part, order, 1) for part in (one.held, one.places)]
    return max(error(got[0], want[0], dtype, 0), error(got[1], want[1], "uint32"))
