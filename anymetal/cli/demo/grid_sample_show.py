"""The demo's section on grid_sample: checked against an oracle in NumPy, raced against MLX's ops."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from anymetal.cli.demo.grid_sample import grid_sample, grid_sample_ops
from anymetal.cli.demo.screen import Screen
from anymetal.cli.timing import interleaved

Array = NDArray[np.float64]


def show_grid_sample(screen: Screen, side: int, channels: int, seconds: float) -> None:
    """Results and gradients, then speed."""
    screen.heading("grid_sample with its gradient")
    screen.text(
        "Two kernels inside mx.custom_function: the backward one adds to the picture's gradient "
        "with atomics\nand sums each point's gradient over a SIMD-group "
        "(anymetal/cli/demo/grid_sample.py).\n"
    )
    small = _inputs((2, 11, 9, 40), (2, 7, 8, 2))
    outputs, gradients = mx.vjp(grid_sample, small[:2], small[2:])
    names = ("samples", "gradient of the picture", "gradient of the points")
    for name, got, expected in zip(names, [*outputs, *gradients], oracle(*small), strict=True):
        screen.check(f"{name}, difference to float64 in NumPy", distance(got, expected), 1e-6)

    batch = 4
    image, points, flow = large = _inputs(
        (batch, side, side, channels), (batch, side // 2, side // 2, 2)
    )
    ours = grid_sample(image, points)
    error = mx.abs(ours - grid_sample_ops(image, points)).max().item()
    screen.check("the large case, difference to MLX's operations", float(error), 1e-4)
    for title, contenders in (
        ("forward", {"AnyMetal": grid_sample, "MLX operations": grid_sample_ops}),
        ("forward and backward", {"AnyMetal": _gradient, "MLX operations": _gradient_ops}),
    ):
        arguments = (image, points) if title == "forward" else large
        with screen.console.status("measuring"):
            timings = interleaved(
                {name: _evaluating(run, arguments) for name, run in contenders.items()}, seconds
            )
        screen.text(
            f"\n  {batch} pictures of {side} × {side} with {channels} channels, "
            f"{points.size // 2:,} points, {title}:"
        )
        screen.comparison(timings)


def _inputs(image: tuple[int, ...], points: tuple[int, ...]) -> list[mx.array]:
    """Picture, points (some of them outside) and the cotangent of the samples."""
    arrays = [
        mx.random.normal(image),
        mx.random.uniform(-1.1, 1.1, points),
        mx.random.normal((*points[:-1], image[-1])),
    ]
    mx.eval(arrays)
    return arrays


def _evaluating(run: Any, arguments: Any) -> Any:
    return lambda: mx.eval(run(*arguments))


def _gradient(image: mx.array, points: mx.array, flow: mx.array) -> Any:
    return mx.vjp(grid_sample, [image, points], [flow])


def _gradient_ops(image: mx.array, points: mx.array, flow: mx.array) -> Any:
    return mx.vjp(grid_sample_ops, [image, points], [flow])


def oracle(image: mx.array, points: mx.array, flow: mx.array) -> tuple[Array, Array, Array]:
    """Samples and both gradients in float64, from the definition: every pixel has a weight.

    Bilinear weights are products of two hat functions, which vanish beyond one pixel; no pixel is
    looked up, so nothing can be looked up wrongly.
    """
    picture, where, back = (np.array(a, dtype=np.float64) for a in (image, points, flow))
    wx, slope_x = _hats(where[..., 0], picture.shape[2])
    wy, slope_y = _hats(where[..., 1], picture.shape[1])

    def contract(formula: str, *arrays: Array) -> Array:
        return np.asarray(np.einsum(formula, *arrays, optimize=True))

    samples = contract("bpqi,bpqj,bijc->bpqc", wy, wx, picture)
    picture_gradient = contract("bpqi,bpqj,bpqc->bijc", wy, wx, back)
    along_x = contract("bpqi,bpqj,bijc,bpqc->bpq", wy, slope_x, picture, back)
    along_y = contract("bpqi,bpqj,bijc,bpqc->bpq", slope_y, wx, picture, back)
    return samples, picture_gradient, np.stack([along_x, along_y], axis=-1)


def _hats(coordinate: Array, size: int) -> tuple[Array, Array]:
    """The weight of each of `size` pixels along one axis, and its derivative by the coordinate."""
    offset = ((coordinate + 1) * size - 1)[..., None] / 2 - np.arange(size)
    near = np.abs(offset) < 1
    return near * (1 - np.abs(offset)), near * -np.sign(offset) * size / 2


def distance(got: mx.array, expected: Array) -> float:
    """The largest difference, relative to the largest expected value."""
    error = np.abs(np.array(got, dtype=np.float64) - expected).max()
    return float(error / np.abs(expected).max())
