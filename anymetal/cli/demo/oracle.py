"""What the demo's kernels should give: in float64, with NumPy, by other means than the kernels."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sampled(image: mx.array, points: mx.array, flow: mx.array) -> tuple[Array, Array, Array]:
    """grid_sample and both its gradients, from the definition: every pixel has a weight.

    Bilinear weights are products of two hat functions, which vanish beyond one pixel; no pixel is
    looked up, so nothing can be looked up wrongly.
    """
    picture, where, back = (np.array(a, dtype=np.float64) for a in (image, points, flow))
    batch, height, width, channels = picture.shape
    where, back = where.reshape(batch, -1, 2), back.reshape(batch, -1, channels)
    wx, slope_x = _hats(where[..., 0], width)
    wy, slope_y = _hats(where[..., 1], height)

    def contract(formula: str, *arrays: Array) -> Array:
        return np.asarray(np.einsum(formula, *arrays, optimize=True))

    samples = contract("bpi,bpj,bijc->bpc", wy, wx, picture)
    picture_gradient = contract("bpi,bpj,bpc->bijc", wy, wx, back)
    along_x = contract("bpi,bpj,bijc,bpc->bp", wy, slope_x, picture, back)
    along_y = contract("bpi,bpj,bijc,bpc->bp", slope_y, wx, picture, back)
    points_gradient = np.stack([along_x, along_y], axis=-1)
    return samples.reshape(flow.shape), picture_gradient, points_gradient.reshape(points.shape)


def _hats(coordinate: Array, size: int) -> tuple[Array, Array]:
    """The weight of each of `size` pixels along one axis, and its derivative by the coordinate."""
    offset = ((coordinate + 1) * size - 1)[..., None] / 2 - np.arange(size)
    near = np.abs(offset) < 1
    return near * (1 - np.abs(offset)), near * -np.sign(offset) * size / 2


def distance(got: mx.array, expected: Array) -> float:
    """The largest difference, relative to the largest expected value."""
    error = np.abs(np.array(got, dtype=np.float64) - expected).max()
    return float(error / np.abs(expected).max())
