"""What `anymetal tune` measures: for each routine with several paths its cases and its check.

A case is the arguments of a routine, made from a seed. Which paths can serve them, and under which
sizes they go into the table, is what the routine itself asks the switch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import mlx.core as mx

from anymetal.tune import checks
from anymetal.tune.checks import Check
from anymetal.tune.names import MEASURED

Arguments = tuple[Any, ...]
Sizes = dict[tuple[int, ...], bool]  #: and whether a case of that size is quick

_SEED = 7


@dataclass(frozen=True)
class Case:
    """Arguments of a routine."""

    name: str  #: sizes and dtype for people; unique within the operation
    arguments: Callable[[], Arguments]
    quick: bool = False  #: whether `anymetal tune --quick` measures it


@dataclass(frozen=True)
class Operation:
    """A routine with several paths."""

    name: str  #: as the routine calls itself when it asks the switch
    run: Callable[..., Any]
    check: Check
    cases: Sequence[Case]


_registered: dict[str, Operation] = {}


def register(operation: Operation) -> None:
    """Has `anymetal tune` measure an operation of another package.

    Its routine asks `anymetal.tune.choose` under the same name, which has a dot in it, such as
    "package.routine". A second registration under a name takes the place of the first.

    Raises:
        ValueError: A name without a dot; no cases, or two of the same name.
    """
    name, cases = operation.name, [case.name for case in operation.cases]
    if "." not in name:
        raise ValueError(
            f"[register] {name!r} could be an operation of AnyMetal; name it package.routine."
        )
    if not cases or len(set(cases)) < len(cases):
        raise ValueError(f"[register] {name} must have cases, each with a name of its own.")
    _registered[name] = operation


def operations() -> list[Operation]:
    """Ours, in the order of `names.MEASURED`, then those of other packages."""
    return [*(_MAKERS[name]() for name in MEASURED), *_registered.values()]


def _routine(module: str, name: str) -> Callable[..., Any]:
    """A public routine, imported when it is first called."""

    def run(*arguments: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(f"anymetal.{module}"), name)(*arguments, **options)

    return run


def _random(*shape: int, dtype: mx.Dtype = mx.float32, seed: int = _SEED) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(seed)).astype(dtype)


def _cases(name: str, make: Callable[..., Arguments], sizes: Sizes) -> list[Case]:
    """One for each of the sizes."""
    return [Case(name.format(*size), partial(make, *size), quick) for size, quick in sizes.items()]


# Factorisations


def _positive_definite(batch: int, n: int) -> Arguments:
    """Dense matrices that are quickly made: MLX takes long for a product of large ones."""
    A = _random(batch, n, 8)
    return (A @ A.swapaxes(-1, -2) / 8 + mx.eye(n),)


def _cholesky() -> Operation:
    sizes: Sizes = {
        (1, 8): False,
        (1, 32): True,
        (1, 128): True,
        (1, 512): True,
        (1, 1024): False,
        (1, 2048): False,
        (64, 128): False,
        (64, 512): False,
        (4096, 4): False,
        (4096, 8): True,
        (4096, 16): False,
        (4096, 32): True,
        (4096, 64): False,
    }
    cases = _cases("{0} × {1}×{1} float32", _positive_definite, sizes)
    return Operation("cholesky", _routine("linalg", "cholesky"), checks.of_cholesky, cases)


def _qr() -> Operation:
    sizes: Sizes = {
        (1, 64, 64): False,
        (1, 256, 32): True,
        (1, 256, 256): True,
        (1, 1024, 64): False,
        (1, 1024, 256): False,
        (1, 4096, 32): True,
        (1, 4096, 128): False,
        (4096, 8, 8): True,
        (1024, 32, 32): True,
        (64, 256, 64): False,
    }
    cases = _cases("{} × {}×{} float32", _matrices, sizes)
    return Operation("qr", _routine("linalg", "qr"), checks.of_qr, cases)


def _matrices(*shape: int) -> Arguments:
    return (_random(*shape),)


# Singular values


def _spectrum(count: int) -> mx.array:
    """Singular values that decay like many matrices of data."""
    return 1 / mx.arange(1, count + 1).astype(mx.float32)


def _with_spectrum(m: int, n: int, k: int) -> Arguments:
    """A dense m×n matrix between two reflections, which change no singular value."""
    count = min(m, n)
    A = mx.zeros((m, n))
    A[:count, :count] = mx.diag(_spectrum(count))
    u, v = _random(m, 1), _random(1, n)
    A = A - (2 / mx.sum(u * u)) * (u @ (u.T @ A))
    return A - (2 / mx.sum(v * v)) * ((A @ v.T) @ v), k


def _svd_topk() -> Operation:
    sizes: Sizes = {
        (64, 64, 8): True,
        (128, 128, 8): False,
        (256, 256, 8): True,
        (256, 256, 64): False,
        (512, 512, 8): False,
        (1024, 256, 32): True,
        (1024, 1024, 8): False,
        (1024, 1024, 128): False,
        (4096, 1024, 32): False,
    }
    cases = _cases("{}×{}, k = {}, float32", _with_spectrum, sizes)
    check = checks.of_singular_vectors(_spectrum, 1e-4)
    return Operation("svd_topk", _routine("linalg", "svd_topk"), check, cases)


# Sampling


def _image(batch: int, size: int, channels: int, points: int, dtype: mx.Dtype) -> Arguments:
    x = _random(batch, size, size, channels, dtype=dtype)
    at = mx.random.uniform(-1.1, 1.1, (batch, points, points, 2), key=mx.random.key(_SEED))
    cotangent = _random(batch, points, points, channels, dtype=dtype, seed=_SEED + 1)
    return x, at.astype(dtype), cotangent


def _sampled(**options: Any) -> Callable[..., list[mx.array]]:
    """A step of a training: the samples, and the gradients of both inputs."""
    routine = _routine("nn", "grid_sample")

    def run(x: mx.array, grid: mx.array, cotangent: mx.array) -> list[mx.array]:
        outputs, gradients = mx.vjp(partial(routine, **options), [x, grid], [cotangent])
        return [*outputs, *gradients]

    return run


#: Elements of images that are sampled in float32 only, since MLX's operations take seconds.
_LARGE = 10_000_000


def _grid_sample() -> Operation:
    sizes = {
        (1, 64, 4, 64): True,
        (1, 256, 1, 256): False,
        (1, 256, 3, 256): True,
        (2, 256, 64, 128): True,
        (2, 512, 64, 256): False,
        (8, 64, 16, 64): False,
    }
    cases = [
        Case(
            f"{batch} × {size}×{size}×{channels} at {points}×{points}, {_name(dtype)}",
            partial(_image, batch, size, channels, points, dtype),
            quick and dtype == mx.float32,
        )
        for (batch, size, channels, points), quick in sizes.items()
        for dtype in (mx.float32, mx.float16)
        if dtype == mx.float32 or batch * size * size * channels <= _LARGE
    ]
    check = checks.of_reference(_sampled(path="mlx"), 1e-4)
    return Operation("grid_sample", _sampled(), check, cases)


# Products


def _pair(left: tuple[int, ...], right: tuple[int, ...], dtype: mx.Dtype) -> Arguments:
    return _random(*left, dtype=dtype), _random(*right, dtype=dtype, seed=_SEED + 1)


def _products(name: str, transposed: bool, exact: Callable[..., mx.array]) -> Operation:
    cases = []
    for (m, n), quick in {(256, 256): True, (1024, 1024): True, (4096, 1024): False}.items():
        for columns in (8, 32, 128):
            for dtype in (mx.float32, mx.float16):
                right = (m if transposed else n, columns)
                arguments = partial(_pair, (m, n), right, dtype)
                title = f"{m}×{n}, {columns} columns, {_name(dtype)}"
                cases.append(Case(title, arguments, quick and dtype == mx.float32))
    return Operation(name, _routine("linalg", name), checks.of_product(exact), cases)


def _name(dtype: mx.Dtype) -> str:
    return str(dtype).rpartition(".")[2]


_MAKERS: dict[str, Callable[[], Operation]] = {
    "grid_sample": _grid_sample,
    "cholesky": _cholesky,
    "qr": _qr,
    "matmul_av": partial(_products, "matmul_av", False, lambda A, V: A @ V),
    "matmul_atb": partial(_products, "matmul_atb", True, lambda A, B: A.swapaxes(-1, -2) @ B),
    "svd_topk": _svd_topk,
}
