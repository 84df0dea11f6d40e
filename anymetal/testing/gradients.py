"""`check_grads`: gradients against differences of the function itself.

For random directions v and weights u, the derivative of <u, f(x + h v)> at h = 0 must be
<vjp(u), v>, and <u, jvp(v)> likewise. The derivative is estimated by central differences at two
step sizes with Richardson's extrapolation (L. F. Richardson, 1911), whose error is of order h⁴;
sums are taken in float64 outside of MLX, so that the only noise is that of f.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import mlx.core as mx

_FLOATS = (mx.float32, mx.float16, mx.bfloat16)
_EPSILON = {mx.float32: 2.0**-23, mx.float16: 2.0**-10, mx.bfloat16: 2.0**-7}


def check_grads(
    fun: Callable[..., Any],
    args: Sequence[Any],
    *,
    modes: Sequence[str] = ("vjp",),
    directions: int = 4,
    step: float | None = None,
    tolerance: float = 1e-2,
    seed: int = 0,
) -> None:
    """Compare the gradients of a function with finite differences.

    Args:
        fun: Takes `args`, gives an array or a sequence of arrays. Smooth near `args`, at least in
            the directions that are tried: kinks look like wrong gradients.
        args: Arrays, of which those of floating-point types are differentiated, and other values.
        modes: "vjp", "jvp" or both.
        directions: Random directions to try for each argument.
        step: Length of the larger step, relative to an argument of about 1 (default: the dtype's
            epsilon to the power 1/5, 0.04 for float32, which balances error and noise).
        tolerance: Largest difference, relative to the larger of the two derivatives and of the
            noise that rounding in `fun` makes.
        seed: Of the directions.

    Raises:
        AssertionError: Gradients differ; names the argument, the direction and both values.
        ValueError: No argument can be differentiated, or an unknown mode.
    """
    values = [mx.array(a) if isinstance(a, (int, float)) else a for a in args]
    floats = [
        i for i, a in enumerate(values) if isinstance(a, mx.array) and a.dtype in _FLOATS and a.size
    ]
    if not floats:
        raise ValueError("[check_grads] No argument is an array of a floating-point type.")
    if unknown := set(modes) - {"vjp", "jvp"}:
        raise ValueError(f'[check_grads] Modes are "vjp" and "jvp", got {sorted(unknown)}.')
    key = mx.random.key(seed)
    for index in floats:
        for number in range(directions):
            key, first, second = mx.random.split(key, 3)
            _check(fun, values, index, number, (first, second), modes, step, tolerance)


def _check(
    fun: Callable[..., Any],
    values: list[Any],
    index: int,
    number: int,
    keys: tuple[mx.array, mx.array],
    modes: Sequence[str],
    step: float | None,
    tolerance: float,
) -> None:
    x = values[index]

    def of_one(changed: mx.array) -> list[mx.array]:
        outputs = fun(*values[:index], changed, *values[index + 1 :])
        return [outputs] if isinstance(outputs, mx.array) else list(outputs)

    outputs = of_one(x)
    direction = mx.random.normal(x.shape, key=keys[0]).astype(x.dtype)
    weights = [
        mx.random.normal(y.shape, key=key).astype(y.dtype)
        for y, key in zip(outputs, mx.random.split(keys[1], len(outputs)), strict=True)
    ]
    epsilon = _EPSILON[x.dtype]
    length = step if step is not None else epsilon**0.2
    expected = _derivative(of_one, x, direction, weights, length)
    noise = sum(
        max(epsilon, _EPSILON.get(y.dtype, 0)) * _norm(u) * _norm(y)
        for u, y in zip(weights, outputs, strict=True)
    )
    noise /= length
    for mode in modes:
        found = _by_rule(mode, of_one, x, direction, weights)
        allowed = tolerance * max(abs(expected), abs(found)) + 4 * noise
        if not (math.isfinite(found - expected) and abs(found - expected) <= allowed):
            raise AssertionError(
                f"[check_grads] {mode} of argument {index}: {found:.6g} where finite differences "
                f"give {expected:.6g} (direction {number}, allowed difference {allowed:.2g})"
            )


def _derivative(
    of_one: Callable[[mx.array], list[mx.array]],
    x: mx.array,
    direction: mx.array,
    weights: Sequence[mx.array],
    length: float,
) -> float:
    """Of <weights, f> along the direction."""

    def central(h: float) -> float:
        forth, back = x + h * direction, x - h * direction
        # What was really added: x + h v is rounded.
        moved = _dot(forth - back, direction) / _dot(direction, direction)
        rise = sum(
            _dot(u, a.astype(mx.float32) - b.astype(mx.float32))
            for u, a, b in zip(weights, of_one(forth), of_one(back), strict=True)
        )
        return rise / moved

    coarse, fine = central(length), central(length / 2)
    return (4 * fine - coarse) / 3


def _by_rule(
    mode: str,
    of_one: Callable[[mx.array], list[mx.array]],
    x: mx.array,
    direction: mx.array,
    weights: Sequence[mx.array],
) -> float:
    if mode == "vjp":
        _, (gradient,) = mx.vjp(of_one, [x], list(weights))
        return _dot(gradient, direction)
    _, tangents = mx.jvp(of_one, [x], [direction])
    return sum(_dot(u, t) for u, t in zip(weights, tangents, strict=True))


def _dot(a: mx.array, b: mx.array) -> float:
    """With products and sum in float64; an array of MLX has no such arithmetic on GPUs."""
    products = [p * q for p, q in zip(_numbers(a), _numbers(b), strict=True)]
    try:
        return math.fsum(products)
    except (ValueError, OverflowError):  # of infinities
        return math.nan


def _norm(a: mx.array) -> float:
    return math.sqrt(_dot(a, a))


def _numbers(array: mx.array) -> list[float]:
    return cast("list[float]", array.astype(mx.float32).reshape(-1).tolist())
