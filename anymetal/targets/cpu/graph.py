"""Kernels as nodes of MLX's graph: what a call tells the bridge, and later the machine code.

A call only makes the node. At its first evaluation the bridge asks for the `Recipe`, which
compiles; all evaluations after that stay in C++.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import mlx.core as mx

from anymetal.runtime.code import Code
from anymetal.runtime.pool import patience
from anymetal.targets.apple import recorded_for_export
from anymetal.targets.base import Extent, Launch

if TYPE_CHECKING:
    from anymetal.runtime.bridge.native import Native, NativeOutline, NativePlan


class Recipe(NamedTuple):
    """What the bridge (module.cpp) reads of a compiled kernel; names and order of infos count."""

    run: int  #: addresses of the pool's functions
    watch: int
    code: Code  #: the bridge holds its library by itself
    grid: Extent
    group: Extent
    groups: list[int]
    total_groups: int
    buffers: int
    slots: list[int]  #: position of each array among the buffers: inputs, then outputs
    infos: list[tuple[int, int, int]]  #: kind (`KINDS`), input, position among the buffers
    covered: list[int]  #: of each output, how many bytes are certain to be stored
    ordered: bool  #: whether one thread must run all threadgroups in their order
    report: Callable[[int, int, list[tuple[tuple[int, ...], int]], bool], None] | None = None
    """Of a checked build: tells of accesses that strayed (faults.py)."""


#: Kinds of parameters that describe an input, by their numbers in plan.h.
KINDS = {"shape": 0, "strides": 1, "ndim": 2, "size": 3}


def record(native: Native, plan: NativePlan, launch: Launch) -> list[mx.array]:
    """The outputs as arrays that are not evaluated yet."""
    if native.exporting(launch.inputs):
        exported = recorded_for_export(launch)
        if exported is not None:
            return exported
    return native.call(outline(native, plan, launch), launch.inputs, patience(), launch.stream)


def outline(native: Native, plan: NativePlan, launch: Launch) -> NativeOutline:
    """What of a launch is the same for all calls that are like it."""
    return native.outline(
        plan,
        launch.output_shapes,
        launch.output_dtypes,
        launch.ensure_row_contiguous,
        launch.init_value,
        launch.lift,
    )
