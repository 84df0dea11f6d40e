"""The forward kernel of grid_sample out of MLX's documentation, as it stands there.

It loads all four pixels around a point and drops afterwards those outside of the image. Here the
image lies between fences: a load outside of it is a fault every time.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from anymetal.testing.fenced import Array, run_fenced
from tests.frontend.kernels import kernel_source

_SOURCE = """
    uint elem = thread_position_in_grid.x;
    int H = x_shape[1];
    int W = x_shape[2];
    int C = x_shape[3];
    int gH = grid_shape[1];
    int gW = grid_shape[2];

    int w_stride = C;
    int h_stride = W * w_stride;
    int b_stride = H * h_stride;

    uint grid_idx = elem / C * 2;
    float ix = ((grid[grid_idx] + 1) * W - 1) / 2;
    float iy = ((grid[grid_idx + 1] + 1) * H - 1) / 2;

    int ix_nw = floor(ix);
    int iy_nw = floor(iy);

    int ix_ne = ix_nw + 1;
    int iy_ne = iy_nw;

    int ix_sw = ix_nw;
    int iy_sw = iy_nw + 1;

    int ix_se = ix_nw + 1;
    int iy_se = iy_nw + 1;

    T nw = (ix_se - ix)    * (iy_se - iy);
    T ne = (ix    - ix_sw) * (iy_sw - iy);
    T sw = (ix_ne - ix)    * (iy    - iy_ne);
    T se = (ix    - ix_nw) * (iy    - iy_nw);

    int batch_idx = elem / C / gH / gW * b_stride;
    int channel_idx = elem % C;
    int base_idx = batch_idx + channel_idx;

    T I_nw = x[base_idx + iy_nw * h_stride + ix_nw * w_stride];
    T I_ne = x[base_idx + iy_ne * h_stride + ix_ne * w_stride];
    T I_sw = x[base_idx + iy_sw * h_stride + ix_sw * w_stride];
    T I_se = x[base_idx + iy_se * h_stride + ix_se * w_stride];

    I_nw = iy_nw >= 0 && iy_nw <= H - 1 && ix_nw >= 0 && ix_nw <= W - 1 ? I_nw : 0;
    I_ne = iy_ne >= 0 && iy_ne <= H - 1 && ix_ne >= 0 && ix_ne <= W - 1 ? I_ne : 0;
    I_sw = iy_sw >= 0 && iy_sw <= H - 1 && ix_sw >= 0 && ix_sw <= W - 1 ? I_sw : 0;
    I_se = iy_se >= 0 && iy_se <= H - 1 && ix_se >= 0 && ix_se <= W - 1 ? I_se : 0;

    out[elem] = nw * I_nw + ne * I_ne + sw * I_sw + se * I_se;
"""
#: Of a dtype: the error of one rounding.
_EPSILON = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def _rounded(values: Array, dtype: str) -> tuple[Array, Array]:
    """Numbers of the dtype, as they lie in memory and as doubles."""
    array = mx.array(values.astype(np.float32)).astype(getattr(mx, dtype))
    if dtype == "bfloat16":
        return np.array(array.view(mx.uint16)), np.array(array.astype(mx.float32), np.float64)
    return np.array(array), np.array(array, np.float64)


def _sampled(x: Array, grid: Array) -> tuple[Array, Array]:
    """Samples of the image, by the definition in double precision, and those of its magnitudes."""
    batch, height, width, channels = x.shape
    column = ((grid[..., 0] + 1) * width - 1) / 2
    row = ((grid[..., 1] + 1) * height - 1) / 2
    total = np.zeros((*grid.shape[:3], channels))
    bound = np.zeros_like(total)
    image = np.arange(batch)[:, None, None]
    for dr in (0, 1):
        for dc in (0, 1):
            r, c = np.floor(row).astype(int) + dr, np.floor(column).astype(int) + dc
            weight = (1 - abs(row - r)) * (1 - abs(column - c))
            inside = (r >= 0) & (r < height) & (c >= 0) & (c < width)
            pixel = x[image, np.clip(r, 0, height - 1), np.clip(c, 0, width - 1)]
            total += (weight * inside)[..., None] * pixel
            bound += inside[..., None] * abs(pixel)
    return total, bound


def _check(dtype: str, seed: int, size: tuple[int, ...], points: tuple[int, int]) -> None:
    random = np.random.default_rng(seed)
    words, x = _rounded(random.standard_normal(size), dtype)
    # Not the dtype of the image: the kernel computes places in float.
    grid = random.uniform(-1.5, 1.5, (size[0], *points, 2)).astype(np.float32)
    types = {"x": mx.zeros(size, getattr(mx, dtype)), "grid": mx.zeros(grid.shape)}
    source = kernel_source(
        _SOURCE,
        inputs=types,
        outputs={"out": getattr(mx, dtype)},
        template=[("T", getattr(mx, dtype))],
    )
    shape = (size[0], *points, size[3])
    threads = int(np.prod(shape))
    start = np.zeros(shape, words.dtype)
    found = run_fenced(source, [words, grid], start, (threads, 1, 1), (256, 1, 1))
    if dtype == "bfloat16":
        found = np.array(mx.array(found).view(mx.bfloat16).astype(mx.float32))
    expected, bound = _sampled(x, grid.astype(np.float64))
    # Each weight, product and sum is rounded; places are computed in float.
    places = 2.0**-24 * 8 * max(size[1:3])
    error = np.abs(found.astype(np.float64) - expected)
    assert np.all(error <= (6 * _EPSILON[dtype] + places) * bound + 1e-6)


@pytest.mark.parametrize("dtype", _EPSILON)
@pytest.mark.parametrize("size", [(2, 64, 64, 32), (1, 9, 12, 5)])
def test_it_loads_nothing_outside_of_the_image(dtype: str, size: tuple[int, ...]) -> None:
    for seed in range(4):
        _check(dtype, seed, size, (17, 9))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", _EPSILON)
def test_a_thousand_runs(dtype: str) -> None:
    for seed in range(334):
        _check(dtype, seed, (2, 64, 64, 32), (40, 40))
        _check(dtype, seed, (1, 1 + seed % 17, 1 + seed % 13, 1 + seed % 40), (8, 8))
        _check(dtype, seed, (3, 20, 20, 64), (8, 8))
