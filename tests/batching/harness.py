"""Kernels with a rule for `mx.vmap`, beside a loop over the elements of the batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import numpy as np

import anymetal

INDEX = "uint i = thread_position_in_grid.x;\n"
RANDOM = np.random.default_rng(0)

Fun = Callable[..., Any]


def function(
    body: str,
    inputs: Sequence[str] = ("x",),
    outputs: Sequence[str] = ("out",),
    *,
    vmap: str | None = "batch",
    construction: dict[str, Any] | None = None,
    **call: Any,
) -> Fun:
    """Arrays to the outputs of a kernel: like the first input, unless the call says otherwise."""
    kernel = anymetal.metal_kernel(
        "k", list(inputs), list(outputs), body, vmap=vmap, **(construction or {})
    )

    def run(*arrays: mx.array) -> Any:
        shape = arrays[0].shape
        results = kernel(
            inputs=list(arrays),
            **{
                "output_shapes": [shape] * len(outputs),
                "output_dtypes": [arrays[0].dtype] * len(outputs),
                "grid": (max(math.prod(shape), 1), 1, 1),
                "threadgroup": (32, 1, 1),
                **call,
            },
        )
        return results[0] if len(results) == 1 else tuple(results)

    return run


def floats(*shape: int) -> mx.array:
    return mx.array(RANDOM.normal(size=shape).astype(np.float32))


def loop(run: Fun, arrays: Sequence[mx.array], axes: Sequence[int | None]) -> list[np.ndarray]:
    """The oracle: one launch after the other; the batch is the first axis of what comes out."""
    pairs = list(zip(arrays, axes, strict=True))
    batch = next(array.shape[axis] for array, axis in pairs if axis is not None)
    results = []
    for b in range(batch):
        one = run(*(x if axis is None else mx.take(x, b, axis) for x, axis in pairs))
        results.append([numbers(y) for y in (one if isinstance(one, tuple) else (one,))])
    return [np.stack(column) for column in zip(*results, strict=True)]


def numbers(array: mx.array) -> np.ndarray:
    return np.array(array.astype(mx.float32) if array.dtype == mx.bfloat16 else array)


def check(run: Fun, arrays: Sequence[mx.array], axes: Sequence[int | None] | None = None) -> None:
    """A lifted kernel gives the same bits as a loop."""
    axes = [0] * len(arrays) if axes is None else axes
    found = mx.vmap(run, tuple(axes))(*arrays)
    found = found if isinstance(found, tuple) else (found,)
    expected = loop(run, arrays, axes)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(numbers(one), other)
