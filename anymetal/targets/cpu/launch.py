"""Launching kernels on the CPU. After the first call of a kind everything here is looked up.

A `Plan` is one kernel with one grid and threadgroup: its machine code is loaded and the launch is
described. What is left for a call are the addresses of its arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import mlx.core as mx

from anymetal.errors import KernelLaunchError
from anymetal.runtime import arrays
from anymetal.runtime.arrays import Arguments, Exporter, Numbers
from anymetal.runtime.pool import Call, Pool, pool
from anymetal.source import KernelSource, Parameter
from anymetal.targets.base import Launch
from anymetal.targets.cpu.library import entry_of
from anymetal.targets.cpu.variant import fitting_group, gang_width_in_use, variant_for

Extent = tuple[int, int, int]

_SOURCES = 4096
_PLANS_PER_SOURCE = 256
_MOST_GROUPS = 2**63
_LARGE = 2**31  #: elements; from here on 32-bit indices count as unsigned


class CpuTarget:
    """Runs kernels on this machine's processors, at once."""

    name = "cpu"
    lazy = False

    def __init__(self) -> None:
        # By identity: the front of the house makes one source for equal calls, and comparing two
        # sources takes longer than a launch.
        self._plans: dict[
            int, tuple[KernelSource, dict[tuple[Extent, Extent, int, bool], Plan]]
        ] = {}

    def run(self, launch: Launch) -> list[mx.array]:
        """Run the kernel to its end and return its outputs, evaluated."""
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
        known = self._plans.get(id(source))
        if known is None:
            if len(self._plans) >= _SOURCES:
                self._plans.clear()
            known = self._plans[id(source)] = (source, {})
        plans = known[1]
        key = (grid, threadgroup, gang_width_in_use(), large)
        plan = plans.get(key)
        if plan is None:
            plan = Plan(source, grid, threadgroup, large)
            if len(plans) >= _PLANS_PER_SOURCE:
                plans.clear()
            plans[key] = plan
        return plan


class Plan:
    """One kernel, ready for launches with one grid and threadgroup."""

    def __init__(
        self, source: KernelSource, grid: Extent, threadgroup: Extent, large: bool
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
        self._entry = entry_of(source, variant_for(source, grid, self._group, large))
        self._pool: Pool = pool()
        parameters = list(enumerate(source.parameters))
        self._buffers = len(parameters)
        self._slots = [
            slot for kind in ("input", "output") for slot, p in parameters if p.kind == kind
        ]
        #: Parameters that describe an input, each with its position among the buffers.
        self._infos = [(slot, p) for slot, p in parameters if slot not in self._slots]
        #: Launch descriptions that no thread is using.
        self._free: list[_Description] = []

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
