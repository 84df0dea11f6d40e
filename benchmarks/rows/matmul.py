"""Rows of matrix products, from the loop that everybody writes to simdgroup_matrix."""

from __future__ import annotations

from collections.abc import Callable

import mlx.core as mx
import numpy as np
import torch

import anymetal
from benchmarks.harness import CXX, MLX, NUMPY, TORCH, Race, Rival, Row, evaluated, launched, shared
from benchmarks.rivals import aligned, native

_naive = anymetal.metal_kernel(
    name="bench_matmul_naive",
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
_tiled = anymetal.metal_kernel(
    name="bench_matmul_tiled",
    input_names=["a", "b"],
    output_names=["out"],
    source="""
        constexpr uint TILE = 16;
        threadgroup float left[TILE][TILE], right[TILE][TILE];
        uint x = thread_position_in_threadgroup.x, y = thread_position_in_threadgroup.y;
        uint row = thread_position_in_grid.y, column = thread_position_in_grid.x;
        uint inner = a_shape[1], columns = b_shape[1];
        float sum = 0;
        for (uint start = 0; start < inner; start += TILE) {
            left[y][x] = a[row * inner + start + x];
            right[y][x] = b[(start + y) * columns + column];
            threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            for (uint k = 0; k < TILE; ++k) sum += left[y][k] * right[k][x];
            threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        }
        out[row * columns + column] = sum;
    """,
)
# As MLX's own GEMM does it: four SIMD-groups copy tiles to threadgroup memory, four elements a
# thread, with 16 bytes of padding behind each row; each computes 32 × 32 numbers of the 64 × 64.
_simdgroup = anymetal.metal_kernel(
    name="bench_matmul_simdgroup",
    input_names=["a", "b"],
    output_names=["out"],
    source="""
        using Four = metal::vec<T, 4>;
        constexpr uint DEPTH = 32, PAD = 16 / sizeof(T), LEFT = DEPTH + PAD, RIGHT = 64 + PAD;
        threadgroup T left[64 * LEFT], right[DEPTH * RIGHT];
        const uint inner = a_shape[1], columns = b_shape[1];
        const uint group = simdgroup_index_in_threadgroup;
        const uint below = group / 2 * 32, beside = group % 2 * 32;
        const uint row = 64 * threadgroup_position_in_grid.y;
        const uint column = 64 * threadgroup_position_in_grid.x;
        simdgroup_float8x8 sums[4][4];
        #pragma unroll
        for (uint i = 0; i < 16; ++i) sums[i / 4][i % 4] = simdgroup_float8x8(0);
        for (uint k = 0; k < inner; k += DEPTH) {
            threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            for (uint i = thread_index_in_threadgroup; i < 64 * DEPTH / 4; i += 128) {
                uint r = i / (DEPTH / 4), c = i % (DEPTH / 4) * 4;
                *(threadgroup Four*)(left + r * LEFT + c) =
                    *(const device Four*)(a + (row + r) * inner + k + c);
            }
            for (uint i = thread_index_in_threadgroup; i < 64 * DEPTH / 4; i += 128) {
                uint r = i / 16, c = i % 16 * 4;
                *(threadgroup Four*)(right + r * RIGHT + c) =
                    *(const device Four*)(b + (k + r) * columns + column + c);
            }
            threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            #pragma unroll
            for (uint kk = 0; kk < DEPTH; kk += 8) {
                simdgroup_matrix<T, 8, 8> p[4], q[4];
                #pragma unroll
                for (uint i = 0; i < 4; ++i) {
                    simdgroup_load(p[i], left + (below + 8 * i) * LEFT + kk, LEFT);
                    simdgroup_load(q[i], right + kk * RIGHT + beside + 8 * i, RIGHT);
                }
                #pragma unroll
                for (uint i = 0; i < 16; ++i) {
                    thread auto& sum = sums[i / 4][i % 4];
                    simdgroup_multiply_accumulate(sum, p[i / 4], q[i % 4], sum);
                }
            }
        }
        #pragma unroll
        for (uint i = 0; i < 16; ++i) {
            simdgroup_store(sums[i / 4][i % 4], out, columns,
                            ulong2(column + beside + i % 4 * 8, row + below + i / 4 * 8));
        }
    """,
)

Extent = tuple[int, int, int]


def _race(
    kernel: Callable[..., list[mx.array]],
    size: int,
    grid: Extent,
    threadgroup: Extent,
    dtype: type[np.floating] = np.float32,
    loops: bool = False,
) -> Callable[[np.random.Generator], Race]:
    """A product of square matrices; whatever their type, sums and result are float."""

    def prepare(random: np.random.Generator) -> Race:
        matrices = (random.standard_normal((size, size)).astype(dtype) for _ in range(2))
        (a, b), (aa, ab), (ta, tb) = shared(*matrices)
        single = dtype is np.float32
        out, product = aligned(size, size), torch.empty_like(ta)

        ours = launched(
            kernel,
            inputs=[a, b],
            template=[("T", a.dtype)],
            grid=grid,
            threadgroup=threadgroup,
            output_shapes=[(size, size)],
            output_dtypes=[mx.float32],
        )

        name = f"matmul_{np.dtype(dtype).name}"
        rivals = [
            Rival(CXX, "packed panels", native(name, aa, ab, size, size, size, out=out)),
        ]
        if single:
            rivals += [
                Rival(TORCH, "torch.mm(a, b, out=out)", lambda: torch.mm(ta, tb, out=product)),
                Rival(MLX, "a @ b", evaluated(lambda: a @ b)),
                Rival(NUMPY, "np.matmul(a, b, out)", lambda: np.matmul(aa, ab, out)),
            ]
        else:  # both are far slower on half as it is
            rivals += [
                Rival(TORCH, "a.float() @ b.float()", lambda: ta.float() @ tb.float()),
                Rival(
                    MLX,
                    "a.astype(float32) @ b.astype(float32)",
                    evaluated(lambda: a.astype(mx.float32) @ b.astype(mx.float32)),
                ),
            ]
        if loops:
            run = native("matmul_loops", aa, ab, size, size, size, out=out)
            rivals.append(Rival("C++, same loops", "vectors of columns, no blocks", run))
        return Race(
            ours,
            rivals,
            [aa.astype(np.float64) @ ab.astype(np.float64)],
            relative=1e-4,
            absolute=1e-3,
            bytes=2 * size**2 * np.dtype(dtype).itemsize + 4 * size**2,
            flops=2 * size**3,
        )

    return prepare


def _simdgroup_race(
    size: int, dtype: type[np.floating] = np.float32
) -> Callable[[np.random.Generator], Race]:
    return _race(_simdgroup, size, (128 * size // 64, size // 64, 1), (128, 1, 1), dtype)


ROWS = [
    Row(
        "matmul_naive",
        "512³ float32, a thread per element",
        _race(_naive, 512, (512, 512, 1), (32, 8, 1), loops=True),
    ),
    Row(
        "matmul_tiled",
        "512³ float32, tiles of 16 × 16 in threadgroup memory",
        _race(_tiled, 512, (512, 512, 1), (16, 16, 1)),
    ),
    Row("matmul_simdgroup_512", "512³ float32, simdgroup_matrix", _simdgroup_race(512)),
    Row("matmul_simdgroup_1024", "1024³ float32, simdgroup_matrix", _simdgroup_race(1024)),
    Row(
        "matmul_simdgroup_half_512",
        "512³ float16 with float32 sums, simdgroup_matrix",
        _simdgroup_race(512, np.float16),
    ),
    Row(
        "matmul_simdgroup_half_1024",
        "1024³ float16 with float32 sums, simdgroup_matrix",
        _simdgroup_race(1024, np.float16),
    ),
]
