"""Rows of grid_sample, the demo's kernels beside PyTorch's hand-written one (channels last)."""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx
import numpy as np
import torch

from anymetal.cli.demo.grid_sample import grid_sample, grid_sample_ops
from benchmarks.harness import OURS, Race, Row

IMAGE, POINTS = (4, 256, 256, 64), (4, 128, 128, 2)
_IMAGE_BYTES, _SAMPLES = 4 * math.prod(IMAGE), math.prod(POINTS[:3])
_SAMPLE_BYTES = 4 * _SAMPLES * IMAGE[3]


def _arrays() -> list[mx.array]:
    """Image, points and the cotangent of the samples."""
    arrays = [
        mx.random.normal(IMAGE),
        mx.random.uniform(-1.1, 1.1, POINTS),
        mx.random.normal((*POINTS[:3], IMAGE[3])),
    ]
    mx.eval(arrays)
    return arrays


def _torch_image(x: mx.array) -> torch.Tensor:
    """The same numbers in the same order in memory: N, C, H, W with channels last."""
    return torch.from_numpy(np.array(x)).permute(0, 3, 1, 2)


def _torch_sample(image: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.grid_sample(
        image, points, mode="bilinear", padding_mode="zeros", align_corners=False
    )


def forward() -> Race:
    """Samples only."""
    image, points, _ = _arrays()
    t_image, t_points = _torch_image(image), torch.from_numpy(np.array(points))

    def evaluated(function: Any) -> mx.array:
        out: mx.array = function(image, points)
        mx.eval(out)
        return out

    def check() -> None:
        expected = _torch_sample(t_image, t_points).permute(0, 2, 3, 1).numpy()
        np.testing.assert_allclose(np.array(evaluated(grid_sample)), expected, atol=1e-5)

    return Race(
        {
            OURS: lambda: evaluated(grid_sample),
            "torch grid_sample": lambda: _torch_sample(t_image, t_points),
            "MLX operations": lambda: evaluated(grid_sample_ops),
        },
        check,
        bytes=_IMAGE_BYTES + 8 * _SAMPLES + _SAMPLE_BYTES,
    )


def backward() -> Race:
    """Samples and both gradients."""
    image, points, flow = _arrays()
    t_image, t_flow = _torch_image(image).requires_grad_(), _torch_image(flow)
    t_points = torch.from_numpy(np.array(points)).requires_grad_()

    def evaluated(function: Any) -> list[mx.array]:
        _, gradients = mx.vjp(function, [image, points], [flow])
        mx.eval(gradients)
        return gradients

    def with_torch() -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(_torch_sample(t_image, t_points), [t_image, t_points], t_flow)

    def check() -> None:
        ours, theirs = evaluated(grid_sample), with_torch()
        expected = theirs[0].permute(0, 2, 3, 1).numpy(), theirs[1].numpy()
        for got, right in zip(ours, expected, strict=True):
            np.testing.assert_allclose(np.array(got), right, atol=1e-5 * np.abs(right).max())

    return Race(
        {
            OURS: lambda: evaluated(grid_sample),
            "torch grid_sample": with_torch,
            "MLX operations": lambda: evaluated(grid_sample_ops),
        },
        check,
        # Forward; then image, points and cotangent in, the gradients of image and points out.
        bytes=3 * _IMAGE_BYTES + 24 * _SAMPLES + 2 * _SAMPLE_BYTES,
    )


_TITLE = "4 images of 256 × 256 × 64 float32 at 4 × 128 × 128 points"

ROWS = [
    Row("grid_sample", f"forward, {_TITLE}", forward),
    Row("grid_sample_vjp", f"forward and backward, {_TITLE}", backward),
]
