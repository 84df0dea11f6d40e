"""Batches of a kernel: any shapes, axes and launch at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mlx.core as mx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.batching.harness import check, function


@st.composite
def launches(draw: st.DrawFn) -> dict[str, Any]:
    grid = tuple(draw(st.integers(1, 6)) for _ in range(2))
    depth = draw(st.integers(1, 3))
    group = draw(st.integers(1, 3))
    axes = draw(st.lists(st.sampled_from([None, 0, 1]), min_size=2, max_size=2).filter(any_axis))
    return {
        "grid": (*grid, depth * group),
        "threadgroup": (draw(st.integers(1, 8)), draw(st.integers(1, 8)), group),
        "axes": axes,
        "batch": draw(st.integers(1, 4)),
        "strided": draw(st.booleans()),
        "small": draw(st.booleans()),
        "dtype": draw(st.sampled_from([mx.float32, mx.int32, mx.float16])),
    }


def any_axis(axes: Sequence[int | None]) -> bool:
    return any(axis is not None for axis in axes)


GENERAL = """
uint3 p = thread_position_in_grid;
uint at = (p.z * threads_per_grid.y + p.y) * threads_per_grid.x + p.x;
uint r = p.x % x_shape[0], c = p.y % x_shape[1];
sum[at] = x[r * x_strides[0] + c * x_strides[1]] + w[at % w_shape[0]];
where[at] = threadgroup_position_in_grid.z * 64 + threadgroups_per_grid.z * 8
          + thread_position_in_threadgroup.z;
"""


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(launches())
def test_any_launch(launch):
    shape = (launch["grid"][0], launch["grid"][1])
    batch, axes = launch["batch"], launch["axes"]
    width = 3 if launch["small"] else 10
    x = mx.arange(batch * math.prod(shape), dtype=launch["dtype"]).reshape(batch, *shape)
    w = mx.arange(batch * width, dtype=launch["dtype"]).reshape(batch, width) * 100
    x = x[0] if axes[0] is None else mx.moveaxis(x, 0, axes[0])
    w = w[0] if axes[1] is None else mx.moveaxis(w, 0, axes[1])
    if launch["strided"]:
        x = mx.repeat(x, 2, -1)[..., ::2]
    run = function(
        GENERAL,
        ("x", "w"),
        ("sum", "where"),
        construction={"ensure_row_contiguous": not launch["strided"]},
        grid=launch["grid"],
        threadgroup=launch["threadgroup"],
        output_shapes=[launch["grid"]] * 2,
        output_dtypes=[launch["dtype"], mx.int32],
    )
    if launch["strided"]:  # the kernel knows no strides of w
        w = w if axes[1] is None else mx.contiguous(w)
        if axes[1] == 1 and batch > 1:
            return
    check(run, [x, w], axes)
