"""Rows of language models: weights of 4 bits, attention."""

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

# All rows need the same vector, so a threadgroup of 64 rows has it in its memory: the k-th numbers
# of all words side by side, so that lanes find theirs in banks of their own. As in MLX's own
# kernels, weights stay where they are in 16 bits, and the vector is divided by what that makes of
# them. Biases need its sums over groups only. A SIMD-group takes every eighth row.
_quantised = anymetal.metal_kernel(
    name="bench_quantised",
    input_names=["words", "scales", "biases", "x"],
    output_names=["out"],
    source="""
        constexpr uint WORDS = COLUMNS / 8, GROUPS = COLUMNS / 64, ROWS = 64;
        threadgroup float planes[8 * WORDS], totals[GROUPS];
        uint lane = thread_index_in_simdgroup, threads = 32 * simdgroups_per_threadgroup;
        for (uint at = thread_index_in_threadgroup; at < WORDS; at += threads) {
            float total = 0;
            for (uint k = 0; k < 8; ++k) {
                float v = x[at * 8 + k];
                total += v;
                planes[k * WORDS + at] = v / float(1 << (k % 4 * 4));
            }
            for (uint other = 1; other < 8; other *= 2) {
                total += metal::simd_shuffle_xor(total, other);
            }
            if (at % 8 == 0) totals[at / 8] = total;
        }
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint first = threadgroup_position_in_grid.y * ROWS + simdgroup_index_in_threadgroup;
        for (uint r = 0; r < ROWS; r += simdgroups_per_threadgroup) {
            uint row = first + r;
            float sum = 0;
            for (uint g = lane; g < GROUPS; g += 32) sum += biases[row * GROUPS + g] * totals[g];
            for (uint at = lane; at < WORDS; at += 32) {
                uint packed = words[row * WORDS + at];
                float product = 0;
                for (uint k = 0; k < 8; ++k) {
                    uint weight = packed >> (k / 4 * 16) & (15 << (k % 4 * 4));
                    product += planes[k * WORDS + at] * float(weight);
                }
                sum += scales[row * GROUPS + at / 8] * product;
            }
            sum = metal::simd_sum(sum);
            if (lane == 0) out[row] = sum;
        }
    """,
)
# A thread has one query; tiles of keys and values lie in threadgroup memory.
_attention = anymetal.metal_kernel(
    name="bench_attention",
    input_names=["q", "k", "v"],
    output_names=["out"],
    source="""
        constexpr uint SIZE = 64, TILE = 32;
        threadgroup float keys[TILE * SIZE], values[TILE * SIZE];
        uint thread_x = thread_position_in_threadgroup.x, head = threadgroup_position_in_grid.y;
        uint threads = threads_per_threadgroup.x, count = k_shape[1];
        const device float* query = q + (head * threads + thread_x) * SIZE;
        float mine[SIZE], sum[SIZE] = {};
        for (uint d = 0; d < SIZE; ++d) mine[d] = query[d] * 0.125f;
        float top = -INFINITY, total = 0;
        for (uint start = 0; start < count; start += TILE) {
            threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            for (uint i = thread_x; i < TILE * SIZE; i += threads) {
                keys[i] = k[(head * count + start) * SIZE + i];
                values[i] = v[(head * count + start) * SIZE + i];
            }
            threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            float scores[TILE], best = top;
            for (uint j = 0; j < TILE; ++j) {
                float score = 0;
                for (uint d = 0; d < SIZE; ++d) score += mine[d] * keys[j * SIZE + d];
                scores[j] = score;
                best = metal::max(best, score);
            }
            float shrink = metal::exp(top - best);
            top = best;
            total *= shrink;
            for (uint d = 0; d < SIZE; ++d) sum[d] *= shrink;
            for (uint j = 0; j < TILE; ++j) {
                float weight = metal::exp(scores[j] - top);
                total += weight;
                for (uint d = 0; d < SIZE; ++d) sum[d] += weight * values[j * SIZE + d];
            }
        }
        device float* to = out + (head * threads + thread_x) * SIZE;
        for (uint d = 0; d < SIZE; ++d) to[d] = sum[d] / total;
    """,
)


def quantised(random: np.random.Generator) -> Race:
    """A matrix of 4-bit weights, 64 of which share scale and bias, times a vector."""
    rows = columns = 4096
    matrix = mx.array(random.standard_normal((rows, columns), dtype=np.float32))
    packed = [np.array(part) for part in mx.quantize(matrix, group_size=64, bits=4)]
    vector = random.standard_normal(columns, dtype=np.float32)
    on_mlx, on_numpy, _ = shared(*packed, vector)
    words, scales, biases, x = on_mlx
    dense = np.array(mx.dequantize(words, scales, biases, group_size=64, bits=4))
    t_dense, t_x = torch.from_numpy(dense), torch.from_numpy(vector)
    out, t_out = aligned(rows), torch.empty(rows)

    ours = launched(
        _quantised,
        inputs=list(on_mlx),
        template=[("COLUMNS", columns)],
        grid=(32, rows // 8, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[(rows,)],
        output_dtypes=[mx.float32],
    )

    def with_mlx() -> mx.array:
        return mx.quantized_matmul(x[None], words, scales, biases, group_size=64, bits=4)[0]

    # The oracle unpacks the words itself.
    nibbles = (packed[0][:, :, None] >> (4 * np.arange(8, dtype=np.uint32))) & 15
    weights = nibbles.reshape(rows, -1, 64).astype(np.float64)
    weights = weights * packed[1][:, :, None] + packed[2][:, :, None]
    return Race(
        ours,
        [
            Rival(
                CXX,
                "weights by shifts, vector in their order",
                native("quantised", *on_numpy, rows, columns, out=out),
            ),
            Rival(MLX, "mx.quantized_matmul", evaluated(with_mlx)),
            Rival("PyTorch, not quantised", "torch.mv", lambda: torch.mv(t_dense, t_x, out=t_out)),
        ],
        [weights.reshape(rows, columns) @ vector.astype(np.float64)],
        relative=1e-4,
        absolute=2e-3,
        bytes=sum(part.nbytes for part in packed),
        flops=2 * rows * columns,
    )


def attention(random: np.random.Generator) -> Race:
    """softmax(q kᵀ / 8) v for a block of 64 queries of each head."""
    heads, queries, keys, size = 16, 64, 2048, 64
    (q, k, v), on_numpy, (tq, tk, tv) = shared(
        *(
            random.standard_normal((heads, count, size), dtype=np.float32)
            for count in (queries, keys, keys)
        )
    )
    out = aligned(heads, queries, size)

    ours = launched(
        _attention,
        inputs=[q, k, v],
        grid=(queries, heads, 1),
        threadgroup=(queries, 1, 1),
        output_shapes=[q.shape],
        output_dtypes=[mx.float32],
    )

    def with_mlx() -> mx.array:
        return mx.fast.scaled_dot_product_attention(q[None], k[None], v[None], scale=0.125)[0]

    def formula(q: Array, k: Array, v: Array) -> Array:
        scores = q @ k.transpose(0, 2, 1) * q.dtype.type(0.125)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.asarray(weights @ v / weights.sum(-1, keepdims=True))

    return Race(
        ours,
        [
            Rival(
                CXX,
                "queries as lanes, blocks in registers",
                native("attention", *on_numpy, heads, queries, keys, out=out),
            ),
            Rival(
                TORCH,
                "scaled_dot_product_attention",
                lambda: torch.nn.functional.scaled_dot_product_attention(
                    tq[None], tk[None], tv[None]
                )[0],
            ),
            Rival(MLX, "mx.fast.scaled_dot_product_attention", evaluated(with_mlx)),
            Rival(NUMPY, "the formula", lambda: formula(*on_numpy)),
        ],
        [formula(*(x.astype(np.float64) for x in on_numpy))],
        relative=1e-4,
        absolute=1e-5,
        bytes=sum(x.nbytes for x in on_numpy) + on_numpy[0].nbytes,
        flops=4 * heads * queries * keys * size,
    )


ROWS = [
    Row("quantised", "4096 × 4096 weights of 4 bits times a vector", quantised),
    Row("attention", "16 heads, 64 queries, 2048 keys, 64 channels", attention),
]
