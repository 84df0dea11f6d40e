"""grid_sample as a composition of MLX's operations, which MLX differentiates by itself."""

from __future__ import annotations

from typing import NamedTuple

import mlx.core as mx

from anymetal.nn.sampling_kernels import TAPS, Sampling


class _Tap(NamedTuple):
    """One of the pixels along an axis that each sample is made of."""

    pixel: mx.array  #: as whole floats, within the image
    inside: mx.array  #: whether it is one of the image, and does not count as zero
    weight: mx.array


def sample_with_ops(x: mx.array, grid: mx.array, sampling: Sampling) -> mx.array:
    """The samples of x (N, H, W, C) at grid (N, H', W', 2): (N, H', W', C) of x's dtype."""
    images, height, width, channels = x.shape
    points = grid.astype(mx.float32)
    across = _taps(points[..., 0], width, sampling)
    down = _taps(points[..., 1], height, sampling)
    pixels = x.astype(mx.float32).reshape(-1, channels)
    index = mx.int32 if len(pixels) < 2**31 else mx.int64
    first = mx.arange(images, dtype=index)[:, None, None] * (height * width)

    out = mx.zeros((*grid.shape[:3], channels))
    for y in down:
        row = first + y.pixel.astype(index) * width
        for x_ in across:
            value = pixels[row + x_.pixel.astype(index)]
            if sampling.padding_mode == "zeros":
                value = mx.where((y.inside & x_.inside)[..., None], value, 0)
            out = out + (y.weight * x_.weight)[..., None] * value
    return out.astype(x.dtype)


def _taps(coordinate: mx.array, size: int, sampling: Sampling) -> list[_Tap]:
    if sampling.align_corners:
        at = (coordinate + 1) * (0.5 * (size - 1))
    else:
        at = ((coordinate + 1) * size - 1) * 0.5
    if sampling.mode == "bicubic":
        # Pixels are padded one by one. Beyond the bounds nothing depends on where a point is.
        bound = 1e9 if sampling.padding_mode == "reflection" else size + 4.0
        at = mx.clip(mx.where(mx.isnan(at), -bound, at), -bound, bound)
        first = mx.floor(at)
        weights = _cubic_weights(at - first)
        places = [_folded(first + (k - 1), size, sampling) for k in range(TAPS["bicubic"])]
        return [_tap(place, size, w) for place, w in zip(places, weights, strict=True)]
    at = _folded(at, size, sampling)
    if sampling.mode == "nearest":
        return [_tap(mx.round(at), size, mx.ones_like(at))]
    first = mx.floor(at)
    rest = at - first
    return [_tap(first, size, 1 - rest), _tap(first + 1, size, rest)]


def _tap(pixel: mx.array, size: int, weight: mx.array) -> _Tap:
    pixel = mx.stop_gradient(pixel)
    return _Tap(mx.clip(pixel, 0, size - 1), (pixel >= 0) & (pixel < size), weight)


def _cubic_weights(t: mx.array) -> list[mx.array]:
    """Keys' cubic convolution with a = -3/4 at the distances 1 + t, t, 1 - t and 2 - t."""

    def near(d: mx.array) -> mx.array:
        return (1.25 * d - 2.25) * d * d + 1

    def far(d: mx.array) -> mx.array:
        return ((-0.75 * d + 3.75) * d - 6) * d + 3

    return [far(1 + t), near(t), near(1 - t), far(2 - t)]


def _folded(at: mx.array, size: int, sampling: Sampling) -> mx.array:
    """Positions brought into the image; those of "zeros" stay outside, but become finite."""
    if sampling.padding_mode == "zeros":
        return mx.clip(mx.where(mx.isnan(at), -4.0, at), -4.0, size + 3.0)
    if sampling.padding_mode == "reflection":
        low, span = (0.0, size - 1) if sampling.align_corners else (-0.5, size)
        if span == 0:
            return mx.zeros_like(at)
        distance = mx.abs(at - low)
        flips = mx.stop_gradient(mx.floor(distance / span))
        rest = distance - flips * span
        odd = flips - 2 * mx.floor(0.5 * flips) != 0
        at = mx.where(odd, span - rest, rest) + low
    return mx.clip(mx.where(mx.isnan(at), 0.0, at), 0, size - 1)
