"""Kernels that are paired with the kernel of their gradient, and calls of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mlx.core as mx

import anymetal

INDEX = "uint i = thread_position_in_grid.x; "


def kernel(
    name: str, inputs: Sequence[str], outputs: Sequence[str], body: str, **options: Any
) -> Any:
    return anymetal.metal_kernel(name, list(inputs), list(outputs), INDEX + body, **options)


def run(function: Any, *inputs: Any, **call: Any) -> Any:
    """A call with outputs like the first input; one output comes without a list."""
    shape, dtype = inputs[0].shape, inputs[0].dtype
    count = call.pop("count", 1)
    results = function(
        inputs=list(inputs),
        **{
            "output_shapes": [shape] * count,
            "output_dtypes": [dtype] * count,
            "grid": (math.prod(shape), 1, 1),
            "threadgroup": (32, 1, 1),
            **call,
        },
    )
    return results[0] if count == 1 else results


def normal(*shape: int, seed: int = 0) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(seed))


def close(found: Any, expected: Any, **tolerance: float) -> bool:
    pairs = zip(found, expected, strict=True)
    return all(
        mx.allclose(a, b, **{"rtol": 1e-5, "atol": 1e-6, **tolerance}).item() for a, b in pairs
    )


PRODUCT = kernel("product", ["x", "w"], ["y"], "y[i] = x[i] * w[i];", vmap="batch")
PRODUCT_BACKWARD = kernel(
    "product_backward",
    ["x", "w", "y_grad"],
    ["x_grad", "w_grad"],
    "x_grad[i] = y_grad[i] * w[i]; w_grad[i] = y_grad[i] * x[i];",
    vmap="batch",
)
product = anymetal.differentiable(PRODUCT, PRODUCT_BACKWARD)


def gradients(function: Any, *inputs: mx.array) -> list[mx.array]:
    """Of a function, weighted such that each element of its results counts differently."""

    def loss(*inputs: mx.array) -> mx.array:
        results = function(*inputs)
        results = [results] if isinstance(results, mx.array) else results
        return sum(mx.sum(mx.sin(y + mx.arange(y.size).reshape(y.shape))) for y in results)

    found = mx.grad(loss, argnums=list(range(len(inputs))))(*inputs)
    return [found] if len(inputs) == 1 else list(found)
