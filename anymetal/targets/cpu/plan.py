"""A kernel with one grid and threadgroup: its machine code is loaded, the launch is described.

A call only has to add the addresses of its arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection
from math import prod
from typing import NamedTuple

from anymetal.errors import KernelLaunchError
from anymetal.runtime import arrays
from anymetal.runtime.arrays import BufferTable, Exporter, Numbers
from anymetal.runtime.code import Code
from anymetal.runtime.pool import Call, Pool, pool
from anymetal.source import KernelSource, Parameter
from anymetal.targets.base import Extent
from anymetal.targets.cpu.code_lookup import code_of
from anymetal.targets.cpu.covered import covered
from anymetal.targets.cpu.special_launches import SpecialLaunches
from anymetal.targets.cpu.specialisation import specialisation
from anymetal.targets.cpu.variant import Variant, fitting_groups, launch_variant

_MOST_GROUPS = 2**63
_followed: dict[tuple[KernelSource, Extent, Extent, int], None] | None = None


def follow() -> Collection[tuple[KernelSource, Extent, Extent, int]]:
    """The launches that this process plans from now on, in order: source, grid, threadgroup, and
    how many times 2^31 bytes the largest array has. The collection grows."""
    global _followed
    _followed = {}
    return _followed.keys()


class Plan:
    """One kernel, ready for launches with one grid and threadgroup.

    The bridge (runtime/bridge/module.cpp) copies the public attributes, and launches by itself.
    """

    checked = False  #: whether no access leaves its array (faults.py)
    traced = False  #: whether one thread tells of all that it assigns (traced.py)
    sanitized = False  #: whether it tells of all that it does (sanitized.py)
    filled = False  #: of a sanitized build: whether outputs have contents before a launch
    nan = False  #: likewise: whether it tells of NaN and infinity
    report: Callable[..., None] | None = None  #: of a checked build: reports accesses that do

    def __init__(
        self, source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: int
    ) -> None:
        self._source = source
        self.grid = grid
        if _followed is not None:
            _followed[source, grid, threadgroup, large] = None
        fitting = self._fitting_groups(threadgroup)
        variant = launch_variant(
            grid,
            fitting,
            large=large,
            width=width,
            checked=self.checked,
            sanitized=self.sanitized,
            filled=self.filled,
            nan=self.nan,
        )
        #: Loaded as long as there is a plan, here or in the bridge.
        self.code = self._code(variant)
        self.group = fitting[self.code.declined]
        self.groups = [-(-threads // size) for threads, size in zip(grid, self.group, strict=True)]
        self.total_groups = prod(self.groups)
        if self.total_groups >= _MOST_GROUPS:
            raise KernelLaunchError(
                f"kernel `{source.name}`: grid={grid} in threadgroups of {self.group} would never "
                "end. `grid` counts threads."
            )
        #: Versions for launches that come often: the bridge has its own, `run` these.
        self.specialisation = (
            None
            if self.checked or self.traced
            else specialisation(source, variant.taken(self.code.declined), grid, self.group)
        )
        self._specials = SpecialLaunches(self.specialisation) if self.specialisation else None
        self.pool: Pool = pool()
        #: Whether one thread must run all threadgroups in their order.
        self.ordered = self.code.order_counts and self.pool.deterministic
        parameters = list(enumerate(source.parameters))
        self.buffers = len(parameters)
        #: Position of each array among the buffers: inputs, then outputs.
        self.slots = [
            slot for kind in ("input", "output") for slot, p in parameters if p.kind == kind
        ]
        #: Parameters that describe an input, each behind its position among the buffers.
        self.infos = [(slot, p) for slot, p in parameters if slot not in self.slots]
        #: For each output, how many of its bytes a launch certainly stores.
        self.covered = covered(self.code.stored, source.outputs, grid, self.group)
        #: States that no launch is using.
        self._free: list[LaunchState] = []

    def _fitting_groups(self, threadgroup: Extent) -> tuple[Extent, ...]:
        x, y, z = map(min, threadgroup, self.grid)
        if self.sanitized or self.traced:  # a report names the threadgroups that the caller knows
            return ((x, y, z),)
        groups = fitting_groups(self._source, self.grid, (x, y, z))
        return groups[-1:] if self.checked else groups  # no teams are formed

    def _code(self, variant: Variant) -> Code:
        return code_of(self._source, variant)

    def run(self, bound: list[Exporter], contiguous: bool) -> None:
        """Launch on evaluated arrays, inputs then outputs; return when those are written."""
        try:
            state = self._free.pop()
        except IndexError:
            state = self._new_state()
        table = state.table
        try:
            capsules = table.bind(bound, contiguous)
            numbers = [self._numbers(p, bound, capsules) for _, p in self.infos]
            for (slot, _), memory in zip(self.infos, numbers, strict=True):
                table.describe(slot, memory)
            self._launch(state, bound)
        finally:
            self._free.append(state)

    def _launch(self, state: LaunchState, bound: list[Exporter]) -> None:
        if self._specials is None:
            self.pool.run(state.call, state.address, self._source.name)
            return
        held = self._specials.held(state.table)
        special = None if held is None else self._specials.fitting(held)
        state.call.entry = (special or self.code).entry
        self.pool.run(state.call, state.address, self._source.name)
        if held is not None and special is None:
            self._specials.learn(held, state.call.group_time * self.total_groups)

    def _new_state(self) -> LaunchState:
        table = BufferTable(self.pool, self.buffers, self.slots)
        call = Call()
        call.entry = self.code.entry
        call.buffers = ctypes.addressof(table.buffers)
        call.grid[:] = self.grid
        call.group[:] = self.group
        call.groups[:] = self.groups
        call.total_groups = self.total_groups
        call.ordered = self.ordered
        call.arrays = self.buffers
        return LaunchState(call, ctypes.addressof(call), table)

    def _numbers(
        self, parameter: Parameter, bound: list[Exporter], capsules: list[object]
    ) -> Numbers:
        shape = bound[parameter.argument].shape
        if parameter.kind == "shape":
            return arrays.shape_numbers(shape)
        if parameter.kind == "ndim":
            return arrays.ndim_numbers(len(shape))
        if parameter.kind == "size":
            return arrays.size_numbers(prod(shape))
        return arrays.stride_numbers(self.pool, capsules[parameter.argument], len(shape))


class LaunchState(NamedTuple):
    """What a launch needs in memory; kept for the next launch of the same plan."""

    call: Call
    address: int  #: of the call
    table: BufferTable
    strays: ctypes.Structure | None = None  #: what a checked build notes (faults.py)
