"""Matrices that are quantized, and read again."""

from __future__ import annotations

from math import lcm
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.library import LibraryFunction
from anymetal.testing.mlx_kernels.families.data import (
    DTYPES,
    EPSILON,
    Array,
    Random,
    Wrong,
    error,
    random,
    values,
)
from anymetal.testing.mlx_kernels.families.packed import (
    RANGE,
    Kind,
    Weights,
    float4,
    float8,
    scale8,
    unpacked,
    weights,
)


def conversion(kernel: LibraryFunction, kind: Kind, rng: Random) -> float:
    """`affine_quantize_…`, `nvfp4_dequantize_…`, `mxfp8_quantize_dequantize_…`."""
    rows, columns = int(rng.integers(1, 20)), lcm(kind.group, 32) * int(rng.integers(1, 5))
    if kind.op == "dequantize":
        return _read(kernel, kind, weights(rng, kind, [], rows, columns), rng)
    x = random(rng, kind.dtype, (rows, columns), -1, 1)
    whole = float(np.abs(values(x)).max())
    launch: dict[str, Any] = {"grid": x.size // (max(kind.group // 32, 1) if kind.affine else 1)}
    launch["threadgroup"] = min(1024, launch["grid"])
    if kind.op == "quantize_dequantize":
        got = kernel(x, whole, ((rows, columns), DTYPES[kind.dtype]), **launch)[0]
        scale = _wanted_scales(values(x), kind, whole)
        return _nearest(values(got), values(x), scale, kind, EPSILON[kind.dtype])
    packed = ((rows, columns * kind.bits // 8), mx.uint8)
    scales = ((rows, columns // kind.group), DTYPES[kind.dtype] if kind.affine else mx.uint8)
    made = kernel(x, packed, scales, scales if kind.affine else whole, **launch)
    return _affine(made, x, kind) if kind.affine else _floats(made, x, kind, whole)


def _read(kernel: LibraryFunction, kind: Kind, w: Weights, rng: Random) -> float:
    whole = float(np.float32(rng.uniform(500, 5000)))
    factor = whole / RANGE if kind.scaled else 1.0
    pack = {3: 8, 5: 8, 6: 4}.get(kind.bits, 8 // kind.bits)
    packed = w.arrays[0].view(mx.uint8, stream=mx.cpu)
    out = (w.held.shape, DTYPES[kind.dtype])
    threads_ = w.held.size // pack
    more = [] if kind.affine else [whole]
    launch: dict[str, Any] = {"grid": threads_, "threadgroup": min(1024, threads_)}
    got = kernel(packed, *w.arrays[1:], *more, out, **launch)[0]
    return error(got, w.held * factor, kind.dtype, 2, np.maximum(w.size * factor, 2.0**-14))


def _wanted_scales(x: Array, kind: Kind, whole: float) -> Array:
    """What the largest number of a group becomes the largest small float with: the next power of
    2, or the next number of 8 bits, which the scale for all multiplies."""
    largest = np.abs(x).reshape(x.shape[0], -1, kind.group).max(axis=-1)
    largest /= 448 if kind.bits == 8 else 6
    if kind.mode != "nvfp4":
        return np.exp2(np.round(np.log2(largest)))
    factor = whole / RANGE if kind.scaled else 1.0
    numbers = float8(np.arange(127))
    return factor * numbers[np.abs(largest[..., None] / factor - numbers).argmin(axis=-1)]


def _nearest(got: Array, x: Array, scale: Array, kind: Kind, rounding: float) -> float:
    """How much further than it must be a number is from that which it has become."""
    codes = np.arange(2**kind.bits)
    numbers = float4(codes) if kind.bits == 4 else float8(codes[codes & 127 != 127])
    spread = scale.repeat(kind.group, axis=-1)
    least = np.abs(spread[..., None] * numbers - x[..., None]).min(axis=-1)
    off = float(((np.abs(got - x) - least) / np.maximum(np.abs(x), spread)).max())
    if not off <= rounding:
        raise Wrong(f"a number is {off} further off than the nearest one")
    return max(off, 0.0)


def _floats(made: list[mx.array], x: mx.array, kind: Kind, whole: float) -> float:
    """Scales as they must be, and the numbers that are nearest with them."""
    factor = whole / RANGE if kind.scaled else 1.0
    scale = factor * scale8(kind.mode, values(made[1]))
    wanted = _wanted_scales(values(x), kind, whole)
    if not np.allclose(scale, wanted, rtol=1e-6):
        raise Wrong(f"scales: {scale}, not {wanted}")
    codes = unpacked(values(made[0]), kind.bits)
    got = (float8(codes) if kind.bits == 8 else float4(codes)) * scale.repeat(kind.group, axis=-1)
    return _nearest(got, values(x), scale, kind, 1e-5)


def _affine(made: list[mx.array], x: mx.array, kind: Kind) -> float:
    """Scales and biases must be those of the CPU, and integers the next ones to the numbers; what
    is stored of scales and biases is rounded, and so they may be further off in the same measure.
    """
    by_cpu = mx.quantize(x, kind.group, kind.bits, stream=mx.cpu)[1:]
    worst = max(
        error(got, values(want), kind.dtype, 2, np.abs(values(want)))
        for got, want in zip(made[1:], by_cpu, strict=True)
    )
    scale, bias = (values(one).repeat(kind.group, axis=-1) for one in made[1:])
    most = 2**kind.bits - 1
    exact = np.clip((values(x) - bias) / scale, 0, most)
    off = np.abs(unpacked(values(made[0]), kind.bits) - exact).max()
    if off > 0.5 + 2 * EPSILON[kind.dtype] * most:
        raise Wrong(f"integers are {off} away from the numbers")
    return worst
