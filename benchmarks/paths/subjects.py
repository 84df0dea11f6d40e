"""What the pictures show: for each routine its paths and its rivals, by size.

A contender is a function without arguments that does all of the work of a point. Inputs are the
same memory for all, and results are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import mlx.core as mx
import torch

from anymetal import linalg, nn
from anymetal.tune.switch import question_of

Contenders = Mapping[str, Callable[[], object]]
TORCH = "PyTorch"


@dataclass(frozen=True)
class Panel:
    """One diagram: times by size."""

    title: str
    axis: str  #: what the sizes are
    sizes: Sequence[int]
    contenders: Callable[[int], Contenders]


@dataclass(frozen=True)
class Subject:
    """One picture, for the page of the same name."""

    name: str
    panels: Sequence[Panel]


def _normal(*shape: int) -> mx.array:
    array = mx.random.normal(shape, key=mx.random.key(7))
    mx.eval(array)
    return array


def _tensor(array: mx.array) -> torch.Tensor:
    return torch.from_dlpack(array)


def _evaluated(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    def run() -> None:
        mx.eval(function(*arguments, **options))

    return run


def _paths(function: Callable[..., Any], *arguments: Any, without: str = "") -> dict[str, Any]:
    """The paths that can serve a call, but some."""
    among = question_of(function, *arguments)[0].among
    return {
        path: _evaluated(function, *arguments, path=path)
        for path in among
        if path not in without.split()
    }


def _samples(channels: int) -> Contenders:
    x, grid, image, places = _sampling(channels)
    sampled = partial(torch.nn.functional.grid_sample, align_corners=False)
    return {
        **_paths(nn.grid_sample, x, grid, without="atomics"),
        TORCH: lambda: sampled(image, places),
    }


def _sample_gradients(channels: int) -> Contenders:
    x, grid, image, places = _sampling(channels)
    cotangent = _normal(1, _POINTS, _POINTS, channels)
    weights = _tensor(cotangent).permute(0, 3, 1, 2)
    learned = [each.clone().requires_grad_() for each in (image, places)]
    result = torch.nn.functional.grid_sample(*learned, align_corners=False)

    def gradients(path: str) -> list[mx.array]:
        function = partial(nn.grid_sample, path=path)
        return mx.vjp(function, [x, grid], [cotangent])[1]

    return {
        **{path: _evaluated(gradients, path) for path in ("kernel", "atomics", "mlx")},
        TORCH: lambda: torch.autograd.grad(result, learned, weights, retain_graph=True),
    }


_IMAGE, _POINTS = 256, 256


def _sampling(channels: int) -> tuple[mx.array, mx.array, torch.Tensor, torch.Tensor]:
    x = _normal(1, _IMAGE, _IMAGE, channels)
    grid = mx.random.uniform(-1, 1, (1, _POINTS, _POINTS, 2), key=mx.random.key(8))
    mx.eval(grid)
    return x, grid, _tensor(x).permute(0, 3, 1, 2), _tensor(grid)


def _cholesky(n: int, batch: int = 1) -> Contenders:
    X = _normal(batch, n, n)
    A = X @ X.swapaxes(-1, -2) / n + mx.eye(n)
    mx.eval(A)
    tensor = _tensor(A)
    return {
        **_paths(linalg.cholesky, A),
        TORCH: lambda: torch.linalg.cholesky(tensor),
    }


def _qr(m: int, n: int, batch: int = 1) -> Contenders:
    A = _normal(batch, m, n)
    tensor = _tensor(A)
    without = "" if m > n else "cholesky"  # it is for tall matrices
    return {**_paths(linalg.qr, A, without=without), TORCH: lambda: torch.linalg.qr(tensor)}


def _svd(n: int) -> Contenders:
    """Matrices with singular values 1, 1/2, 1/3, …"""
    Q, _ = linalg.qr(_normal(2 * n, n))
    P, _ = linalg.qr(_normal(n, n))
    A = (Q / mx.arange(1, n + 1)) @ P.T
    mx.eval(A)
    tensor = _tensor(A)
    without = "full" if n > 512 else ""  # seconds, and soon minutes
    return {
        **_paths(linalg.svd_topk, A, 16, without=without),
        f"{TORCH}, svd_lowrank": lambda: torch.svd_lowrank(tensor, q=24, niter=2),
    }


def _product(columns: int, transposed: bool) -> Contenders:
    A = _normal(2048, 1024)
    B = _normal(2048 if transposed else 1024, columns)
    left, right = _tensor(A), _tensor(B)
    if transposed:
        left = left.T
    return {
        **_paths(linalg.matmul_atb if transposed else linalg.matmul_av, A, B),
        TORCH: lambda: torch.mm(left, right),
    }


_WAYS = ("float32", "compensated", "limb", "exact", "auto")


def _dot(count: int) -> Contenders:
    x, y = _normal(count), _normal(count) + 0.1
    mx.eval(y)
    left, right = _tensor(x), _tensor(y)
    return {
        **{way: _evaluated(linalg.dot, x, y, accumulate=way) for way in _WAYS},
        "MLX, float32": _evaluated(lambda: (x * y).sum()),
        f"{TORCH}, float64": lambda: torch.dot(left.double(), right.double()),
    }


def _project(columns: int) -> Contenders:
    Q, V = _normal(4096, columns), _normal(4096, columns) * 0.5 + 0.1
    mx.eval(V)
    left, right = _tensor(Q).T, _tensor(V)
    return {
        **{way: _evaluated(linalg.project, Q, V, accumulate=way) for way in _WAYS},
        "MLX, float32": _evaluated(lambda: Q.T @ V),
        f"{TORCH}, float64": lambda: left.double() @ right.double(),
    }


SUBJECTS = (
    Subject(
        "grid_sample",
        [
            Panel("samples, 256 × 256 points", "channels", (1, 4, 16, 64), _samples),
            Panel("both gradients", "channels", (1, 4, 16, 64), _sample_gradients),
        ],
    ),
    Subject(
        "cholesky",
        [
            Panel("one n × n matrix", "n", (8, 32, 64, 128, 256, 512, 1024), _cholesky),
            Panel("1024 of n × n", "n", (4, 8, 16, 32, 64), partial(_cholesky, batch=1024)),
        ],
    ),
    Subject(
        "qr",
        [
            Panel("one n × n matrix", "n", (32, 64, 128, 256), lambda n: _qr(n, n)),
            Panel(
                "m × 32",
                "m",
                (256, 1024, 4096, 16_384, 65_536),
                lambda m: _qr(m, 32),
            ),
            Panel("1024 of n × n", "n", (4, 8, 16, 32), lambda n: _qr(n, n, 1024)),
        ],
    ),
    Subject("svd", [Panel("2n × n, k = 16", "n", (64, 128, 256, 512, 1024), _svd)]),
    Subject(
        "gemm",
        [
            Panel(
                "A @ V, A of 2048 × 1024",
                "columns",
                (4, 8, 16, 32, 64, 128),
                partial(_product, transposed=False),
            ),
            Panel(
                "Aᵀ @ B, A of 2048 × 1024",
                "columns",
                (4, 8, 16, 32, 64, 128),
                partial(_product, transposed=True),
            ),
        ],
    ),
    Subject(
        "extended_precision",
        [
            Panel("x · y", "numbers", (2**8, 2**11, 2**14, 2**17, 2**20), _dot),
            Panel("Qᵀ V of 4096 rows", "columns of each", (4, 8, 16, 32), _project),
        ],
    ),
)
