"""Launching kernels on the CPU. After the first call of a kind everything here is looked up.

With the bridge to MLX a call only makes a node of the graph. At the first evaluation of such a node
the bridge asks for the plan (plan.py), which compiles; all evaluations after that stay in C++.
Without the bridge the plan runs at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import prod
from typing import TYPE_CHECKING, cast

import mlx.core as mx

from anymetal.errors import KernelMemoryError
from anymetal.runtime import arrays
from anymetal.runtime.arrays import Exporter
from anymetal.runtime.bridge import loader as bridge
from anymetal.runtime.pool import ignored_interrupts
from anymetal.source import KernelSource
from anymetal.targets.apple import exported
from anymetal.targets.base import LARGE, Extent, Launch, check_extents
from anymetal.targets.by_source import BySource
from anymetal.targets.cpu.plan import Plan
from anymetal.targets.cpu.variant import gang_width_in_use
from anymetal.targets.graph import CallArguments, CallCache, GraphTarget

if TYPE_CHECKING:
    from anymetal.runtime.bridge.native import (
        Native,
        NativeCallCache,
        NativeDescriptor,
        NativeLazyPlan,
    )
    from anymetal.targets.cpu.faults import CheckedPlan

#: Grid, threadgroup, gang width, how many times 2³¹ bytes an array has.
_Key = tuple[Extent, Extent, int, int]


class CpuTarget(GraphTarget):
    """Runs kernels on this machine: as nodes of MLX's graph, or at once without a bridge."""

    name = "cpu"

    def __init__(self) -> None:
        self._plans: BySource[_Key, Plan] = BySource()
        self._lazy_plans: BySource[_Key, NativeLazyPlan] = BySource()

    @property
    def lazy(self) -> bool:
        """Whether the bridge to MLX is there. The first time this is asked, its build starts if
        need be."""
        return bridge.native() is not None

    def become_lazy(self) -> None:
        """Wait for the bridge; raises ToolchainError with what is missing."""
        bridge.require()

    def run(self, launch: Launch) -> list[mx.array]:
        """The outputs of the kernel: to be evaluated by MLX, or evaluated where there is no bridge.

        Without a bridge it raises all that a launch may raise, else only MLX's evaluation does.
        """
        native = bridge.native()
        if native is None:
            return self._run_now(launch)
        if native.exporting(launch.inputs):
            recorded = exported(launch)
            if recorded is not None:
                return recorded
        descriptor = self._descriptor(native, launch)
        return native.call(descriptor, launch.inputs, ignored_interrupts(), launch.stream)

    def keep(
        self, cache: CallCache | None, launch: Launch, call: CallArguments
    ) -> CallCache | None:
        """With the bridge, calls like this one become nodes without a look at their arguments."""
        native = bridge.native()
        if native is None:
            return None
        kept = (
            cast("NativeCallCache", cache)
            if cache is not None
            else native.CallCache(call.defaults, ignored_interrupts)
        )
        descriptor = self._descriptor(native, launch)
        kept.keep(call.positional, call.given, descriptor, launch.inputs)
        return kept

    def _descriptor(self, native: Native, launch: Launch) -> NativeDescriptor:
        """What of a launch is the same for all calls that are like it."""
        sizes = [array.nbytes for array in launch.inputs]
        outputs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
        sizes += [prod(shape) * dtype.size for shape, dtype in outputs]
        large = max(sizes) // LARGE
        return native.descriptor(
            self.lazy_plan(native, launch.source, launch.grid, launch.threadgroup, large),
            launch.output_shapes,
            launch.output_dtypes,
            launch.ensure_row_contiguous,
            launch.init_value,
            launch.lift,
            launch.starts,
            launch.made,
        )

    def lazy_plan(
        self, native: Native, source: KernelSource, grid: Extent, threadgroup: Extent, large: int
    ) -> NativeLazyPlan:
        """The plan of nodes of the graph. `large`: how many times 2³¹ bytes an array has."""
        plans, key = self._lazy_plans.of(source), _key(grid, threadgroup, large)
        plan = plans.get(key)
        if plan is None:
            twin = copy(source)  # what the plan holds must not be what it goes with
            plan = native.lazy_plan(
                source.name,
                lambda: _plan_with_threads(twin, *key),
                lambda: _checked_plan(twin, *key),
            )
            BySource.keep(plans, key, plan)
        return plan

    def _run_now(self, launch: Launch) -> list[mx.array]:
        outputs = _outputs(launch)
        if 0 in launch.grid or 0 in launch.threadgroup:
            return outputs
        large = max(array.nbytes for array in (*launch.inputs, *outputs)) // LARGE
        plan = self._plan(launch.source, launch.grid, launch.threadgroup, large)
        mx.eval(launch.inputs)
        try:
            plan.run([*launch.inputs, *outputs], launch.ensure_row_contiguous)
            return outputs
        except KernelMemoryError as error:
            if plan.checked:
                raise
            fault = error
        outputs = _outputs(launch)
        self._run_checked(launch, outputs, large, fault)
        return outputs

    def _run_checked(
        self, launch: Launch, outputs: list[mx.array], large: int, fault: KernelMemoryError
    ) -> None:
        """Once more, with bounds checks. If an access strays, later launches begin with them."""
        source, grid, threadgroup = launch.source, launch.grid, launch.threadgroup
        key = _key(grid, threadgroup, large)
        plan = _checked_plan(copy(source), *key)
        try:
            plan.run([*launch.inputs, *outputs], launch.ensure_row_contiguous)
        finally:
            if plan.strayed:
                BySource.keep(self._plans.of(source), key, plan)
        if not plan.strayed:
            raise fault

    def run_in_place(
        self, source: KernelSource, arrays: Sequence[Exporter], grid: Extent, threadgroup: Extent
    ) -> None:
        """Run the kernel on these arrays and wait for it: all that it reads, then all that it
        writes."""
        if 0 in grid or 0 in threadgroup:
            return
        large = max((array.nbytes for array in arrays), default=0) // LARGE
        try:
            self._plan(source, grid, threadgroup, large).run(list(arrays), True)
        except KernelMemoryError as fault:
            from anymetal.targets.cpu.faults import diagnosis

            found = diagnosis(source, list(arrays), _key(grid, threadgroup, large))
            raise found or fault from None

    def _plan(self, source: KernelSource, grid: Extent, threadgroup: Extent, large: int) -> Plan:
        plans, key = self._plans.of(source), _key(grid, threadgroup, large)
        plan = plans.get(key)
        if plan is None:
            plan = Plan(copy(source), *key)
            BySource.keep(plans, key, plan)
        return plan


def _outputs(launch: Launch) -> list[mx.array]:
    pairs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
    return [arrays.new_output(shape, dtype, launch.init_value) for shape, dtype in pairs]


def _key(grid: Extent, threadgroup: Extent, large: int) -> _Key:
    return grid, threadgroup, gang_width_in_use(), large


def _plan_with_threads(
    source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: int
) -> Plan | None:
    """What the bridge launches; None for a launch without threads."""
    check_extents(source.name, grid, threadgroup)
    if 0 in grid or 0 in threadgroup:
        return None
    return Plan(source, grid, threadgroup, width, large)


def _checked_plan(
    source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: int
) -> CheckedPlan:
    """The same for a kernel that has faulted."""
    from anymetal.targets.cpu.faults import CheckedPlan

    return CheckedPlan(source, grid, threadgroup, width, large)
