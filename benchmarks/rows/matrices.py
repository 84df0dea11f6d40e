"""Rows on whole matrices: a transposition, Cholesky factors of many small ones."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import torch

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

# Tiles of 32 × 32 go through threadgroup memory, so that both sides are read and written in rows.
_transpose = anymetal.metal_kernel(
    name="bench_transpose",
    input_names=["x"],
    output_names=["out"],
    source="""
        threadgroup float tile[32][33];
        uint tx = thread_position_in_threadgroup.x, ty = thread_position_in_threadgroup.y;
        uint column = threadgroup_position_in_grid.x * 32;
        uint row = threadgroup_position_in_grid.y * 32;
        uint rows = x_shape[0], columns = x_shape[1];
        for (uint k = 0; k < 32; k += 8) {
            tile[ty + k][tx] = x[(row + ty + k) * columns + column + tx];
        }
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        for (uint k = 0; k < 32; k += 8) {
            out[(column + ty + k) * rows + row + tx] = tile[tx][ty + k];
        }
    """,
)
# A SIMD-group factors one matrix; each lane holds a row, and the columns go round by shuffles.
_cholesky = anymetal.metal_kernel(
    name="bench_cholesky",
    input_names=["a"],
    output_names=["out"],
    source="""
        uint lane = thread_index_in_simdgroup;
        uint start = (thread_position_in_grid.y * 32 + lane) * 32;
        float row[32];
        for (uint j = 0; j < 32; ++j) row[j] = a[start + j];
        #pragma unroll
        for (uint k = 0; k < 32; ++k) {
            float pivot = metal::sqrt(metal::simd_shuffle(row[k], k));
            row[k] = lane == k ? pivot : row[k] / pivot;
            #pragma unroll
            for (uint j = k + 1; j < 32; ++j) {
                row[j] -= row[k] * metal::simd_shuffle(row[k], j);
            }
        }
        for (uint j = 0; j < 32; ++j) out[start + j] = j <= lane ? row[j] : 0.0f;
    """,
)


def transpose(random: np.random.Generator) -> Race:
    """Rows become columns."""
    size = 4096
    x, array, tensor = shared(random.standard_normal((size, size), dtype=np.float32))
    out, t_out = aligned(size, size), torch.empty_like(tensor)

    ours = launched(
        _transpose,
        inputs=[x],
        grid=(size, size // 4, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[(size, size)],
        output_dtypes=[mx.float32],
    )

    def with_numpy() -> Array:
        np.copyto(out, array.T)
        return out

    return Race(
        ours,
        [
            Rival(CXX, "16 × 16 in registers", native("transpose", array, size, out=out)),
            Rival(TORCH, "out.copy_(x.T)", lambda: t_out.copy_(tensor.T)),
            Rival(MLX, "mx.contiguous(x.T)", evaluated(lambda: mx.contiguous(x.T))),
            Rival(NUMPY, "np.copyto(out, x.T)", with_numpy),
        ],
        [array.T.copy()],
        bytes=8 * size**2,
    )


def positive_definite(random: np.random.Generator, *extents: int) -> Array:
    """Symmetric matrices, float32; `extents` are those of the batch, then the size."""
    size = extents[-1]
    factors = random.standard_normal((*extents, size), dtype=np.float32)
    products = factors @ factors.swapaxes(-1, -2) / size + np.eye(size, dtype=np.float32)
    return products.astype(np.float32)


def cholesky_of_libraries(a: mx.array, array: Array, tensor: torch.Tensor) -> list[Rival]:
    """The lower factors of the same matrices, by everybody."""
    out = torch.empty_like(tensor)
    return [
        Rival(
            TORCH,
            "torch.linalg.cholesky(out=out)",
            lambda: torch.linalg.cholesky(tensor, out=out),
        ),
        Rival(
            MLX,
            "mx.linalg.cholesky",
            evaluated(lambda: mx.linalg.cholesky(a, stream=mx.cpu)),
        ),
        Rival(NUMPY, "np.linalg.cholesky", lambda: np.linalg.cholesky(array)),
    ]


def cholesky(random: np.random.Generator) -> Race:
    """The lower factors of many small matrices."""
    count, size = 4096, 32
    a, array, tensor = shared(positive_definite(random, count, size))
    out = aligned(count, size, size)

    ours = launched(
        _cholesky,
        inputs=[a],
        grid=(32, count, 1),
        threadgroup=(32, 4, 1),
        output_shapes=[a.shape],
        output_dtypes=[mx.float32],
    )

    return Race(
        ours,
        [
            Rival(CXX, "4 matrices at a time", native("cholesky", array, count, out=out)),
            *cholesky_of_libraries(a, array, tensor),
        ],
        [np.linalg.cholesky(array.astype(np.float64))],
        relative=1e-4,
        absolute=1e-5,
        bytes=8 * count * size**2,
        flops=count * size**3 // 3,
    )


ROWS = [
    Row("transpose", "4096 × 4096 float32 through threadgroup memory", transpose),
    Row("cholesky", "4096 matrices of 32 × 32 float32, a SIMD-group each", cholesky),
]
