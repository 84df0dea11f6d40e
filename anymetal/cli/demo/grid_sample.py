"""Bilinear sampling of images at arbitrary points, forward and backward, in two Metal kernels.

Images are (batch, height, width, channels); points are (batch, ..., 2) with x and y from -1 to 1
over the edges of the image; outside of it all is zero. The same as PyTorch's grid_sample with
`padding_mode="zeros", align_corners=False`, apart from the place of the channels.
"""

from __future__ import annotations

from typing import Any

import mlx.core as mx

import anymetal

_HEADER = """
// Where a point lies: the pixel to its upper left, and how far it is from that pixel.
struct Place {
    int2 pixel;
    float2 rest;
    float2 scale;  // pixels for one unit of the point
};

inline Place place_of(float2 point, const constant int* shape) {
    float2 scale = 0.5f * float2(shape[2], shape[1]);
    float2 at = (point + 1.0f) * scale - 0.5f;
    float2 whole = metal::floor(at);
    return {int2(whole), at - whole, scale};
}

inline bool is_inside(int2 pixel, const constant int* shape) {
    return pixel.x >= 0 && pixel.y >= 0 && pixel.x < shape[2] && pixel.y < shape[1];
}

// Index of the first channel of a pixel.
inline int64_t pixel_start(uint batch, int2 pixel, const constant int* shape) {
    return ((int64_t(batch) * shape[1] + pixel.y) * shape[2] + pixel.x) * shape[3];
}
"""

# One thread per channel of a sample: the lanes of a SIMD-group share the point and read channels
# that lie side by side.
_FORWARD = """
    uint channel = thread_position_in_grid.x, sample = thread_position_in_grid.y;
    uint batch = sample / samples;
    Place place = place_of(float2(points[2 * sample], points[2 * sample + 1]), image_shape);
    float sum = 0;
    for (int dy = 0; dy < 2; ++dy) {
        for (int dx = 0; dx < 2; ++dx) {
            int2 pixel = place.pixel + int2(dx, dy);
            if (is_inside(pixel, image_shape)) {
                float weight = (dx ? place.rest.x : 1 - place.rest.x)
                             * (dy ? place.rest.y : 1 - place.rest.y);
                sum += weight * image[pixel_start(batch, pixel, image_shape) + channel];
            }
        }
    }
    out[int64_t(sample) * image_shape[3] + channel] = sum;
"""

# One SIMD-group per sample. Samples may share pixels, hence the atomics; the gradient of a point
# belongs to one SIMD-group, which adds it up over its lanes.
_BACKWARD = """
    uint lane = thread_index_in_simdgroup, sample = thread_position_in_grid.y;
    uint batch = sample / samples;
    int channels = image_shape[3];
    Place place = place_of(float2(points[2 * sample], points[2 * sample + 1]), image_shape);
    float2 slope = 0;
    for (int dy = 0; dy < 2; ++dy) {
        for (int dx = 0; dx < 2; ++dx) {
            int2 pixel = place.pixel + int2(dx, dy);
            if (!is_inside(pixel, image_shape)) {
                continue;
            }
            float2 near = float2(dx ? place.rest.x : 1 - place.rest.x,
                                 dy ? place.rest.y : 1 - place.rest.y);
            float2 towards = float2(dx ? near.y : -near.y, dy ? near.x : -near.x);
            int64_t start = pixel_start(batch, pixel, image_shape);
            for (int channel = lane; channel < channels; channel += 32) {
                float flow = cotangent[int64_t(sample) * channels + channel];
                slope += towards * flow * image[start + channel];
                atomic_fetch_add_explicit(
                    &image_grad[start + channel], near.x * near.y * flow, memory_order_relaxed);
            }
        }
    }
    slope = place.scale * float2(simd_sum(slope.x), simd_sum(slope.y));
    if (lane == 0) {
        atomic_store_explicit(&points_grad[2 * sample], slope.x, memory_order_relaxed);
        atomic_store_explicit(&points_grad[2 * sample + 1], slope.y, memory_order_relaxed);
    }
"""

_forward = anymetal.metal_kernel(
    name="demo_grid_sample",
    input_names=["image", "points", "samples"],
    output_names=["out"],
    header=_HEADER,
    source=_FORWARD,
)
_backward = anymetal.metal_kernel(
    name="demo_grid_sample_vjp",
    input_names=["image", "points", "samples", "cotangent"],
    output_names=["image_grad", "points_grad"],
    header=_HEADER,
    source=_BACKWARD,
    atomic_outputs=True,
)


def _samples(points: mx.array) -> tuple[int, int]:
    """Points per image, and in all."""
    total = points.size // 2
    return total // points.shape[0], total


def _sample(image: mx.array, points: mx.array) -> mx.array:
    channels = image.shape[3]
    samples, total = _samples(points)
    (out,) = _forward(
        inputs=[image, points, samples],
        grid=(channels, total, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[(*points.shape[:-1], channels)],
        output_dtypes=[image.dtype],
    )
    return out


def _vjp(primals: Any, cotangent: mx.array, _: mx.array) -> list[mx.array]:
    image, points = primals
    samples, total = _samples(points)
    return _backward(
        inputs=[image, points, samples, cotangent],
        grid=(32, total, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[image.shape, points.shape],
        output_dtypes=[image.dtype, points.dtype],
        init_value=0,
    )


#: Takes image and points, returns the samples: (batch, ..., channels). MLX can differentiate it.
grid_sample: Any = mx.custom_function(_sample)
grid_sample.vjp(_vjp)


def grid_sample_ops(image: mx.array, points: mx.array) -> mx.array:
    """The same with MLX's own operations, whose gradient MLX finds by itself."""
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
