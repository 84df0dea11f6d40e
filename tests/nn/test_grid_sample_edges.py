"""grid_sample where it gets narrow: sizes, values of the grid, errors, paths, and in training."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
import pytest

from anymetal.errors import DtypeError
from anymetal.nn import grid_sample
from anymetal.nn.sampling import PATHS
from tests.nn.sampling import MODES, PADDINGS, inputs, reference
from tests.pairwise import pairwise


def vjp(path: str | None, x: Any, grid: Any, flow: Any, *options: Any) -> list[Any]:
    """Samples and gradients."""

    def sampled(x: mx.array, grid: mx.array) -> mx.array:
        return grid_sample(x, grid, *options, path=path)

    outputs, slopes = mx.vjp(sampled, [mx.array(x), mx.array(grid)], [mx.array(flow)])
    return [np.array(array) for array in (*outputs, *slopes)]


# Sizes


@pytest.mark.parametrize(
    "sizes",
    [
        (1, 1, 1, 1, 1, 1),
        (3, 1, 9, 2, 1, 40),
        (2, 13, 1, 16, 7, 1),
        pytest.param((1, 3, 3, 31, 2, 2), marks=pytest.mark.slow),
        (1, 3, 3, 32, 2, 2),
        (5, 2, 3, 33, 1, 1),
        pytest.param((1, 4, 4, 129, 3, 5), marks=pytest.mark.slow),
        (1, 4, 4, 300, 3, 5),
        (1, 37, 53, 7, 61, 29),
    ],
    ids=str,
)
def test_sizes(sizes: tuple[int, ...]) -> None:
    x, grid, flow = inputs(*sizes, seed=3, reach=1.2, clear_of=0.001)
    expected = vjp("mlx", x, grid, flow)
    np.testing.assert_allclose(expected[0], reference(x, grid), rtol=1e-4, atol=1e-4)
    for path in ("kernel", "atomics"):
        for got, right in zip(vjp(path, x, grid, flow), expected, strict=True):
            scale = np.abs(right).max()
            np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5 * scale)


@pytest.mark.parametrize("path", list(PATHS))
@pytest.mark.parametrize(
    ("x", "grid"),
    [
        ((0, 4, 5, 3), (0, 2, 2, 2)),
        ((2, 4, 5, 0), (2, 2, 2, 2)),
        ((2, 4, 5, 3), (2, 0, 2, 2)),
        ((2, 4, 5, 40), (2, 2, 0, 2)),
    ],
)
def test_without_elements(path: str, x: tuple[int, ...], grid: tuple[int, ...]) -> None:
    shape = (*grid[:3], x[3])
    samples, x_grad, grid_grad = vjp(path, mx.ones(x), mx.ones(grid), mx.ones(shape))
    assert samples.shape == shape
    assert x_grad.shape == x and not x_grad.any()
    assert grid_grad.shape == grid and not grid_grad.any()


def test_arrays_that_are_not_contiguous() -> None:
    x, grid, flow = inputs(2, 6, 7, 20, 4, 5, seed=4, reach=1.1)
    second = mx.array(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)
    points = mx.array(np.flip(grid, (1, -1)).copy())[:, ::-1, :, ::-1]
    for got, right in zip(vjp(None, second, points, flow), vjp(None, x, grid, flow), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)


def free_memory() -> int:
    """Bytes that can be had; none on systems that do not tell in this way."""
    table = Path("/proc/meminfo")
    lines = table.read_text().splitlines() if table.exists() else []
    found = [line for line in lines if line.startswith("MemAvailable:")]
    return int(found[0].split()[1]) * 1024 if found else 0


@pytest.mark.slow
@pytest.mark.skipif(free_memory() < 15e9, reason="needs 15 GB of memory")
@pytest.mark.parametrize("path", ["kernel", "atomics"])
def test_images_with_more_elements_than_32_bits_count(path: str) -> None:
    side, channels = (11600, 16) if path == "kernel" else (23200, 4)
    assert side * side * channels > 2**31
    corner = mx.concatenate([mx.zeros((side - 1,)), mx.ones((1,))]).astype(mx.float16)
    x = mx.broadcast_to((corner[:, None] * corner)[None, ..., None], (1, side, side, channels))
    last = 1 - 1 / side  # the centre of the last pixel
    grid = mx.array([[last, last], [0.0, 0.0]]).reshape(1, 1, 2, 2)
    assert grid_sample(x, grid, path=path).sum(-1).tolist() == [[[channels, 0]]]
    if path == "atomics":
        return  # its gradient alone would take 8 GB and more

    def total(x: mx.array) -> mx.array:
        return grid_sample(x, grid, path=path).astype(mx.float32).sum()

    gradient = mx.grad(total)(x)
    assert gradient[0, -1, -1].tolist() == [1] * channels
    assert gradient[0, 0].astype(mx.float32).sum().item() == 0


# Values of the grid

STRANGE = [math.nan, math.inf, -math.inf, 1e30, -1e30, 3e9, -3e9, 1e5, -1e5, 1e-45]


@pytest.mark.parametrize(
    ("mode", "padding", "channels"), pairwise(itertools.product(MODES, PADDINGS, (2, 40)))
)
def test_any_value_of_the_grid(mode: str, padding: str, channels: int) -> None:
    values = [*STRANGE, 0.3]
    grid = np.array([[x, y] for x in values for y in values], np.float32)
    grid = np.tile(grid.reshape(1, len(values), -1, 2), (2, 1, 1, 1))
    x = np.random.default_rng(0).uniform(1, 2, (2, 6, 5, channels)).astype(np.float32)
    flow = np.ones((*grid.shape[:3], channels), np.float32)
    for path in ("kernel", "mlx"):  # "kernel" adds atomically if there are 2 channels
        samples, x_grad, grid_grad = vjp(path, x, grid, flow, mode, padding)
        assert np.isfinite(x_grad).all() and np.isfinite(grid_grad).all()
        if padding == "zeros":
            # Only both coordinates within the image give something.
            inside = (np.abs(grid) < 1).all(-1)
            assert (samples[inside] > 0.5).all() and not samples[~inside].any()
            assert not grid_grad[~inside].any()
        else:
            reach = 0.6 if mode == "bicubic" else 0  # which overshoots
            assert (samples >= 1 - reach).all() and (samples <= 2 + reach).all()
        # Every sample takes 1 of each channel in all.
        counted = np.count_nonzero((np.abs(grid) < 1).all(-1)) if padding == "zeros" else flow.size
        total = counted * (channels if padding == "zeros" else 1)
        assert x_grad.sum() == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("path", list(PATHS))
def test_infinity_is_the_border_and_nan_is_pixel_0(path: str) -> None:
    x = mx.arange(12.0).reshape(1, 3, 4, 1)
    points = [[math.inf, math.inf], [-math.inf, 1e30], [math.nan, math.nan], [1e30, -math.inf]]
    grid = mx.array(points).reshape(1, 1, 4, 2)
    samples = grid_sample(x, grid, padding_mode="border", path=path)
    assert samples.flatten().tolist() == [11, 8, 0, 3]


@pytest.mark.parametrize("path", list(PATHS))
@pytest.mark.parametrize("mode", MODES)
def test_pixels_outside_do_not_leak_into_samples(mode: str, path: str) -> None:
    x = np.ones((1, 4, 4, 20), np.float32)
    x[0, 0], x[0, :, -1] = np.nan, np.inf
    grid = np.array([[-1.9, -1.9], [1.9, 0], [0, -1.9], [9, 9]], np.float32).reshape(1, 1, 4, 2)
    assert not np.array(grid_sample(mx.array(x), mx.array(grid), mode, path=path)).any()


# Errors and paths


@pytest.mark.parametrize(
    ("x", "grid", "options", "text"),
    [
        ((2, 3, 3, 1), (2, 3, 3, 2), {"mode": "cubic"}, "mode is 'cubic'.*bilinear, nearest, bicu"),
        ((2, 3, 3, 1), (2, 3, 3, 2), {"padding_mode": "wrap"}, "padding_mode is 'wrap'"),
        ((2, 3, 3, 1), (2, 3, 3, 2), {"path": "gpu"}, "asks for 'gpu'.*kernel, atomics, mlx"),
        ((3, 3, 1), (2, 3, 3, 2), {}, r"x has shape \(3, 3, 1\)"),
        ((2, 3, 3, 1), (2, 3, 2), {}, r"grid has shape \(2, 3, 2\)"),
        ((2, 3, 3, 1), (2, 3, 3, 3), {}, "last dimension"),
        ((2, 3, 3, 1), (1, 3, 3, 2), {}, "x has 2 images and grid has points for 1"),
        ((2, 0, 3, 1), (2, 3, 3, 2), {}, "no pixels"),
        ((2, 3, 0, 1), (2, 3, 3, 2), {}, "no pixels"),
    ],
)
def test_wrong_arguments(
    x: tuple[int, ...], grid: tuple[int, ...], options: dict[str, str], text: str
) -> None:
    with pytest.raises(ValueError, match=rf"^\[grid_sample\] .*{text}"):
        grid_sample(mx.zeros(x), mx.zeros(grid), **options)


def test_wrong_types() -> None:
    x, grid = mx.zeros((1, 3, 3, 1)), mx.zeros((1, 3, 3, 2))
    with pytest.raises(DtypeError, match=r"x has dtype .*int32"):
        grid_sample(x.astype(mx.int32), grid)
    with pytest.raises(DtypeError, match=r"grid has dtype .*complex64"):
        grid_sample(x, grid.astype(mx.complex64))
    with pytest.raises(TypeError, match=r"grid must be an mx\.array, not numpy\.ndarray"):
        grid_sample(x, np.array(grid))


def test_a_forced_path_runs_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []
    from anymetal.nn import sampling

    for name, way in list(sampling._WAYS.items()):

        def noted(*arguments: Any, name: str = name, way: Any = way) -> mx.array:
            ran.append(name)
            result: mx.array = way(*arguments)
            return result

        monkeypatch.setitem(sampling._WAYS, name, noted)
    x, grid = mx.ones((1, 3, 3, 1)), mx.zeros((1, 2, 2, 2))
    for path in PATHS:
        grid_sample(x, grid, path=path, explain=True)
        assert f"{path} (asked for by the caller)" in capsys.readouterr().err
    assert ran == list(PATHS)
    PATHS["mlx"](x, grid)
    assert ran[-1] == "mlx"


# In training


class Warp(nn.Module):
    """Moves images by an affine map that is learned."""

    def __init__(self, path: str | None) -> None:
        super().__init__()
        self.path = path
        self.matrix = mx.array([[1.0, 0.0], [0.0, 1.0]])
        self.shift = mx.array([0.2, -0.1])

    def __call__(self, x: mx.array) -> mx.array:
        rows, columns = (mx.linspace(-0.9, 0.9, size) for size in x.shape[1:3])
        points = mx.stack(mx.meshgrid(columns, rows, indexing="xy"), -1)
        grid = points @ self.matrix.T + self.shift
        return grid_sample(x, mx.broadcast_to(grid, (x.shape[0], *grid.shape)), path=self.path)


@pytest.mark.parametrize("path", [None, *PATHS])
def test_a_module_learns(path: str | None) -> None:
    waves = mx.sin(mx.linspace(0, 6, 24))
    x = (waves[:, None] * waves).reshape(1, 24, 24, 1) * mx.ones((2, 1, 1, 3))
    warp, target = Warp(path), Warp(path)
    target.shift = mx.array([0.1, 0.0])
    wanted = target(x)

    def loss(warp: Warp, x: mx.array) -> mx.array:
        return mx.square(warp(x) - wanted).mean()

    step, optimizer = nn.value_and_grad(warp, loss), optim.Adam(0.02)
    losses = []
    for _ in range(60):
        value, slopes = step(warp, x)
        optimizer.update(warp, slopes)
        mx.eval(warp.parameters(), optimizer.state)
        losses.append(value.item())
    assert losses[-1] < losses[0] / 20


def test_grad_by_one_argument_is_that_of_both() -> None:
    x, grid, _ = (mx.array(a) for a in inputs(2, 5, 5, 18, 5, 11, seed=5))

    def total(x: mx.array, grid: mx.array) -> mx.array:
        return mx.square(grid_sample(x, grid, "bicubic", "reflection")).sum()

    value, both = mx.value_and_grad(total, argnums=(0, 1))(x, grid)
    assert value.item() == pytest.approx(total(x, grid).item(), rel=1e-6)
    for argument in (0, 1):
        alone = mx.grad(total, argnums=argument)(x, grid)
        assert mx.allclose(alone, both[argument], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_compiled_it_is_the_same(mode: str) -> None:
    x, grid, _ = (mx.array(a) for a in inputs(2, 5, 5, 18, 5, 11, seed=6))

    def slopes(x: mx.array, grid: mx.array) -> list[mx.array]:
        def total(x: mx.array, grid: mx.array) -> mx.array:
            return mx.square(grid_sample(x, grid, mode)).sum()

        value, gradients = mx.value_and_grad(total, argnums=(0, 1))(x, grid)
        return [value, *gradients]

    compiled: Any = mx.compile(slopes)
    try:
        results = compiled(x, grid)
    except ValueError as error:
        if "runs at once" not in str(error):
            raise
        pytest.skip("kernels run at once here")
    for got, right in zip(results, slopes(x, grid), strict=True):
        assert mx.allclose(got, right, rtol=1e-5, atol=1e-5)
