"""What a call costs on an NVIDIA GPU, beside one of MLX's own: `python -m benchmarks.cuda.calls`.

Needs MLX's CUDA build. Wall clock, in microseconds, of an addition of 1,024 floats: the median of
rounds in which the two take turns.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import mlx.core as mx

import anymetal

_SIZE, _ROUNDS = 1024, 31
_METAL = "uint i = thread_position_in_grid.x; out[i] = a[i] + b[i];"
_CUDA = "auto i = cooperative_groups::this_grid().thread_rank(); out[i] = a[i] + b[i];"

Call = Callable[[], list[mx.array]]


def main() -> None:
    """Print the table."""
    os.environ.setdefault("ANYMETAL_BRIDGE", "wait")  # lest some calls go without it
    mx.random.seed(0)
    inputs = [mx.random.normal((_SIZE,)) for _ in range(2)]
    mx.eval(inputs)
    calls = {
        "AnyMetal": _call(anymetal.metal_kernel, _METAL, inputs),
        "mx.fast.cuda_kernel": _call(mx.fast.cuda_kernel, _CUDA, inputs),
    }
    (ours,), (theirs,) = (call() for call in calls.values())
    assert mx.array_equal(ours, theirs)
    print(f"{'':42}", *(f"{name:>20}" for name in calls))
    for what, measure in (
        ("the call alone", _alone),
        ("call and evaluation", _waited),
        ("one of 300 calls that are evaluated together", _together),
    ):
        found = _in_turns([partial(measure, call) for call in calls.values()])
        ratio = f"{found[0] / found[1]:.2f}"
        print(f"{what:42}", *(f"{seconds * 1e6:20.1f}" for seconds in found), ratio)


def _call(maker: Callable[..., Any], source: str, inputs: list[mx.array]) -> Call:
    kernel: Callable[..., list[mx.array]] = maker(
        name="add", input_names=["a", "b"], output_names=["out"], source=source
    )
    return lambda: kernel(
        inputs=inputs,
        output_shapes=[(_SIZE,)],
        output_dtypes=[mx.float32],
        grid=(_SIZE, 1, 1),
        threadgroup=(256, 1, 1),
    )


def _alone(call: Call) -> float:
    count = 300
    start = time.perf_counter()
    results = [call() for _ in range(count)]
    seconds = time.perf_counter() - start
    mx.eval(results)
    return seconds / count


def _waited(call: Call) -> float:
    count = 100
    start = time.perf_counter()
    for _ in range(count):
        mx.eval(call())
    return (time.perf_counter() - start) / count


def _together(call: Call) -> float:
    count = 300
    start = time.perf_counter()
    mx.eval([call() for _ in range(count)])
    return (time.perf_counter() - start) / count


def _in_turns(measures: list[Callable[[], float]]) -> list[float]:
    """The medians, of rounds behind a first one that is not measured."""
    rounds = [[measure() for measure in measures] for _ in range(_ROUNDS + 1)][1:]
    return [median(column) for column in zip(*rounds, strict=True)]


if __name__ == "__main__":
    main()
