"""Rows of grid_sample: bilinear samples of images with the channels last, and their gradients."""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx
import numpy as np
import torch

import anymetal
from benchmarks.harness import CXX, MLX, TORCH, Race, Rival, Row, evaluated, launched, shared
from benchmarks.rivals import aligned, native

IMAGE, POINTS = (4, 256, 256, 64), (4, 128, 128, 2)
_SAMPLES = (*POINTS[:3], IMAGE[3])
_TOUCHED = int(0.6 * 4 * math.prod(IMAGE))  #: bytes of the image that some sample needs

_HEADER = """
// The pixel to the upper left of a point, and how far the point is from it.
struct Place {
    int2 pixel;
    float2 rest;
};

inline Place place_of(const device float* points, uint sample, const constant int* shape) {
    float2 point = float2(points[2 * sample], points[2 * sample + 1]);
    float2 at = (point + 1.0f) * (0.5f * float2(shape[2], shape[1])) - 0.5f;
    float2 whole = metal::floor(at);
    return {int2(whole), at - whole};
}

inline bool is_inside(int2 pixel, const constant int* shape) {
    return pixel.x >= 0 && pixel.y >= 0 && pixel.x < shape[2] && pixel.y < shape[1];
}

inline uint first_channel(uint batch, int2 pixel, const constant int* shape) {
    return ((batch * shape[1] + pixel.y) * shape[2] + pixel.x) * shape[3];
}
"""
# A thread per channel of a sample.
_forward = anymetal.metal_kernel(
    name="bench_grid_sample",
    input_names=["image", "points", "samples"],
    output_names=["out"],
    header=_HEADER,
    source="""
        uint channel = thread_position_in_grid.x, sample = thread_position_in_grid.y;
        Place place = place_of(points, sample, image_shape);
        float sum = 0;
        for (int dy = 0; dy < 2; ++dy) {
            for (int dx = 0; dx < 2; ++dx) {
                int2 pixel = place.pixel + int2(dx, dy);
                if (is_inside(pixel, image_shape)) {
                    float2 near = metal::select(1 - place.rest, place.rest, bool2(dx, dy));
                    sum += near.x * near.y
                         * image[first_channel(sample / samples, pixel, image_shape) + channel];
                }
            }
        }
        out[sample * image_shape[3] + channel] = sum;
    """,
)
# A SIMD-group per sample. Samples share pixels: the gradient of the image is added up atomically.
_backward = anymetal.metal_kernel(
    name="bench_grid_sample_vjp",
    input_names=["image", "points", "samples", "flow"],
    output_names=["image_grad", "points_grad"],
    header=_HEADER,
    atomic_outputs=True,
    source="""
        uint lane = thread_index_in_simdgroup, sample = thread_position_in_grid.y;
        uint channels = image_shape[3];
        Place place = place_of(points, sample, image_shape);
        float2 slope = 0;
        for (int dy = 0; dy < 2; ++dy) {
            for (int dx = 0; dx < 2; ++dx) {
                int2 pixel = place.pixel + int2(dx, dy);
                if (!is_inside(pixel, image_shape)) continue;
                float2 near = metal::select(1 - place.rest, place.rest, bool2(dx, dy));
                float2 towards = float2(dx ? near.y : -near.y, dy ? near.x : -near.x);
                uint start = first_channel(sample / samples, pixel, image_shape);
                for (uint channel = lane; channel < channels; channel += 32) {
                    float part = flow[sample * channels + channel];
                    slope += towards * part * image[start + channel];
                    atomic_fetch_add_explicit(
                        &image_grad[start + channel], near.x * near.y * part, memory_order_relaxed);
                }
            }
        }
        slope.x = metal::simd_sum(slope.x) * 0.5f * image_shape[2];
        slope.y = metal::simd_sum(slope.y) * 0.5f * image_shape[1];
        if (lane == 0) {
            atomic_store_explicit(&points_grad[2 * sample], slope.x, memory_order_relaxed);
            atomic_store_explicit(&points_grad[2 * sample + 1], slope.y, memory_order_relaxed);
        }
    """,
)


def _inputs(random: np.random.Generator) -> Any:
    """Image, points and the cotangent of the samples."""
    return shared(
        random.standard_normal(IMAGE, dtype=np.float32),
        random.uniform(-1.1, 1.1, POINTS).astype(np.float32),
        random.standard_normal(_SAMPLES, dtype=np.float32),
    )


def grid_sample_ops(image: mx.array, points: mx.array) -> mx.array:
    """The samples by MLX's own operations, whose gradient MLX finds by itself."""
    batch, height, width, _ = image.shape
    x = (points[..., 0] + 1) * (width / 2) - 0.5
    y = (points[..., 1] + 1) * (height / 2) - 0.5
    left, top = mx.stop_gradient(mx.floor(x)), mx.stop_gradient(mx.floor(y))
    each = mx.arange(batch).reshape(-1, *[1] * (points.ndim - 2))
    total = mx.array(0.0)
    for dy in (0, 1):
        for dx in (0, 1):
            column, row = left + dx, top + dy
            weight = (1 - mx.abs(x - column)) * (1 - mx.abs(y - row))
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            weight = mx.where(inside, weight, 0)
            column = mx.clip(column, 0, width - 1).astype(mx.int32)
            row = mx.clip(row, 0, height - 1).astype(mx.int32)
            total = total + weight[..., None] * image[each, row, column]
    return total


def _channels_second(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's shape N, C, H, W of the same memory."""
    return x.permute(0, 3, 1, 2)


def forward(random: np.random.Generator) -> Race:
    """Samples."""
    (image, points, _), on_numpy, (t_image, t_points, _) = _inputs(random)
    out = aligned(*_SAMPLES)
    samples = math.prod(POINTS[1:3])

    ours = launched(
        _forward,
        inputs=[image, points, samples],
        grid=(IMAGE[3], POINTS[0] * samples, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[_SAMPLES],
        output_dtypes=[mx.float32],
    )

    def with_torch(image: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        result = torch.nn.functional.grid_sample(
            _channels_second(image), points, align_corners=False
        )
        return result.permute(0, 2, 3, 1)

    return Race(
        ours,
        [
            Rival(
                CXX,
                "vectors of channels",
                native("grid_sample", *on_numpy[:2], *IMAGE, samples, out=out),
            ),
            Rival(TORCH, "grid_sample, channels last", lambda: with_torch(t_image, t_points)),
            Rival(MLX, "operations", evaluated(grid_sample_ops, image, points)),
        ],
        [with_torch(t_image.double(), t_points.double()).numpy()],
        absolute=2e-4,
        bytes=_TOUCHED + 4 * math.prod(_SAMPLES) + 4 * math.prod(POINTS),
    )


def backward(random: np.random.Generator) -> Race:
    """Gradients of image and points, from those of the samples."""
    (image, points, flow), on_numpy, (t_image, t_points, t_flow) = _inputs(random)
    out = aligned(*IMAGE), aligned(*POINTS)
    samples = math.prod(POINTS[1:3])

    ours = launched(
        _backward,
        inputs=[image, points, samples, flow],
        grid=(32, POINTS[0] * samples, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[IMAGE, POINTS],
        output_dtypes=[mx.float32] * 2,
        init_value=0,
    )

    def with_torch(
        image: torch.Tensor, points: torch.Tensor, flow: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        image_grad, points_grad = torch.ops.aten.grid_sampler_2d_backward(
            _channels_second(flow), _channels_second(image), points, 0, 0, False, [True, True]
        )
        return image_grad.permute(0, 2, 3, 1), points_grad

    def with_mlx() -> list[mx.array]:
        return mx.vjp(grid_sample_ops, [image, points], [flow])[1]

    return Race(
        ours,
        [
            Rival(
                CXX,
                "a thread per image, no atomics",
                native("grid_sample_vjp", *on_numpy, *IMAGE, samples, out=out),
            ),
            Rival(
                TORCH,
                "grid_sampler_2d_backward",
                lambda: with_torch(t_image, t_points, t_flow),
            ),
            Rival(MLX, "mx.vjp of operations", evaluated(with_mlx)),
        ],
        [g.numpy() for g in with_torch(*(x.double() for x in (t_image, t_points, t_flow)))],
        relative=1e-3,
        absolute=2e-2,  # slopes are sums of thousands
        outliers=1e-3,  # and jump where a point lies on a pixel
        bytes=_TOUCHED + 4 * math.prod(IMAGE) + 4 * math.prod(_SAMPLES) + 8 * math.prod(POINTS),
    )


_TITLE = "4 images of 256 × 256 × 64 float32 at 4 × 128 × 128 points"

ROWS = [
    Row("grid_sample", _TITLE, forward),
    Row("grid_sample_vjp", f"both gradients, {_TITLE}", backward),
]
