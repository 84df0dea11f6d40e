"""grid_sample in double precision, by other means than the library's: no outside, no taps to pad.

Each axis goes on for ever in both directions, repeating its pixels as the padding says, and each
pixel of that line has the weight that the interpolation's kernel gives to its distance.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
COMBINATIONS = list(itertools.product(MODES, PADDINGS, (False, True)))


def reference(
    x: Array, grid: Array, mode: str = "bilinear", padding: str = "zeros", corners: bool = False
) -> Array:
    """The samples, for any float inputs."""
    x, grid = x.astype(np.float64), grid.astype(np.float64)
    n, h, w, _ = x.shape
    across = _weights(grid[..., 0].reshape(n, -1), w, mode, padding, corners)
    down = _weights(grid[..., 1].reshape(n, -1), h, mode, padding, corners)
    out = np.einsum("nsy,nsx,nyxc->nsc", down, across, x, optimize=True)
    return out.reshape(*grid.shape[:3], -1)


def _weights(coordinate: Array, size: int, mode: str, padding: str, corners: bool) -> Array:
    """(images, samples, pixels): how much of each pixel a sample takes."""
    at = (coordinate + 1) / 2 * (size - 1) if corners else (coordinate + 1) / 2 * size - 0.5
    weights = np.zeros((*at.shape, size + 1))  # the last one is for what counts as zero
    for offset in range(-2, 4):
        pixel = np.floor(at).astype(np.int64) + offset
        if mode == "nearest":
            weight = (pixel == np.rint(at)).astype(np.float64)
        else:
            weight = (_hat if mode == "bilinear" else _keys)(np.abs(at - pixel))
        place = _repeated(pixel, size, padding, corners)[..., None]
        before = np.take_along_axis(weights, place, -1)
        np.put_along_axis(weights, place, before + weight[..., None], -1)
    return weights[..., :-1]


def _repeated(pixel: Array, size: int, padding: str, corners: bool) -> Array:
    if padding == "zeros":
        return np.where((pixel >= 0) & (pixel < size), pixel, size)
    if padding == "border":
        return np.clip(pixel, 0, size - 1)
    if size == 1:
        return np.zeros_like(pixel)
    period = 2 * (size - 1) if corners else 2 * size
    rest = pixel % period
    return np.where(rest < size, rest, (period if corners else period - 1) - rest)


def _hat(d: Array) -> Array:
    return np.maximum(1 - d, 0)


def _keys(d: Array, a: float = -0.75) -> Array:
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def inputs(
    *sizes: int, seed: int = 0, reach: float = 1.6, clear_of: float = 0.02
) -> tuple[Array, Array, Array]:
    """x, grid and a cotangent for N, H, W, C, H', W'; points are partly outside of the image.

    They keep away from where derivatives jump, whatever the options: pixels, edges and the middle
    between pixels.
    """
    n, h, w, c, rows, columns = sizes
    random = np.random.default_rng(seed)
    x = random.standard_normal((n, h, w, c), dtype=np.float32)
    flow = random.standard_normal((n, rows, columns, c), dtype=np.float32)
    axes = []
    for size in (w, h):
        coordinate = random.uniform(-reach, reach, 40 * n * rows * columns)
        spans = [size, size - 1] if size > 1 else [size]
        twice = np.multiply.outer(spans, coordinate + 1)
        good = np.all(np.abs(twice - np.rint(twice)) > clear_of, axis=0)
        axes.append(coordinate[good][: n * rows * columns].reshape(n, rows, columns))
    return x, np.stack(axes, -1).astype(np.float32), flow
