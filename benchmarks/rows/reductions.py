"""Rows in which the threads of a threadgroup add up: over rows of 4096 × 1024 numbers."""

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

ROWS_, COLUMNS = 4096, 1024

# A threadgroup has 8 SIMD-groups; their partial results meet in threadgroup memory.
_HEADER = """
constant constexpr uint GROUPS = 8;

inline float group_sum(float value, threadgroup float* partial, uint lane, uint simdgroup) {
    value = metal::simd_sum(value);
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);  // nobody reads the last ones any more
    if (lane == 0) partial[simdgroup] = value;
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    return metal::simd_sum(lane < GROUPS ? partial[lane] : 0.0f);
}

inline float2 group_sums(float2 value, threadgroup float2* partial, uint lane, uint simdgroup) {
    value = float2(metal::simd_sum(value.x), metal::simd_sum(value.y));
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0) partial[simdgroup] = value;
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    value = lane < GROUPS ? partial[lane] : 0.0f;
    return float2(metal::simd_sum(value.x), metal::simd_sum(value.y));
}

inline float group_max(float value, threadgroup float* partial, uint lane, uint simdgroup) {
    value = metal::simd_max(value);
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    if (lane == 0) partial[simdgroup] = value;
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    return metal::simd_max(lane < GROUPS ? partial[lane] : -INFINITY);
}
"""
# One threadgroup a row, four neighbours a thread.
_softmax = anymetal.metal_kernel(
    name="bench_softmax",
    input_names=["x"],
    output_names=["out"],
    header=_HEADER,
    source="""
        threadgroup float partial[GROUPS];
        uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
        uint i = threadgroup_position_in_grid.y * (COLUMNS / 4) + thread_position_in_threadgroup.x;
        float4 v = ((const device float4*)x)[i];
        float largest = metal::max(metal::max(v.x, v.y), metal::max(v.z, v.w));
        largest = group_max(largest, partial, lane, group);
        v = metal::exp(v - largest);
        float scale = 1 / group_sum(metal::dot(v, float4(1)), partial, lane, group);
        ((device float4*)out)[i] = v * scale;
    """,
)
# One SIMD-group a row; a lane holds every 32nd element.
_softmax_simd = anymetal.metal_kernel(
    name="bench_softmax_simd",
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
_rms_norm = anymetal.metal_kernel(
    name="bench_rms_norm",
    input_names=["x", "weight", "eps"],
    output_names=["out"],
    header=_HEADER,
    source="""
        threadgroup float partial[GROUPS];
        uint thread_x = thread_position_in_threadgroup.x;
        uint i = threadgroup_position_in_grid.y * 256 + thread_x;
        float4 v = ((const device float4*)x)[i];
        float total = group_sum(metal::dot(v, v), partial, thread_index_in_simdgroup,
                                simdgroup_index_in_threadgroup);
        float scale = metal::rsqrt(total / 1024 + eps);
        ((device float4*)out)[i] = v * scale * ((const device float4*)weight)[thread_x];
    """,
)
# A threadgroup takes 32 rows and keeps the gradients of its columns in registers.
_layer_norm_vjp = anymetal.metal_kernel(
    name="bench_layer_norm_vjp",
    input_names=["x", "weight", "mean", "scale", "flow"],
    output_names=["dx", "dweight", "dbias"],
    header=_HEADER,
    source="""
        threadgroup float2 partial[GROUPS];
        uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
        uint column = thread_position_in_threadgroup.x;
        float4 w = ((const device float4*)weight)[column];
        float4 sum_weight = 0, sum_bias = 0;
        for (uint k = 0; k < 32; ++k) {
            uint row = threadgroup_position_in_grid.y * 32 + k;
            uint i = row * 256 + column;
            float4 g = ((const device float4*)flow)[i];
            float4 normal = (((const device float4*)x)[i] - mean[row]) * scale[row];
            sum_weight += g * normal;
            sum_bias += g;
            float4 inner = g * w;
            float2 sums = float2(metal::dot(g, w), metal::dot(inner, normal));
            sums = group_sums(sums, partial, lane, group) / 1024;
            ((device float4*)dx)[i] = (inner - (sums.x + normal * sums.y)) * scale[row];
        }
        for (uint c = 0; c < 4; ++c) {
            atomic_fetch_add_explicit((device atomic_float*)dweight + column * 4 + c,
                                      sum_weight[c], memory_order_relaxed);
            atomic_fetch_add_explicit((device atomic_float*)dbias + column * 4 + c,
                                      sum_bias[c], memory_order_relaxed);
        }
    """,
)


def _normal(random: np.random.Generator, *shape: int) -> Array:
    return random.standard_normal(shape, dtype=np.float32)


def _softmax_of(x: Array) -> Array:
    e = np.exp(x - x.max(1, keepdims=True))
    return np.asarray(e / e.sum(1, keepdims=True))


def _softmax_race(random: np.random.Generator, in_one_simdgroup: bool) -> Race:
    x, array, tensor = shared(_normal(random, ROWS_, COLUMNS))
    out, tensor_out = aligned(ROWS_, COLUMNS), torch.empty_like(tensor)

    ours = launched(
        _softmax_simd if in_one_simdgroup else _softmax,
        inputs=[x],
        template=[("COLUMNS", COLUMNS)],
        grid=(32 if in_one_simdgroup else 256, ROWS_, 1),
        threadgroup=(32, 8, 1) if in_one_simdgroup else (256, 1, 1),
        output_shapes=[(ROWS_, COLUMNS)],
        output_dtypes=[mx.float32],
    )
    return Race(
        ours,
        [
            Rival(CXX, "a row in the first-level cache", native("softmax", array, ROWS_, out=out)),
            Rival(
                TORCH,
                "torch.softmax(x, 1, out=out)",
                lambda: torch.softmax(tensor, 1, out=tensor_out),
            ),
            Rival(MLX, "mx.softmax", evaluated(lambda: mx.softmax(x, axis=1))),
            Rival(NUMPY, "the formula", lambda: _softmax_of(array)),
        ],
        [_softmax_of(array.astype(np.float64))],
        absolute=1e-9,
        bytes=8 * ROWS_ * COLUMNS,
    )


def softmax(random: np.random.Generator) -> Race:
    """softmax of every row, a threadgroup each."""
    return _softmax_race(random, in_one_simdgroup=False)


def softmax_simd(random: np.random.Generator) -> Race:
    """softmax of every row, a SIMD-group each."""
    return _softmax_race(random, in_one_simdgroup=True)


def rms_norm(random: np.random.Generator) -> Race:
    """RMSNorm of every row, a threadgroup each."""
    (x, weight), (ax, aweight), (tx, tweight) = shared(
        _normal(random, ROWS_, COLUMNS), _normal(random, COLUMNS)
    )
    eps = 1e-5
    out = aligned(ROWS_, COLUMNS)

    ours = launched(
        _rms_norm,
        inputs=[x, weight, eps],
        grid=(256, ROWS_, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[mx.float32],
    )

    def formula(v: Array, w: Array) -> Array:
        scale = 1 / np.sqrt(np.mean(v * v, axis=1, keepdims=True) + v.dtype.type(eps))
        return np.asarray(v * scale * w)

    return Race(
        ours,
        [
            Rival(
                CXX, "two passes over a row", native("rms_norm", ax, aweight, eps, ROWS_, out=out)
            ),
            Rival(TORCH, "rms_norm", lambda: torch.rms_norm(tx, (COLUMNS,), tweight, eps)),
            Rival(MLX, "mx.fast.rms_norm", evaluated(lambda: mx.fast.rms_norm(x, weight, eps))),
            Rival(NUMPY, "the formula", lambda: formula(ax, aweight)),
        ],
        [formula(ax.astype(np.float64), aweight.astype(np.float64))],
        bytes=8 * ROWS_ * COLUMNS,
    )


def layer_norm_vjp(random: np.random.Generator) -> Race:
    """Gradients of layer norm; those of weight and bias are added up with atomics."""
    first, weights = _normal(random, ROWS_, COLUMNS), _normal(random, COLUMNS)
    mean = first.mean(1, dtype=np.float64)
    scale = 1 / np.sqrt(first.var(1, dtype=np.float64) + 1e-5)
    means, scales = mean.astype(np.float32), scale.astype(np.float32)
    on_mlx, on_numpy, on_torch = shared(
        first, weights, means, scales, _normal(random, ROWS_, COLUMNS)
    )
    tx, tweight, tmean, tscale, tflow = on_torch
    bias = torch.zeros(COLUMNS)
    out = aligned(ROWS_, COLUMNS), aligned(COLUMNS), aligned(COLUMNS)

    ours = launched(
        _layer_norm_vjp,
        inputs=list(on_mlx),
        grid=(256, ROWS_ // 32, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(ROWS_, COLUMNS), (COLUMNS,), (COLUMNS,)],
        output_dtypes=[mx.float32] * 3,
        init_value=0,
    )

    def with_torch() -> tuple[torch.Tensor, ...]:
        results: tuple[torch.Tensor, ...] = torch.ops.aten.native_layer_norm_backward(
            tflow, tx, [COLUMNS], tmean[:, None], tscale[:, None], tweight, bias, [True] * 3
        )
        return results

    def with_mlx() -> list[mx.array]:
        x, weight, _, _, flow = on_mlx

        def forward(x: mx.array, weight: mx.array, bias: mx.array) -> mx.array:
            return mx.fast.layer_norm(x, weight, bias, 1e-5)

        return mx.vjp(forward, [x, weight, mx.zeros_like(weight)], [flow])[1]

    def formula(x: Array, weight: Array, mean: Array, scale: Array, flow: Array) -> list[Array]:
        normal = (x - mean[:, None]) * scale[:, None]
        inner = flow * weight
        a, b = inner.mean(1, keepdims=True), (inner * normal).mean(1, keepdims=True)
        dx = (inner - a - normal * b) * scale[:, None]
        return [dx, (flow * normal).sum(0), flow.sum(0)]

    return Race(
        ours,
        [
            Rival(
                CXX,
                "sums of weight and bias per thread",
                native("layer_norm_vjp", *on_numpy, ROWS_, out=out),
            ),
            Rival(TORCH, "native_layer_norm_backward", with_torch),
            Rival(MLX, "mx.vjp of mx.fast.layer_norm", evaluated(with_mlx)),
            Rival(NUMPY, "the formula", lambda: formula(*on_numpy)),
        ],
        formula(*(a.astype(np.float64) for a in on_numpy)),
        relative=1e-4,
        absolute=1e-3,
        bytes=12 * ROWS_ * COLUMNS,
    )


ROWS = [
    Row("softmax", "4096 × 1024 float32, a threadgroup a row", softmax),
    Row("softmax_simd", "4096 × 1024 float32, a SIMD-group a row", softmax_simd),
    Row("rms_norm", "4096 × 1024 float32, a threadgroup a row", rms_norm),
    Row("layer_norm_vjp", "4096 × 1024 float32, atomics for weight and bias", layer_norm_vjp),
]
