"""Rows of `anymetal.nn`: grid_sample and its gradients, at points anywhere and along a warp."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mlx.core as mx
import numpy as np
import torch

from anymetal.nn import grid_sample
from benchmarks.harness import MLX, TORCH, Array, Race, Rival, Row, evaluated, shared

IMAGE, POINTS = (2, 512, 512, 64), (2, 256, 256, 2)
_SAMPLES = (*POINTS[:3], IMAGE[3])
_CHANNELS_FIRST = "PyTorch, channels first"  #: as its own layout is, for comparison

Points = Callable[[np.random.Generator], Array]


def _anywhere(random: np.random.Generator) -> Array:
    return random.uniform(-1, 1, POINTS).astype(np.float32)


def _warped(random: np.random.Generator) -> Array:
    """Neighbours sample neighbours: the whole image, rippled."""
    rows, columns = np.meshgrid(*(np.linspace(-1, 1, n) for n in POINTS[1:3]), indexing="ij")
    ripple = 0.02 * np.sin(5 * np.stack([rows, columns], -1) + random.uniform(0, 6))
    grid = np.stack([columns, rows], -1) + ripple
    return np.broadcast_to(grid, POINTS).astype(np.float32)


def _layouts(*arrays: torch.Tensor) -> dict[str, list[torch.Tensor]]:
    """PyTorch's shape N, C, H, W of the same memory, and in the order of that shape."""
    last = [x.permute(0, 3, 1, 2) for x in arrays]
    return {TORCH: last, _CHANNELS_FIRST: [x.contiguous() for x in last]}


def forward(points: Points, random: np.random.Generator) -> Race:
    """Samples."""
    image = random.standard_normal(IMAGE, dtype=np.float32)
    (x, grid), _, (t_x, t_grid) = shared(image, points(random))

    def with_torch(x: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
        result = torch.nn.functional.grid_sample(x, grid, align_corners=False)
        return result.permute(0, 2, 3, 1)

    rivals = [
        Rival(who, "grid_sample", partial(with_torch, *layout, t_grid))
        for who, layout in _layouts(t_x).items()
    ]
    expected = with_torch(_layouts(t_x.double())[TORCH][0], t_grid.double()).numpy()
    return Race(
        evaluated(grid_sample, x, grid),
        [*rivals, Rival(MLX, "operations", evaluated(partial(grid_sample, path="mlx"), x, grid))],
        [expected],
        absolute=2e-4,
        bytes=4 * (math.prod(_SAMPLES) + math.prod(POINTS)),
    )


def backward(points: Points, random: np.random.Generator) -> Race:
    """Gradients of image and points, from those of the samples."""
    image = random.standard_normal(IMAGE, dtype=np.float32)
    cotangent = random.standard_normal(_SAMPLES, dtype=np.float32)
    (x, grid, flow), _, (t_x, t_grid, t_flow) = shared(image, points(random), cotangent)

    def gradients(path: str | None) -> list[mx.array]:
        function: Any = partial(grid_sample, path=path)
        return mx.vjp(function, [x, grid], [flow])[1]

    def with_torch(
        x: torch.Tensor, flow: torch.Tensor, grid: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        x_grad, grid_grad = torch.ops.aten.grid_sampler_2d_backward(
            flow, x, grid, 0, 0, False, [True, True]
        )
        return x_grad.permute(0, 2, 3, 1), grid_grad

    rivals = [
        Rival(who, "grid_sampler_2d_backward", partial(with_torch, *layout, t_grid))
        for who, layout in _layouts(t_x, t_flow).items()
    ]
    exact = with_torch(*_layouts(t_x.double(), t_flow.double())[TORCH], t_grid.double())
    return Race(
        evaluated(gradients, None),
        [*rivals, Rival(MLX, "mx.vjp of operations", evaluated(gradients, "mlx"))],
        [gradient.numpy() for gradient in exact],
        relative=1e-3,
        absolute=0.2,  # slopes are thousands, and change with the rounding of a point
        outliers=1e-3,  # and jump where a point lies on a pixel
        bytes=4 * (math.prod(IMAGE) + 2 * math.prod(_SAMPLES) + 2 * math.prod(POINTS)),
    )


_SIZES = "2 images of 512 × 512 × 64 float32 at 2 × 256 × 256 points"
_ANYWHERE, _WARP = f"{_SIZES}, anywhere", f"{_SIZES}, a warp"
_NAME = "library_grid_sample"

ROWS = [
    Row(_NAME, _ANYWHERE, partial(forward, _anywhere)),
    Row(f"{_NAME}_vjp", f"both gradients, {_ANYWHERE}", partial(backward, _anywhere)),
    Row(f"{_NAME}_warp", _WARP, partial(forward, _warped)),
    Row(f"{_NAME}_warp_vjp", f"both gradients, {_WARP}", partial(backward, _warped)),
]
