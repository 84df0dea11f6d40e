"""Rows in which each result needs the one before: a prefix sum, a recurrent network."""

from __future__ import annotations

from typing import Any

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

# Three launches: sums of blocks, what comes before each block, and the sums inside of blocks.
_block_sums = anymetal.metal_kernel(
    name="bench_scan_sums",
    input_names=["x"],
    output_names=["sums"],
    source="""
        threadgroup int partial[8];
        int4 v = ((const device int4*)x)[thread_position_in_grid.x];
        int sum = metal::simd_sum(v.x + v.y + v.z + v.w);
        if (thread_index_in_simdgroup == 0) partial[simdgroup_index_in_threadgroup] = sum;
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        if (thread_position_in_threadgroup.x == 0) {
            int total = 0;
            for (uint g = 0; g < 8; ++g) total += partial[g];
            sums[threadgroup_position_in_grid.x] = total;
        }
    """,
)
_before_blocks = anymetal.metal_kernel(
    name="bench_scan_before",
    input_names=["sums"],
    output_names=["before"],
    source="""
        threadgroup int partial[32];
        uint t = thread_position_in_threadgroup.x, each = sums_shape[0] / 1024;
        int total = 0;
        for (uint k = 0; k < each; ++k) total += sums[t * each + k];
        int start = metal::simd_prefix_exclusive_sum(total);
        if (thread_index_in_simdgroup == 31) {
            partial[simdgroup_index_in_threadgroup] = start + total;
        }
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint lane = thread_index_in_simdgroup;
        start += metal::simd_sum(lane < simdgroup_index_in_threadgroup ? partial[lane] : 0);
        for (uint k = 0; k < each; ++k) {
            before[t * each + k] = start;
            start += sums[t * each + k];
        }
    """,
)
_scan_blocks = anymetal.metal_kernel(
    name="bench_scan_blocks",
    input_names=["x", "before"],
    output_names=["out"],
    source="""
        threadgroup int partial[8];
        uint i = thread_position_in_grid.x, group = simdgroup_index_in_threadgroup;
        int4 v = ((const device int4*)x)[i];
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        int start = metal::simd_prefix_exclusive_sum(v.w);
        if (thread_index_in_simdgroup == 31) partial[group] = start + v.w;
        threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        for (uint g = 0; g < group; ++g) start += partial[g];
        ((device int4*)out)[i] = v + (start + before[threadgroup_position_in_grid.x]);
    """,
)
# One SIMD-group a sequence, one lane a unit: its weights are in registers, the state in lanes.
_rnn = anymetal.metal_kernel(
    name="bench_rnn",
    input_names=["x", "weights"],
    output_names=["out"],
    source="""
        uint lane = thread_index_in_simdgroup, sequence = thread_position_in_grid.y;
        uint steps = x_shape[1];
        float mine[32];
        for (uint j = 0; j < 32; ++j) mine[j] = weights[lane * 32 + j];
        float state = 0;
        for (uint step = 0; step < steps; ++step) {
            uint i = (sequence * steps + step) * 32 + lane;
            float next = x[i];
            for (uint j = 0; j < 32; ++j) next += mine[j] * metal::simd_shuffle(state, j);
            state = metal::tanh(next);
            out[i] = state;
        }
    """,
)


def prefix_sum(random: np.random.Generator) -> Race:
    """Running totals of 16 M integers."""
    size = 1 << 24
    blocks = size // 1024
    x, array, tensor = shared(random.integers(0, 100, size, np.int32))
    out, t_out = aligned(size, dtype=np.int32), torch.empty_like(tensor)

    def ours() -> mx.array:
        (sums,) = _block_sums(
            inputs=[x],
            grid=(size // 4, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[(blocks,)],
            output_dtypes=[mx.int32],
        )
        (before,) = _before_blocks(
            inputs=[sums],
            grid=(1024, 1, 1),
            threadgroup=(1024, 1, 1),
            output_shapes=[(blocks,)],
            output_dtypes=[mx.int32],
        )
        (result,) = _scan_blocks(
            inputs=[x, before],
            grid=(size // 4, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[(size,)],
            output_dtypes=[mx.int32],
        )
        mx.eval(result)
        return result

    return Race(
        ours,
        [
            Rival(CXX, "sums of parts, then scans", native("prefix_sum", array, size, out=out)),
            Rival(
                TORCH,
                "cumsum(out=out)",
                lambda: torch.cumsum(tensor, 0, dtype=torch.int32, out=t_out),
            ),
            Rival(MLX, "mx.cumsum", evaluated(lambda: mx.cumsum(x))),
            Rival(NUMPY, "np.cumsum(out=out)", lambda: np.cumsum(array, out=out)),
        ],
        [np.cumsum(array, dtype=np.int64)],
        bytes=12 * size,
    )


def rnn(random: np.random.Generator) -> Race:
    """h = tanh(x + W h), for 256 steps of 512 sequences with 32 units."""
    sequences, steps, units = 512, 256, 32
    (x, weights), (ax, aweights), (tx, tweights) = shared(
        random.standard_normal((sequences, steps, units), dtype=np.float32),
        (random.standard_normal((units, units)) / units).astype(np.float32),
    )
    out = aligned(sequences, steps, units)

    ours = launched(
        _rnn,
        inputs=[x, weights],
        grid=(32, sequences, 1),
        threadgroup=(32, 4, 1),
        output_shapes=[x.shape],
        output_dtypes=[mx.float32],
    )

    def steps_of(library: Any, x: Any, weights: Any) -> list[Any]:
        turned, states = weights.T, []
        state = x[:, 0] * 0
        for step in range(steps):
            state = library.tanh(x[:, step] + state @ turned)
            states.append(state)
        return states

    def with_numpy(x: Array, weights: Array) -> Array:
        return np.stack(steps_of(np, x, weights), 1)

    return Race(
        ours,
        [
            Rival(
                CXX,
                "8 sequences at a time",
                native("rnn", ax, aweights, sequences, steps, out=out),
            ),
            Rival(TORCH, "operations", lambda: torch.stack(steps_of(torch, tx, tweights), 1)),
            Rival(MLX, "operations", evaluated(lambda: mx.stack(steps_of(mx, x, weights), axis=1))),
            Rival(NUMPY, "operations", lambda: with_numpy(ax, aweights)),
        ],
        [with_numpy(ax.astype(np.float64), aweights.astype(np.float64))],
        bytes=8 * sequences * steps * units,
        flops=2 * sequences * steps * units**2,
    )


ROWS = [
    Row("prefix_sum", "16 M int32, 3 launches", prefix_sum),
    Row("rnn", "512 sequences, 256 steps, 32 units, a SIMD-group a sequence", rnn),
]
