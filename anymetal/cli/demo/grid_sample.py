"""The demo's section on grid_sample: against an oracle in NumPy, and beside MLX's operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import numpy as np

from anymetal.cli.demo.oracle import distance, sampled
from anymetal.cli.demo.screen import Screen
from anymetal.nn.sampling import PATHS
from anymetal.timing import interleaved

grid_sample, grid_sample_ops = PATHS["kernel"], PATHS["mlx"]


def show_grid_sample(screen: Screen, side: int, channels: int, seconds: float) -> None:
    """Results and gradients, then speed."""
    screen.heading("grid_sample with its gradient")
    screen.text(
        "anymetal.nn.grid_sample: three kernels behind one differentiable function, one for the "
        "samples, one for each gradient (anymetal/nn/sampling_kernels.py).\n"
    )
    small = _inputs((2, 11, 9, 40), (2, 7, 8, 2))
    outputs, gradients = mx.vjp(grid_sample, small[:2], small[2:])
    names = ("samples", "gradient of the image", "gradient of the points")
    for name, got, expected in zip(names, [*outputs, *gradients], sampled(*small), strict=True):
        screen.check(f"{name} beside NumPy in float64", distance(got, expected), 1e-5)

    batch = 4
    large = _inputs((batch, side, side, channels), (batch, side // 2, side // 2, 2))
    image, points, _ = large
    expected = np.array(grid_sample_ops(image, points), dtype=np.float64)
    error = distance(grid_sample(image, points), expected)
    screen.check("a large case beside MLX operations", error, 1e-5)
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
            f"\n  {batch} images of {side} × {side} with {channels} channels, "
            f"{points.size // 2:,} points, {title}:"
        )
        screen.comparison(timings)


def _inputs(image: tuple[int, ...], points: tuple[int, ...]) -> list[mx.array]:
    """Image, points (some of them outside) and the cotangent of the samples."""
    arrays = [
        mx.random.normal(image),
        mx.random.uniform(-1.1, 1.1, points),
        mx.random.normal((*points[:-1], image[-1])),
    ]
    mx.eval(arrays)
    return arrays


def _evaluating(run: Callable[..., Any], arguments: Sequence[mx.array]) -> Callable[[], None]:
    return lambda: mx.eval(run(*arguments))


def _gradient(image: mx.array, points: mx.array, flow: mx.array) -> Any:
    return mx.vjp(grid_sample, [image, points], [flow])


def _gradient_ops(image: mx.array, points: mx.array, flow: mx.array) -> Any:
    return mx.vjp(grid_sample_ops, [image, points], [flow])
