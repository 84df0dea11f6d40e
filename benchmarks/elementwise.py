"""Rows that read and write memory once: the floor is a copy of as many bytes."""

from __future__ import annotations

import math

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import torch

import anymetal
from benchmarks.harness import OURS, Race, Row

SIZE = 1 << 24

_exp = anymetal.metal_kernel(
    name="bench_exp",
    input_names=["x"],
    output_names=["out"],
    source="""
        uint i = thread_position_in_grid.x;
        out[i] = metal::exp(x[i]);
    """,
)
_saxpy = anymetal.metal_kernel(
    name="bench_saxpy",
    input_names=["a", "x", "y"],
    output_names=["out"],
    source="""
        uint i = thread_position_in_grid.x;
        out[i] = a * x[i] + y[i];
    """,
)
_gelu = anymetal.metal_kernel(
    name="bench_gelu",
    input_names=["x"],
    output_names=["out"],
    source="""
        uint i = thread_position_in_grid.x;
        float v = x[i];
        float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
        out[i] = 0.5f * v * (1.0f + metal::tanh(inner));
    """,
)


def _launch(kernel: anymetal.MetalKernel, *inputs: mx.array | float) -> mx.array:
    (out,) = kernel(
        inputs=list(inputs),
        grid=(SIZE, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(SIZE,)],
        output_dtypes=[mx.float32],
    )
    mx.eval(out)
    return out


def _normal() -> tuple[mx.array, torch.Tensor]:
    x = mx.random.normal((SIZE,))
    mx.eval(x)
    return x, torch.from_numpy(np.array(x))


def _close(got: mx.array, expected: torch.Tensor, relative: float) -> None:
    np.testing.assert_allclose(np.array(got), expected.numpy(), rtol=relative, atol=1e-6)


def exp() -> Race:
    """exp."""
    x, t = _normal()
    array, out = t.numpy(), torch.empty_like(t)
    return Race(
        {
            OURS: lambda: _launch(_exp, x),
            "torch.exp(x)": lambda: torch.exp(t),
            "torch.exp(x, out=y)": lambda: torch.exp(t, out=out),
            "mx.exp": lambda: mx.eval(mx.exp(x)),
            "numpy.exp": lambda: np.exp(array),
            "floor: a copy into memory in use": lambda: out.copy_(t),
        },
        check=lambda: _close(_launch(_exp, x), torch.exp(t), 1e-6),
        bytes=8 * SIZE,
    )


def saxpy() -> Race:
    """a x + y."""
    (x, tx), (y, ty) = _normal(), _normal()
    ax, ay, out = tx.numpy(), ty.numpy(), torch.empty_like(tx)
    a = 2.5
    return Race(
        {
            OURS: lambda: _launch(_saxpy, a, x, y),
            "torch.add(y, x, alpha=a)": lambda: torch.add(ty, tx, alpha=a),
            "torch.add(…, out=z)": lambda: torch.add(ty, tx, alpha=a, out=out),
            "MLX a * x + y": lambda: mx.eval(a * x + y),
            "NumPy a * x + y": lambda: np.float32(a) * ax + ay,
        },
        check=lambda: _close(_launch(_saxpy, a, x, y), torch.add(ty, tx, alpha=a), 1e-5),
        bytes=12 * SIZE,
    )


def gelu() -> Race:
    """gelu in its tanh form."""
    x, t = _normal()
    array, scale = t.numpy(), np.float32(math.sqrt(2 / math.pi))

    def with_numpy() -> np.ndarray:
        return 0.5 * array * (1 + np.tanh(scale * (array + 0.044715 * array * array * array)))

    def with_torch() -> torch.Tensor:
        return torch.nn.functional.gelu(t, approximate="tanh")

    return Race(
        {
            OURS: lambda: _launch(_gelu, x),
            "torch gelu": with_torch,
            "mlx.nn.gelu_approx": lambda: mx.eval(nn.gelu_approx(x)),
            "NumPy": with_numpy,
        },
        check=lambda: _close(_launch(_gelu, x), with_torch(), 1e-4),
        bytes=8 * SIZE,
    )


ROWS = [
    Row("exp", "16 M float32", exp),
    Row("saxpy", "a x + y, 16 M float32", saxpy),
    Row("gelu", "tanh form, 16 M float32", gelu),
]
