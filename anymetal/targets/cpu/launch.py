"""Launching kernels on the CPU. After the first call of a kind everything here is looked up.

A `Plan` is one kernel with one grid and threadgroup: its machine code is loaded and the launch is
described. What is left for a call are the addresses of its arrays. With the bridge to MLX a call
only makes a node of the graph (graph.py), and the plan is made when that is evaluated.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

import mlx.core as mx

from anymetal.errors import KernelLaunchError
from anymetal.runtime import arrays
from anymetal.runtime.arrays import Arguments, Exporter, Numbers
from anymetal.runtime.bridge import loader as bridge
from anymetal.runtime.pool import Call, Pool, patience, pool
from anymetal.source import KernelSource, Parameter
from anymetal.targets.base import Arguments as CallArguments
from anymetal.targets.base import Extent, Launch, Recent, check_extents
from anymetal.targets.cpu.covered import covered_bytes
from anymetal.targets.cpu.graph import KINDS, Recipe, outline, record
from anymetal.targets.cpu.library import entry_of, stores_of
from anymetal.targets.cpu.variant import fitting_group, gang_width_in_use, variant_for

if TYPE_CHECKING:
    from anymetal.runtime.bridge.native import Native, NativePlan, NativeRecentCalls

#: Grid, threadgroup, gang width, arrays of 2³¹ elements.
_Key = tuple[Extent, Extent, int, bool]
_T = TypeVar("_T")

_SOURCES = 4096
_PLANS_PER_SOURCE = 256
_MOST_GROUPS = 2**63
_LARGE = 2**31  #: elements; from here on 32-bit indices count as unsigned


class CpuTarget:
    """Runs kernels on this machine: as nodes of MLX's graph, or at once without a bridge."""

    name = "cpu"

    def __init__(self) -> None:
        self._plans: _BySource[Plan] = _BySource()
        self._nodes: _BySource[NativePlan] = _BySource()

    @property
    def lazy(self) -> bool:
        """Whether the bridge to MLX is there. The first question starts its build, if need be."""
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
        return record(native, self._plan_of(native, launch), launch)

    def keep(self, recent: Recent | None, launch: Launch, call: CallArguments) -> Recent | None:
        """With the bridge, calls like this one become nodes without a look at their arguments."""
        native = bridge.native()
        if native is None:
            return None
        kept = (
            cast("NativeRecentCalls", recent)
            if recent is not None
            else native.RecentCalls(call.defaults, patience)
        )
        kept.keep(call.given, outline(native, self._plan_of(native, launch), launch))
        return kept

    def _plan_of(self, native: Native, launch: Launch) -> NativePlan:
        sizes = [array.size for array in launch.inputs]
        sizes += map(prod, launch.output_shapes)
        large = max(sizes) >= _LARGE
        return self.plan(native, launch.source, launch.grid, launch.threadgroup, large)

    def plan(
        self, native: Native, source: KernelSource, grid: Extent, threadgroup: Extent, large: bool
    ) -> NativePlan:
        """The plan of nodes of the graph. `large`: an array has 2³¹ elements or more."""
        plans, key = self._nodes.of(source), (grid, threadgroup, gang_width_in_use(), large)
        plan = plans.get(key)
        if plan is None:
            plan = native.plan(source.name, lambda: _recipe(source, *key))
            _keep(plans, key, plan)
        return plan

    def _run_now(self, launch: Launch) -> list[mx.array]:
        init_value = launch.init_value
        outputs = [
            arrays.new_output(shape, dtype, init_value)
            for shape, dtype in zip(launch.output_shapes, launch.output_dtypes, strict=True)
        ]
        if 0 in launch.grid or 0 in launch.threadgroup:
            return outputs
        large = any(array.size >= _LARGE for array in (*launch.inputs, *outputs))
        plan = self._plan(launch.source, launch.grid, launch.threadgroup, large)
        mx.eval(launch.inputs)
        plan.run([*launch.inputs, *outputs], launch.ensure_row_contiguous)
        return outputs

    def run_in_place(
        self, source: KernelSource, arrays: Sequence[Exporter], grid: Extent, threadgroup: Extent
    ) -> None:
        """Run the kernel to its end on these arrays: all that it reads, then all that it writes."""
        if 0 in grid or 0 in threadgroup:
            return
        large = any(prod(array.shape) >= _LARGE for array in arrays)
        self._plan(source, grid, threadgroup, large).run(list(arrays), True)

    def _plan(self, source: KernelSource, grid: Extent, threadgroup: Extent, large: bool) -> Plan:
        plans, key = self._plans.of(source), (grid, threadgroup, gang_width_in_use(), large)
        plan = plans.get(key)
        if plan is None:
            plan = Plan(source, *key)
            _keep(plans, key, plan)
        return plan


class _BySource(Generic[_T]):
    """Plans by source, and of each source by launch.

    By the identity of the source: the front of the house makes one for equal calls, and comparing
    two takes longer than a launch.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[KernelSource, dict[_Key, _T]]] = {}

    def of(self, source: KernelSource) -> dict[_Key, _T]:
        """What is kept for a source."""
        known = self._known.get(id(source))
        if known is None:
            if len(self._known) >= _SOURCES:
                self._known.clear()
            known = self._known[id(source)] = (source, {})
        return known[1]


def _keep(plans: dict[_Key, _T], key: _Key, plan: _T) -> None:
    if len(plans) >= _PLANS_PER_SOURCE:
        plans.clear()
    plans[key] = plan


def _recipe(
    source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: bool
) -> Recipe | None:
    """What the bridge launches; None for a launch without threads."""
    check_extents(source.name, grid, threadgroup)
    if 0 in grid or 0 in threadgroup:
        return None
    return Plan(source, grid, threadgroup, width, large).recipe()


class Plan:
    """One kernel, ready for launches with one grid and threadgroup."""

    def __init__(
        self, source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: bool
    ) -> None:
        self._kernel = source.name
        self._grid = grid
        x, y, z = map(min, threadgroup, grid)
        self._group = fitting_group(source, grid, (x, y, z))
        self._groups = [
            -(-threads // group) for threads, group in zip(grid, self._group, strict=True)
        ]
        if prod(self._groups) >= _MOST_GROUPS:
            raise KernelLaunchError(
                f"kernel `{source.name}`: grid={grid} in threadgroups of {self._group} would never "
                "end. `grid` counts threads."
            )
        self._entry = entry_of(source, variant_for(source, grid, self._group, large, width))
        self._pool: Pool = pool()
        parameters = list(enumerate(source.parameters))
        self._buffers = len(parameters)
        self._slots = [
            slot for kind in ("input", "output") for slot, p in parameters if p.kind == kind
        ]
        covered = covered_bytes(stores_of(self._entry), grid, self._group)
        self._covered = [covered.get(slot, 0) for slot, p in parameters if p.kind == "output"]
        #: Parameters that describe an input, each with its position among the buffers.
        self._infos = [(slot, p) for slot, p in parameters if slot not in self._slots]
        #: Launch descriptions that no thread is using.
        self._free: list[_Description] = []

    def recipe(self) -> Recipe:
        """The plan as the bridge wants it."""
        run, watch = self._pool.native
        return Recipe(
            run,
            watch,
            self._entry,
            self._grid,
            self._group,
            self._groups,
            prod(self._groups),
            self._buffers,
            self._slots,
            [(KINDS[p.kind], p.argument, slot) for slot, p in self._infos],
            self._covered,
        )

    def run(self, bound: list[Exporter], contiguous: bool) -> None:
        """Launch on evaluated arrays, inputs then outputs; return when those are written."""
        try:
            description = self._free.pop()
        except IndexError:
            description = self._describe()
        call, address, arguments = description
        try:
            capsules = arguments.bind(bound, contiguous)
            numbers = [self._numbers(p, bound, capsules) for _, p in self._infos]
            for (slot, _), memory in zip(self._infos, numbers, strict=True):
                arguments.buffers[slot] = memory.address
            self._pool.run(call, address, self._kernel)
        finally:
            self._free.append(description)

    def _describe(self) -> _Description:
        arguments = Arguments(self._pool, self._buffers, self._slots)
        call = Call()
        call.entry = self._entry
        call.buffers = ctypes.addressof(arguments.buffers)
        call.grid[:] = self._grid
        call.group[:] = self._group
        call.groups[:] = self._groups
        call.total_groups = prod(self._groups)
        return _Description(call, ctypes.addressof(call), arguments)

    def _numbers(
        self, parameter: Parameter, bound: list[Exporter], capsules: list[object]
    ) -> Numbers:
        array = bound[parameter.argument]
        assert isinstance(array, mx.array)
        if parameter.kind == "shape":
            return arrays.shape_numbers(array.shape)
        if parameter.kind == "ndim":
            return arrays.ndim_numbers(array.ndim)
        if parameter.kind == "size":
            return arrays.size_numbers(array.size)
        return arrays.stride_numbers(self._pool, capsules[parameter.argument], array.ndim)


class _Description(NamedTuple):
    """What a launch needs in memory; kept for the next launch of the same plan."""

    call: Call
    address: int  #: of the call
    arguments: Arguments
