"""Rows that read and write memory once: the floor is a copy of as many bytes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
import numpy as np
import torch
from mlx import nn

import anymetal
from benchmarks.harness import (
    CXX,
    MLX,
    NUMPY,
    TORCH,
    Array,
    Race,
    Rival,
    Row,
    evaluated,
    launched,
    shared,
)
from benchmarks.rivals import aligned, native

SIZE = 1 << 24


def _kernel(name: str, inputs: list[str], body: str) -> Callable[..., list[mx.array]]:
    return anymetal.metal_kernel(
        name=f"bench_{name}", input_names=inputs, output_names=["out"], source=body
    )


_copy = _kernel("copy", ["x"], "uint i = thread_position_in_grid.x; out[i] = x[i];")
_saxpy = _kernel(
    "saxpy", ["a", "x", "y"], "uint i = thread_position_in_grid.x; out[i] = a * x[i] + y[i];"
)
_exp = _kernel("exp", ["x"], "uint i = thread_position_in_grid.x; out[i] = metal::exp(x[i]);")
_gelu = _kernel(
    "gelu",
    ["x"],
    """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
    out[i] = 0.5f * v * (1.0f + metal::tanh(inner));
    """,
)
_luminance = _kernel(
    "luminance",
    ["pixels"],
    """
    uint i = thread_position_in_grid.x;
    float4 pixel = ((const device float4*)pixels)[i];
    out[i] = metal::dot(pixel.rgb, float3(0.2126f, 0.7152f, 0.0722f)) * pixel.a;
    """,
)
_hash = _kernel(
    "hash",
    ["x"],
    """
    uint i = thread_position_in_grid.x;
    ulong v = x[i];
    v ^= v >> 33;
    v *= 0xff51afd7ed558ccdul;
    v ^= v >> 33;
    v *= 0xc4ceb9fe1a85ec53ul;
    v ^= v >> 33;
    out[i] = v;
    """,
)


def _launch(
    kernel: Callable[..., list[mx.array]],
    *inputs: mx.array | float,
    size: int = SIZE,
    dtype: mx.Dtype = mx.float32,
) -> Callable[[], list[mx.array]]:
    return launched(
        kernel,
        inputs=list(inputs),
        grid=(size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[dtype],
    )


def _normal(random: np.random.Generator, *shape: int) -> Array:
    return random.standard_normal(shape, dtype=np.float32)


def copy(random: np.random.Generator) -> Race:
    """out = x."""
    x, array, tensor = shared(_normal(random, SIZE))
    out, tensor_out = aligned(SIZE), torch.empty_like(tensor)

    def with_numpy() -> Array:
        np.copyto(out, array)
        return out

    return Race(
        _launch(_copy, x),
        [
            Rival(CXX, "streaming stores", native("copy", array, SIZE, out=out)),
            Rival(TORCH, "out.copy_(x)", lambda: tensor_out.copy_(tensor)),
            Rival(MLX, "x + 0", evaluated(lambda: x + 0)),
            Rival(NUMPY, "np.copyto(out, x)", with_numpy),
        ],
        [array],
        bytes=8 * SIZE,
    )


def saxpy(random: np.random.Generator) -> Race:
    """a x + y."""
    (x, y), (ax, ay), (tx, ty) = shared(_normal(random, SIZE), _normal(random, SIZE))
    a = 2.5
    out, tensor_out = aligned(SIZE), torch.empty_like(tx)

    def with_numpy() -> Array:
        np.multiply(ax, np.float32(a), out=out)
        np.add(out, ay, out=out)
        return out

    return Race(
        _launch(_saxpy, a, x, y),
        [
            Rival(CXX, "streaming stores", native("saxpy", ax, ay, a, SIZE, out=out)),
            Rival(
                TORCH,
                "torch.add(y, x, alpha=a, out=out)",
                lambda: torch.add(ty, tx, alpha=a, out=tensor_out),
            ),
            Rival(MLX, "a * x + y", evaluated(lambda: a * x + y)),
            Rival(NUMPY, "multiply and add into out", with_numpy),
        ],
        [a * ax.astype(np.float64) + ay],
        bytes=12 * SIZE,
    )


def exp(random: np.random.Generator) -> Race:
    """e to the x."""
    x, array, tensor = shared(_normal(random, SIZE))
    out, tensor_out = aligned(SIZE), torch.empty_like(tensor)
    return Race(
        _launch(_exp, x),
        [
            Rival(CXX, "own polynomial", native("exp", array, SIZE, out=out)),
            Rival(TORCH, "torch.exp(x, out=out)", lambda: torch.exp(tensor, out=tensor_out)),
            Rival(MLX, "mx.exp", evaluated(mx.exp, x)),
            Rival(NUMPY, "np.exp(x, out)", lambda: np.exp(array, out)),
        ],
        [np.exp(array.astype(np.float64))],
        relative=1e-6,
        absolute=0,
        bytes=8 * SIZE,
    )


def gelu(random: np.random.Generator) -> Race:
    """gelu in its tanh form."""
    x, array, tensor = shared(_normal(random, SIZE))
    out, tensor_out = aligned(SIZE), torch.empty_like(tensor)
    scale = math.sqrt(2 / math.pi)

    def formula(v: Array) -> Array:
        of_type = v.dtype.type
        cube = v * v * v * of_type(0.044715)
        return np.asarray(v * of_type(0.5) * (1 + np.tanh(of_type(scale) * (v + cube))))

    return Race(
        _launch(_gelu, x),
        [
            Rival(CXX, "v / (1 + exp(-2u))", native("gelu", array, SIZE, out=out)),
            Rival(
                TORCH,
                "gelu(approximate='tanh'), out=",
                lambda: torch.ops.aten.gelu.out(tensor, approximate="tanh", out=tensor_out),
            ),
            Rival(MLX, "nn.gelu_approx", evaluated(nn.layers.activations.gelu_approx, x)),
            Rival(NUMPY, "the formula", lambda: formula(array)),
        ],
        [formula(array.astype(np.float64))],
        relative=1e-4,
        absolute=1e-6,
        bytes=8 * SIZE,
    )


def luminance(random: np.random.Generator) -> Race:
    """Brightness of RGBA pixels, four floats each."""
    size = SIZE // 2
    pixels, array, tensor = shared(random.random((size, 4), dtype=np.float32))
    out = aligned(size)
    weights = np.array([0.2126, 0.7152, 0.0722], np.float32)
    m_weights, t_weights = mx.array(weights), torch.from_numpy(weights)

    def of(pixel: Any, weight: Any) -> Any:
        return (pixel[:, :3] @ weight) * pixel[:, 3]

    return Race(
        _launch(_luminance, pixels, size=size),
        [
            Rival(CXX, "permutations of vectors", native("luminance", array, size, out=out)),
            Rival(TORCH, "(x[:, :3] @ w) * x[:, 3]", lambda: of(tensor, t_weights)),
            Rival(MLX, "(x[:, :3] @ w) * x[:, 3]", evaluated(of, pixels, m_weights)),
            Rival(NUMPY, "(x[:, :3] @ w) * x[:, 3]", lambda: of(array, weights)),
        ],
        [of(array.astype(np.float64), weights.astype(np.float64))],
        bytes=20 * size,
    )


_FIRST, _SECOND = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53


def hash64(random: np.random.Generator) -> Race:
    """Murmur's finaliser: 64-bit products and shifts."""
    size = SIZE // 2
    x, array, tensor = shared(random.integers(0, 2**64, size, np.uint64))
    signed = tensor.view(torch.int64)
    first, second = np.uint64(_FIRST), np.uint64(_SECOND)
    m_first, m_second = mx.array(first), mx.array(second)

    def with_numpy() -> Array:
        v = array ^ (array >> np.uint64(33))
        v *= first
        v ^= v >> np.uint64(33)
        v *= second
        v ^= v >> np.uint64(33)
        return np.asarray(v)

    def with_mlx() -> Any:
        v = (x ^ (x >> 33)) * m_first
        v = (v ^ (v >> 33)) * m_second
        return v ^ (v >> 33)

    def with_torch() -> Any:
        low = (1 << 31) - 1  # what a shift of unsigned numbers leaves
        v = signed ^ ((signed >> 33) & low)
        v *= _FIRST - 2**64
        v ^= (v >> 33) & low
        v *= _SECOND - 2**64
        v ^= (v >> 33) & low
        return v.view(torch.uint64)

    out = aligned(size, dtype=np.uint64)
    return Race(
        _launch(_hash, x, size=size, dtype=mx.uint64),
        [
            Rival(CXX, "64-bit vector products", native("hash", array, size, out=out)),
            Rival(TORCH, "operations on int64", with_torch),
            Rival(MLX, "operations", evaluated(with_mlx)),
            Rival(NUMPY, "operations", with_numpy),
        ],
        [with_numpy()],
        bytes=16 * size,
    )


ROWS = [
    Row("copy", "16 M float32", copy),
    Row("saxpy", "a x + y, 16 M float32", saxpy),
    Row("exp", "16 M float32", exp),
    Row("gelu", "tanh form, 16 M float32", gelu),
    Row("luminance", "float4 loads of 8 M interleaved RGBA pixels", luminance),
    Row("hash64", "8 M 64-bit hashes", hash64),
]
