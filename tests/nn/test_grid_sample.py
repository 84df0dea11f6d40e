"""grid_sample and its gradients in all modes, against PyTorch and finite differences."""

from __future__ import annotations

import itertools
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from anymetal.nn import grid_sample
from anymetal.nn.sampling import PATHS
from tests.nn.sampling import COMBINATIONS, MODES, PADDINGS, Array, inputs, reference
from tests.pairwise import pairwise

#: Many channels are lanes, few are not. The atomic path differs in the gradient of x only.
CHECKED = [
    *((path, *rest, 45) for path in ("kernel", "mlx") for rest in COMBINATIONS),
    *(
        (path, mode, padding, False, 3)
        for path in ("kernel", "mlx")
        for mode, padding in itertools.product(MODES, PADDINGS)
    ),
    *(
        ("atomics", mode, padding, False, channels)
        for mode, padding in zip(MODES, PADDINGS, strict=True)
        for channels in (45, 3)
    ),
]

DTYPES = (mx.float32, mx.float16, mx.bfloat16)
_SLOW = pytest.mark.slow


def gradients(path: str | None, x: Array, grid: Array, flow: Array, *options: Any) -> list[Array]:
    """The samples and the gradients of x and grid, in double precision."""

    def sampled(x: mx.array, grid: mx.array) -> mx.array:
        return grid_sample(x, grid, *options, path=path)

    arrays = [mx.array(x), mx.array(grid)]
    outputs, slopes = mx.vjp(sampled, arrays, [mx.array(flow)])
    return [np.array(array.astype(mx.float32), np.float64) for array in (*outputs, *slopes)]


def off(got: Array, right: Array) -> float:
    """The largest error, in units of the largest value."""
    return float(np.abs(got - right).max() / max(np.abs(right).max(), 1e-30))


@pytest.mark.parametrize(("path", "mode", "padding", "corners", "channels"), pairwise(CHECKED))
def test_agrees_with_torch(
    path: str, mode: str, padding: str, corners: bool, channels: int
) -> None:
    torch = pytest.importorskip("torch")
    x, grid, flow = inputs(2, 7, 9, channels, 5, 11)
    on_torch = [torch.tensor(a, dtype=torch.float64) for a in (x, grid, flow)]
    image, points = on_torch[0].permute(0, 3, 1, 2).requires_grad_(), on_torch[1].requires_grad_()
    sampled = torch.nn.functional.grid_sample(image, points, mode, padding, corners)
    sampled.backward(on_torch[2].permute(0, 3, 1, 2))
    expected = [
        sampled.detach().permute(0, 2, 3, 1).numpy(),
        image.grad.permute(0, 2, 3, 1).numpy(),
        points.grad.numpy(),
    ]
    for got, right in zip(
        gradients(path, x, grid, flow, mode, padding, corners), expected, strict=True
    ):
        assert got.shape == right.shape
        assert off(got, right) < 3e-6


@pytest.mark.parametrize(("mode", "padding", "corners"), pairwise(COMBINATIONS))
def test_agrees_with_the_reference_and_its_finite_differences(
    mode: str, padding: str, corners: bool
) -> None:
    # More than 32 points: of the class of launches that most tests here have.
    x, grid, flow = inputs(2, 5, 6, 45, 5, 11, seed=1, reach=2.5)
    samples, x_grad, grid_grad = gradients(None, x, grid, flow, mode, padding, corners)

    def through(x: Array, grid: Array) -> Array:
        """What each point contributes to a scalar function of the samples."""
        return np.asarray((reference(x, grid, mode, padding, corners) * flow).sum(-1))

    assert off(samples, reference(x, grid, mode, padding, corners)) < 2e-6
    small = 1e-6
    wide = grid.astype(np.float64)
    for axis in (0, 1):
        step = small * np.eye(2)[axis]
        slope = (through(x, wide + step) - through(x, wide - step)) / (2 * small)
        assert off(grid_grad[..., axis], slope) < (1e-5 if mode != "nearest" else 1e-30)
    # The samples are linear in x: a difference of any size is exact.
    for n, i, j in itertools.product((0, 1), (0, 2, 4), (0, 3, 5)):
        more = x.astype(np.float64)
        more[n, i, j, 7] += 1
        right = (through(more, grid) - through(x, grid)).sum()
        assert x_grad[n, i, j, 7] == pytest.approx(right, rel=1e-5, abs=1e-4)


def _dtypes() -> list[Any]:
    """All combinations. Most kernels know one of the two dtypes, so that each is with one other by
    default; the rest counts as slow."""
    quick = list(zip(DTYPES, (*DTYPES[1:], DTYPES[0]), (2, 40, 40), strict=True))
    return [
        pytest.param(*row, id=" ".join(map(str, row)), marks=[] if row in quick else _SLOW)
        for row in itertools.product(DTYPES, DTYPES, (2, 40))
    ]


@pytest.mark.parametrize(("dtype", "grid_dtype", "channels"), _dtypes())
def test_half_precision_computes_in_float32(
    dtype: mx.Dtype, grid_dtype: mx.Dtype, channels: int
) -> None:
    x, grid, flow = inputs(1, 6, 5, channels, 9, 9, seed=2)
    images, points = mx.array(x).astype(dtype), mx.array(grid).astype(grid_dtype)
    slopes = mx.array(flow).astype(dtype)
    outputs, grads = mx.vjp(grid_sample, [images, points], [slopes])
    assert [a.dtype for a in (*outputs, *grads)] == [dtype, dtype, grid_dtype]
    rounded = [np.array(a.astype(mx.float32)) for a in (images, points, slopes)]
    exact = gradients("mlx", *rounded)
    for got, right in zip((*outputs, *grads), exact, strict=True):
        # One rounding of the result, which is that of its dtype.
        epsilon = {mx.float32: 1e-6, mx.float16: 2**-11, mx.bfloat16: 2**-8}[got.dtype]
        value = np.array(got.astype(mx.float32), np.float64)
        scale = np.abs(right).max()
        np.testing.assert_allclose(value, right, rtol=1.01 * epsilon, atol=2e-6 * scale)


def test_gradients_of_many_samples_in_one_pixel_add_up_in_float32() -> None:
    x = mx.ones((1, 2, 2, 32), mx.float16)
    grid = mx.broadcast_to(mx.array([-0.5, -0.5]), (1, 64, 64, 2))
    for path in ("kernel", "atomics"):
        total = mx.grad(lambda x, path=path: grid_sample(x, grid, path=path).sum())(x)
        assert total[0, 0, 0].tolist() == [4096] * 32  # in float16 2048 + 1 is 2048
        assert not mx.any(total.reshape(4, -1)[1:]).item()


@pytest.mark.parametrize("path", list(PATHS))
def test_nearest_takes_the_even_pixel_of_two(path: str) -> None:
    x = mx.arange(8.0).reshape(1, 1, 8, 1)
    between = (mx.arange(7.0) + 1) / 4 - 1  # halfway from one pixel's centre to the next one's
    grid = mx.stack([between, mx.zeros(7)], -1).reshape(1, 1, 7, 2)
    assert grid_sample(x, grid, "nearest", path=path).flatten().tolist() == [0, 2, 2, 4, 4, 6, 6]


def test_the_image_itself_comes_back_from_its_own_pixels() -> None:
    x, *_ = inputs(1, 9, 17, 3, 1, 1)
    rows, columns = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 17), indexing="ij")
    grid = mx.array(np.stack([columns, rows], -1)[None].astype(np.float32))
    for mode in MODES:
        got = grid_sample(mx.array(x), grid, mode, align_corners=True)
        np.testing.assert_allclose(np.array(got), x, rtol=1e-5, atol=1e-5)


def test_the_error_stays_below_the_documented_bound() -> None:
    height, width = 301, 517
    x, grid, _ = inputs(1, height, width, 3, 64, 64, seed=8, reach=1.0, clear_of=0.0)
    got = np.array(grid_sample(mx.array(x), mx.array(grid), padding_mode="border"), np.float64)
    error = np.abs(got - reference(x, grid, "bilinear", "border")).max()
    down, across = (np.abs(np.diff(x.astype(np.float64), axis=axis)).max() for axis in (1, 2))
    bound = 2**-24 * (2.5 * (width * across + height * down) + 8 * np.abs(x).max())
    assert bound / 100 < error < bound


@pytest.mark.parametrize("path", list(PATHS))
@pytest.mark.parametrize("axes", [(0, 0), (None, 1), (4, None)])
def test_batches(path: str, axes: tuple[int | None, int | None]) -> None:
    """Values and gradients under `mx.vmap`, beside calls one after the other."""
    x = mx.random.normal((2, 5, 6, 3), key=mx.random.key(1))
    grid = mx.random.uniform(-1.2, 1.2, (2, 4, 3, 2), key=mx.random.key(2))
    many = [x, grid]
    for place, axis in enumerate(axes):
        if axis is not None:
            many[place] = mx.stack([many[place] * scale for scale in (1, 0.5, -0.7)], axis=axis)

    def run(x, grid):
        sampled = grid_sample(x, grid, path=path)
        dx, dgrid = mx.grad(lambda *both: (grid_sample(*both, path=path) ** 2).sum(), (0, 1))(
            x, grid
        )
        return sampled, dx, dgrid

    found = mx.vmap(run, in_axes=axes)(*many)
    for element in range(3):
        alone = [a if axis is None else mx.take(a, element, axis=axis)
                 for a, axis in zip(many, axes, strict=True)]  # fmt: skip
        for together, one in zip(found, run(*alone), strict=True):
            assert np.allclose(np.array(together[element]), np.array(one), rtol=1e-5, atol=1e-5)
