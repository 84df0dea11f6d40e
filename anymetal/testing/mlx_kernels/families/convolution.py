"""Convolutions: inputs unfolded for products of matrices, single channels, Winograd's method.

Arrays have the axes batch, places, channels; filters are outputs, places, channels of a group.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    TYPE,
    Array,
    Random,
    error,
    match,
    random,
    values,
)
from anymetal.testing.mlx_kernels.families.gemm import packed
from anymetal.testing.mlx_kernels.families.matrices import threads
from anymetal.testing.mlx_kernels.families.packed import strides


@dataclass(frozen=True)
class Convolution:
    """Sizes and steps, with one number for each axis of places."""

    batch: int
    channels: int  #: of all groups
    outputs: int  #: of all groups
    inputs: tuple[int, ...]
    filters: tuple[int, ...]
    step: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]  #: of filters
    spread: tuple[int, ...]  #: of inputs: what lies between is 0
    groups: int = 1
    flip: bool = False

    @property
    def places(self) -> tuple[int, ...]:
        """Those of the result."""
        return tuple(
            (1 + spread * (n - 1) + 2 * pad - 1 - dilation * (size - 1)) // step + 1
            for n, size, step, pad, dilation, spread in zip(
                self.inputs,
                self.filters,
                self.step,
                self.padding,
                self.dilation,
                self.spread,
                strict=True,
            )
        )

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of input, filters and result."""
        return [
            (self.batch, *self.inputs, self.channels),
            (self.outputs, *self.filters, self.channels // self.groups),
            (self.batch, *self.places, self.outputs),
        ]

    def params(self) -> bytes:
        """MLX's struct."""
        axes = len(self.inputs)
        fields = [(name, "i4") for name in ("N", "C", "O")]
        per_axis = ("iS", "wS", "oS", "str", "pad", "kdil", "idil")
        struct = np.dtype(
            [
                *fields,
                *((name, "i4", (axes,)) for name in per_axis),
                *((f"{name}_strides", "i8", (axes + 2,)) for name in ("in", "wt", "out")),
                ("groups", "i4"),
                ("flip", "?"),
            ],
            align=True,
        )
        taken, weights, given = map(strides, self.shapes)
        return packed(
            struct,
            N=self.batch,
            C=self.channels,
            O=self.outputs,
            iS=self.inputs,
            wS=self.filters,
            oS=self.places,
            str=self.step,
            pad=self.padding,
            kdil=self.dilation,
            idil=self.spread,
            in_strides=taken,
            wt_strides=weights,
            out_strides=given,
            groups=self.groups,
            flip=self.flip,
        )

    def unfolded(self, x: Array) -> Array:
        """What each place of the result takes: batch, places, places of the filter, channels."""
        sizes = [1 + spread * (n - 1) for n, spread in zip(self.inputs, self.spread, strict=True)]
        last = [
            max(0, (n - 1) * step + (size - 1) * dilation + 1 - pad - whole)
            for n, step, size, dilation, pad, whole in zip(
                self.places,
                self.step,
                self.filters,
                self.dilation,
                self.padding,
                sizes,
                strict=True,
            )
        ]
        whole = np.zeros((self.batch, *sizes, self.channels))
        held = (slice(None), *(slice(None, None, n) for n in self.spread))
        whole[held] = x
        around = zip(self.padding, last, strict=True)
        whole = np.pad(whole, [(0, 0), *around, (0, 0)])
        taken = []
        for place in itertools.product(*map(range, self.filters)):
            at = [n - 1 - i if self.flip else i for n, i in zip(self.filters, place, strict=True)]
            begins = [i * dilation for i, dilation in zip(at, self.dilation, strict=True)]
            cuts = (
                slice(begin, begin + (n - 1) * step + 1, step)
                for begin, n, step in zip(begins, self.places, self.step, strict=True)
            )
            cut = (slice(None), *cuts)
            taken.append(whole[cut])
        return np.stack(taken, axis=-2)

    def result(self, x: Array, w: Array) -> Array:
        """In double."""
        taken = self.unfolded(x).reshape(*self.shapes[2][:-1], -1, self.groups, w.shape[-1])
        weights = w.reshape(self.groups, -1, taken.shape[-3], w.shape[-1])
        return np.einsum("...pgc,gopc->...go", taken, weights).reshape(self.shapes[2])

    def operands(self, rng: Random, dtype: str) -> tuple[mx.array, mx.array]:
        """Input and filters at random."""
        x, w = (random(rng, dtype, shape, -1, 1) for shape in self.shapes[:2])
        return x, w

    def compared(self, got: mx.array, x: mx.array, w: mx.array, dtype: str) -> float:
        """The error, relative to the sums of sizes: numbers are added up in float32."""
        want = self.result(values(x), values(w))
        scale = self.result(np.abs(values(x)), np.abs(values(w)))
        scale = np.maximum(scale, 2.0**-14)
        return error(got, want, dtype, 16 if dtype == "float32" else 1.01, scale)


def drawn(
    rng: Random, axes: int, channels: int, outputs: int, *, spread: bool = False, groups: int = 1
) -> Convolution:
    """Small sizes, and steps, dilation, padding and flipped filters by chance."""

    def some(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, axes, endpoint=True))

    largest = 9 if axes < 3 else 5
    return Convolution(
        batch=int(rng.integers(1, 4)),
        channels=channels * groups,
        outputs=outputs * groups,
        inputs=some(5, largest),
        filters=some(1, 3),
        step=some(1, 2),
        padding=some(0, 2),
        dilation=some(1, 2),
        spread=some(1, 3) if spread else (1,) * axes,
        groups=groups,
        flip=bool(rng.random() < 0.3),
    )


def conv(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """`naive_unfold_transpose_nd_float16_3`, `depthwise_conv_1d_float32_large`,
    `winograd_conv_2d_input_transform_float16_bc32`."""
    if name.startswith("naive_unfold"):
        return _unfold(kernel, name, rng)
    if name.startswith("depthwise_conv_2d"):
        return _depthwise(kernel, name, rng)
    return (_one_axis if name.startswith("depthwise") else _winograd)(kernel, name, rng)


def _unfold(kernel: LibraryFunction, name: str, rng: Random) -> float:
    """Rows from one of the result on, with channels or places of the filter last."""
    transposed, dtype, axes = match(rf"naive_unfold_(transpose_)?nd_{TYPE}_(\d)", name)
    one = drawn(rng, int(axes), int(rng.integers(1, 40)), 1, spread=True)
    x = one.operands(rng, dtype)[0]
    want = one.unfolded(values(x)).reshape(-1, int(np.prod(one.filters)), one.channels)
    want = want.swapaxes(1, 2) if transposed else want
    first = int(rng.integers(len(want)))
    want = want[first:]
    width = 32 * -(-min(one.channels, 64) // 32)
    got = kernel(
        x,
        (want.shape, DTYPES[dtype]),
        one.params(),
        first,
        grid=(one.channels, int(np.prod(one.filters)), len(want)),
        threadgroup=(width, 256 // width, 1),
    )[0]
    return error(got, want, dtype, 0)


def _depthwise(kernel: LibraryFunction, name: str, rng: Random) -> float:
    (dtype,) = match(rf"depthwise_conv_2d_{TYPE}", name)
    channels = 16 * int(rng.integers(1, 3))
    filters = tuple(int(n) for n in rng.integers(1, 7, 2, endpoint=True))
    step = tuple(int(n) for n in rng.integers(1, 2, 2, endpoint=True))
    flip = bool(rng.random() < 0.5)
    one = Convolution(
        2, channels, channels, (13, 11), filters, step, (2, 1), (1, 1), (1, 1), channels, flip
    )
    x, w = one.operands(rng, dtype)
    high, wide = one.places
    got = kernel(
        x,
        w,
        (one.shapes[2], DTYPES[dtype]),
        one.params(),
        constants={
            "ker_h": filters[0],
            "ker_w": filters[1],
            "str_h": step[0],
            "str_w": step[1],
            "tgp_h": 4,
            "tgp_w": 8,
            "do_flip": flip,
        },
        **threads((channels // 8, -(-wide // 8), -(-high // 4) * one.batch), (8, 8, 4)),
    )[0]
    return one.compared(got, x, w, dtype)


def _one_axis(kernel: LibraryFunction, name: str, rng: Random) -> float:
    dtype, _ = match(rf"depthwise_conv_1d_{TYPE}(_large)?", name)
    channels, size = int(rng.integers(1, 70)), int(rng.integers(1, 6))
    one = Convolution(
        2, channels, channels, (size + 12,), (size,), (1,), (0,), (1,), (1,), channels
    )
    x, w = one.operands(rng, dtype)
    launch: dict[str, Any] = {"grid": (channels, *one.places, 2), "threadgroup": (16, 8, 2)}
    out = (one.shapes[2], DTYPES[dtype])
    got = kernel(x, w, out, strides(x.shape), size, **launch)[0]
    return one.compared(got, x, w, dtype)


# --- Winograd's method ---------------------------------------------------------------------------

#: Where polynomials are evaluated; infinity is one more place.
_POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)


def _matrices() -> dict[str, Array]:
    """Of the method of Toom and Cook for results of 6 numbers with filters of 3: what inputs,
    filters and products are multiplied with from both sides. (Winograd, Arithmetic complexity of
    computations, 1980.) The sign of the first row is free, if input and filter have the same."""
    others = [np.delete(_POINTS, i) for i in range(7)]
    inputs = [*([*np.poly(one)[::-1], 0.0] for one in others), np.poly(_POINTS)[::-1]]
    filters = [
        np.array([1, p, p * p]) / np.prod(p - one) for p, one in zip(_POINTS, others, strict=True)
    ]
    filters.append(np.array([0.0, 0.0, 1.0]))
    outputs = [np.power(p, np.arange(6)) for p in _POINTS] + [np.eye(6)[5]]
    found = {"input": np.array(inputs), "weight": np.array(filters), "output": np.array(outputs).T}
    for one in ("input", "weight"):
        found[one][0] *= -1
    return found


def _both_sides(matrix: Array, tiles: Array) -> Array:
    """`matrix @ tile @ matrix.T` for the first two axes."""
    return np.einsum("ai,ij...,bj->ab...", matrix, tiles, matrix)


def _winograd(kernel: LibraryFunction, name: str, rng: Random) -> float:
    which, dtype = match(rf"winograd_conv_2d_(\w+)_transform_{TYPE}_b[co]32", name)
    channels, batch = 32 * int(rng.integers(1, 3)), 2
    tiles = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    count = batch * tiles[0] * tiles[1]
    groups = threads((tiles[1], tiles[0], batch), (32, 2, 2))
    plain = ((1, 1), (0, 0), (1, 1), (1, 1))
    if which == "weight":
        outputs = 4 * int(rng.integers(1, 9))
        x = random(rng, dtype, (outputs, 3, 3, channels), -1, 1)
        out = ((8, 8, channels, outputs), x.dtype)
        got = kernel(x, out, channels, outputs, **threads((outputs // 4, 1, 1), (32, 4, 1)))[0]
        held = values(x).transpose(1, 2, 3, 0)
    elif which == "input":
        size = tuple(6 * n + 2 for n in tiles)
        one = Convolution(batch, channels, 1, size, (3, 3), *plain)
        x = random(rng, dtype, one.shapes[0], -1, 1)
        got = kernel(x, ((8, 8, count, channels), x.dtype), one.params(), **groups)[0]
        held = _tiles(values(x), tiles)
    else:
        ragged = tuple(6 * n - int(rng.integers(6)) for n in tiles)
        one = Convolution(batch, 1, channels, tuple(n + 2 for n in ragged), (3, 3), *plain)
        x = random(rng, dtype, (8, 8, count, channels), -1, 1)
        got = kernel(x, (one.shapes[2], x.dtype), one.params(), **groups)[0]
        held = values(x)
    matrix = _matrices()[which]
    want, scale = _both_sides(matrix, held), _both_sides(np.abs(matrix), np.abs(held))
    if which == "output":
        want, scale = (_image(all_, batch, tiles, ragged) for all_ in (want, scale))
    scale = np.maximum(scale, 2.0**-14)
    return error(got, want, dtype, 16 if dtype == "float32" else 1.01, scale)


def _tiles(x: Array, tiles: Sequence[int]) -> Array:
    """Tiles of 8 by 8, of which two have two rows or columns in common."""
    cuts = [
        x[:, 6 * i : 6 * i + 8, 6 * j : 6 * j + 8] for i, j in itertools.product(*map(range, tiles))
    ]
    stacked = np.stack(cuts, axis=1)  # batch, tile, row, column, channel
    return stacked.transpose(2, 3, 0, 1, 4).reshape(8, 8, -1, x.shape[-1])


def _image(tiles: Array, batch: int, count: Sequence[int], size: Sequence[int]) -> Array:
    """Tiles of 6 by 6 beside each other, as far as the result goes."""
    one = tiles.reshape(6, 6, batch, *count, -1).transpose(2, 3, 0, 4, 1, 5)
    whole = one.reshape(batch, 6 * count[0], 6 * count[1], -1)
    return whole[:, : size[0], : size[1]]
