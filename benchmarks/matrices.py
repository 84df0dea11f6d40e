"""Rows on matrices: softmax with SIMD reductions, and the matrix product as everybody writes it."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import torch

import anymetal
from anymetal.cli.demo.cholesky import cholesky
from benchmarks.harness import OURS, Race, Row

# One SIMD-group per row; a lane holds every 32nd element.
_softmax = anymetal.metal_kernel(
    name="bench_softmax",
    input_names=["x"],
    output_names=["out"],
    source="""
        uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y;
        uint start = row * COLUMNS + lane;
        float values[COLUMNS / 32];
        float largest = -INFINITY;
        for (uint k = 0; k < COLUMNS / 32; ++k) {
            values[k] = x[start + 32 * k];
            largest = metal::max(largest, values[k]);
        }
        largest = simd_max(largest);
        float sum = 0;
        for (uint k = 0; k < COLUMNS / 32; ++k) {
            values[k] = metal::exp(values[k] - largest);
            sum += values[k];
        }
        float scale = 1 / simd_sum(sum);
        for (uint k = 0; k < COLUMNS / 32; ++k) {
            out[start + 32 * k] = values[k] * scale;
        }
    """,
)
_matmul = anymetal.metal_kernel(
    name="bench_matmul",
    input_names=["a", "b"],
    output_names=["out"],
    source="""
        uint row = thread_position_in_grid.y, column = thread_position_in_grid.x;
        uint inner = a_shape[1], columns = b_shape[1];
        float sum = 0;
        for (uint k = 0; k < inner; ++k) {
            sum += a[row * inner + k] * b[k * columns + column];
        }
        out[row * columns + column] = sum;
    """,
)


def _matrix(*shape: int) -> tuple[mx.array, torch.Tensor]:
    x = mx.random.normal(shape)
    mx.eval(x)
    return x, torch.from_numpy(np.array(x))


def _close(got: mx.array, expected: torch.Tensor, tolerance: float) -> None:
    np.testing.assert_allclose(np.array(got), expected.numpy(), rtol=tolerance, atol=tolerance)


def softmax() -> Race:
    """softmax of every row."""
    rows, columns = 4096, 1024
    x, t = _matrix(rows, columns)

    def ours() -> mx.array:
        (out,) = _softmax(
            inputs=[x],
            template=[("COLUMNS", columns)],
            grid=(32, rows, 1),
            threadgroup=(32, 8, 1),
            output_shapes=[(rows, columns)],
            output_dtypes=[mx.float32],
        )
        mx.eval(out)
        return out

    return Race(
        {
            OURS: ours,
            "torch.softmax": lambda: torch.softmax(t, 1),
            "mx.softmax": lambda: mx.eval(mx.softmax(x, axis=1)),
        },
        check=lambda: _close(ours(), torch.softmax(t, 1), 1e-5),
        bytes=8 * rows * columns,
    )


def matmul() -> Race:
    """Matrix product, one thread per element and nothing else."""
    size = 512
    (a, ta), (b, tb) = _matrix(size, size), _matrix(size, size)

    def ours() -> mx.array:
        (out,) = _matmul(
            inputs=[a, b],
            grid=(size, size, 1),
            threadgroup=(32, 8, 1),
            output_shapes=[(size, size)],
            output_dtypes=[mx.float32],
        )
        mx.eval(out)
        return out

    return Race(
        {
            OURS: ours,
            "torch a @ b (tuned)": lambda: ta @ tb,
            "MLX a @ b (tuned)": lambda: mx.eval(a @ b),
        },
        check=lambda: _close(ours(), ta @ tb, 1e-3),
        flops=2 * size**3,
    )


def factors() -> Race:
    """Cholesky, the demo's kernels."""
    size = 512
    x, t = _matrix(size, size)
    a = x @ x.T / size + mx.eye(size) / 10
    mx.eval(a)
    t = torch.from_numpy(np.array(a))

    def ours() -> mx.array:
        out = cholesky(a)
        mx.eval(out)
        return out

    return Race(
        {
            OURS: ours,
            "torch.linalg.cholesky": lambda: torch.linalg.cholesky(t),
            "mx.linalg.cholesky": lambda: mx.eval(mx.linalg.cholesky(a, stream=mx.cpu)),
        },
        check=lambda: _close(ours(), torch.linalg.cholesky(t), 1e-3),
        flops=size**3 // 3,
    )


ROWS = [
    Row("softmax", "over the rows of 4096 × 1024 float32", softmax),
    Row("matmul", "a thread per element, 512 × 512 float32", matmul),
    Row("cholesky", "in blocks, 512 × 512 float32, 31 launches", factors),
]
