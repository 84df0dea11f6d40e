"""What SIMD-group matrices gain: the same product with loops over the 8 x 8 numbers."""

from __future__ import annotations

import mlx.core as mx
import numpy as np

import anymetal
from benchmarks.harness import Race, Rival, Row, launched, shared

SIZE = 512

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


def half(random: np.random.Generator) -> Race:
    """Half operands, float sums."""
    matrices = (random.standard_normal((SIZE, SIZE)).astype(np.float16) for _ in range(2))
    (a, b), (aa, ab), _ = shared(*matrices)
    runs = [
        launched(
            kernel,
            inputs=[a, b],
            template=[("T", a.dtype)],
            grid=(*grid, 1),
            threadgroup=(32, 1, 1),
            output_shapes=[(SIZE, SIZE)],
            output_dtypes=[mx.float32],
        )
        for kernel, grid in (
            (_matrices, (2 * SIZE, SIZE // 16)),
            (_loops, (2 * SIZE, SIZE // 16)),
            (_lane_blocks, (SIZE // 8, SIZE // 8)),
        )
    ]
    return Race(
        runs[0],
        [
            Rival("scalar loops", "2 elements a lane", runs[1]),
            Rival("scalar loops, blocks", "8 x 8 elements a lane", runs[2]),
        ],
        [aa.astype(np.float64) @ ab.astype(np.float64)],
        relative=1e-4,
        absolute=1e-3,
        flops=2 * SIZE**3,
    )


ROWS = [Row("simdgroup_loops", "simdgroup_matrix or loops, 512³, half with float sums", half)]
