"""Rows on simdgroup_matrix: what SIMD-group matrices gain, and how far they are from a library."""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import numpy as np
import torch

import anymetal
from benchmarks.harness import OURS, Race, Row

# A SIMD-group computes 2 x 2 blocks of 8 x 8; the 16 x 16 lie in registers.
_PLACE = """
    const uint inner = a_shape[1], columns = b_shape[1];
    const uint row = 16 * threadgroup_position_in_grid.y;
    const uint column = 16 * threadgroup_position_in_grid.x;
"""
_matrices = anymetal.metal_kernel(
    name="bench_simdgroup_matrix",
    input_names=["a", "b"],
    output_names=["out"],
    source=f"""
    {_PLACE}
    simdgroup_float8x8 sums[2][2];
    #pragma unroll
    for (uint i = 0; i < 4; ++i) sums[i / 2][i % 2] = simdgroup_float8x8(0);
    for (uint k = 0; k < inner; k += 8) {{
        simdgroup_matrix<T, 8, 8> left[2], right[2];
        #pragma unroll
        for (uint i = 0; i < 2; ++i) {{
            simdgroup_load(left[i], a, inner, ulong2(k, row + 8 * i));
            simdgroup_load(right[i], b, columns, ulong2(column + 8 * i, k));
        }}
        #pragma unroll
        for (uint i = 0; i < 4; ++i) {{
            thread auto& sum = sums[i / 2][i % 2];
            simdgroup_multiply_accumulate(sum, left[i / 2], right[i % 2], sum);
        }}
    }}
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {{
        simdgroup_store(sums[i / 2][i % 2], out, columns,
                        ulong2(column + i % 2 * 8, row + i / 2 * 8));
    }}
    """,
)
# The same blocks, and each lane the same two elements of each, in loops over 8 numbers.
_loops = anymetal.metal_kernel(
    name="bench_scalar_loops",
    input_names=["a", "b"],
    output_names=["out"],
    source=f"""
    {_PLACE}
    const uint lane = thread_index_in_simdgroup;
    const uint r = (lane / 4 & 4) + lane / 2 % 4, c = (lane / 4 & 2) * 2 + lane % 2 * 2;
    float2 sums[2][2] = {{}};
    for (uint k = 0; k < inner; k += 8) {{
        #pragma unroll
        for (uint i = 0; i < 4; ++i) {{
            const device T* left = a + (row + i / 2 * 8 + r) * inner + k;
            const device T* right = b + k * columns + column + i % 2 * 8 + c;
            for (uint n = 0; n < 8; ++n) {{
                const float factor = left[n];
                sums[i / 2][i % 2].x += factor * float(right[n * columns]);
                sums[i / 2][i % 2].y += factor * float(right[n * columns + 1]);
            }}
        }}
    }}
    #pragma unroll
    for (uint i = 0; i < 4; ++i) {{
        device float* to = out + (row + i / 2 * 8 + r) * columns + column + i % 2 * 8 + c;
        to[0] = sums[i / 2][i % 2].x;
        to[1] = sums[i / 2][i % 2].y;
    }}
    """,
)
# A lane for each block of 8 x 8, with nobody's help.
_lane_blocks = anymetal.metal_kernel(
    name="bench_block_per_lane",
    input_names=["a", "b"],
    output_names=["out"],
    source="""
    const uint inner = a_shape[1], columns = b_shape[1];
    const uint row = 8 * thread_position_in_grid.y, column = 8 * thread_position_in_grid.x;
    float sums[8][8] = {};
    for (uint k = 0; k < inner; ++k) {
        for (uint i = 0; i < 8; ++i) {
            for (uint j = 0; j < 8; ++j) {
                sums[i][j] += float(a[(row + i) * inner + k]) * float(b[k * columns + column + j]);
            }
        }
    }
    for (uint i = 0; i < 8; ++i) {
        for (uint j = 0; j < 8; ++j) out[(row + i) * columns + column + j] = sums[i][j];
    }
    """,
)


def _operands(size: int, dtype: mx.Dtype) -> tuple[mx.array, mx.array]:
    a, b = (mx.random.normal((size, size)).astype(dtype) for _ in range(2))
    mx.eval(a, b)
    return a, b


def _product(
    kernel: Callable[..., list[mx.array]], a: mx.array, b: mx.array, grid: tuple[int, int]
) -> Callable[[], mx.array]:
    def run() -> mx.array:
        (out,) = kernel(
            inputs=[a, b],
            template=[("T", a.dtype)],
            grid=(*grid, 1),
            threadgroup=(32, 1, 1),
            output_shapes=[(a.shape[0], b.shape[1])],
            output_dtypes=[mx.float32],
        )
        mx.eval(out)
        return out

    return run


def _check(kernels: list[Callable[[], mx.array]], a: mx.array, b: mx.array) -> None:
    expected = np.array(a.astype(mx.float32)) @ np.array(b.astype(mx.float32))
    for kernel in kernels:
        np.testing.assert_allclose(np.array(kernel()), expected, rtol=1e-3, atol=1e-3)


def half() -> Race:
    """Half operands, float accumulators: matrices against loops."""
    size = 512
    a, b = _operands(size, mx.float16)
    ours = _product(_matrices, a, b, (2 * size, size // 16))
    loops = _product(_loops, a, b, (2 * size, size // 16))
    blocks = _product(_lane_blocks, a, b, (size // 8, size // 8))
    return Race(
        {
            OURS: ours,
            "loops, 2 elements a lane": loops,
            "loops, a block a lane": blocks,
        },
        check=lambda: _check([ours, loops, blocks], a, b),
        flops=2 * size**3,
    )


def single() -> Race:
    """Float, against libraries."""
    size = 1024
    a, b = _operands(size, mx.float32)
    ta, tb = (torch.from_numpy(np.array(x)) for x in (a, b))
    ours = _product(_matrices, a, b, (2 * size, size // 16))
    return Race(
        {
            OURS: ours,
            "torch a @ b (tuned)": lambda: ta @ tb,
            "MLX a @ b (tuned)": lambda: mx.eval(a @ b),
        },
        check=lambda: _check([ours], a, b),
        flops=2 * size**3,
    )


ROWS = [
    Row("simdgroup_half", "simdgroup_matrix, 512³, half operands, float sums", half),
    Row("simdgroup_float", "simdgroup_matrix, 1024³, float", single),
]
