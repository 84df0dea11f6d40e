"""One kernel with one grid and threadgroup: its machine code is loaded, the launch is described.

What is left for a call are the addresses of its arrays.
"""

from __future__ import annotations

import ctypes
from math import prod
from typing import NamedTuple

from anymetal.errors import KernelLaunchError
from anymetal.runtime import arrays
from anymetal.runtime.arrays import Arguments, Exporter, Numbers
from anymetal.runtime.pool import Call, Pool, pool
from anymetal.source import KernelSource, Parameter
from anymetal.targets.base import Extent
from anymetal.targets.cpu.covered import covered_bytes
from anymetal.targets.cpu.graph import KINDS, Recipe
from anymetal.targets.cpu.library import code_of
from anymetal.targets.cpu.variant import fitting_group, variant_for

_MOST_GROUPS = 2**63


class Plan:
    """One kernel, ready for launches with one grid and threadgroup."""

    checked = False  #: whether no access leaves its array (faults.py)

    def __init__(
        self, source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: int
    ) -> None:
        self._source = source
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
        variant = variant_for(source, grid, self._group, large, width, self.checked)
        #: Loaded as long as there is a plan, here or (see graph.py) in the bridge.
        self._code = code_of(source, variant)
        self._pool: Pool = pool()
        self._ordered = self._code.order_counts and self._pool.deterministic
        parameters = list(enumerate(source.parameters))
        self._buffers = len(parameters)
        self._slots = [
            slot for kind in ("input", "output") for slot, p in parameters if p.kind == kind
        ]
        covered = {} if self.checked else covered_bytes(self._code.notes, grid, self._group)
        self._covered = [covered.get(slot, 0) for slot, p in parameters if p.kind == "output"]
        #: Parameters that describe an input, each with its position among the buffers.
        self._infos = [(slot, p) for slot, p in parameters if slot not in self._slots]
        #: Launch descriptions that no thread is using.
        self._free: list[Description] = []

    def recipe(self) -> Recipe:
        """The plan as the bridge wants it."""
        run, watch = self._pool.native
        return Recipe(
            run,
            watch,
            self._code,
            self._grid,
            self._group,
            self._groups,
            prod(self._groups),
            self._buffers,
            self._slots,
            [(KINDS[p.kind], p.argument, slot) for slot, p in self._infos],
            self._covered,
            self._ordered,
        )

    def run(self, bound: list[Exporter], contiguous: bool) -> None:
        """Launch on evaluated arrays, inputs then outputs; return when those are written."""
        try:
            description = self._free.pop()
        except IndexError:
            description = self._describe()
        arguments = description.arguments
        try:
            capsules = arguments.bind(bound, contiguous)
            numbers = [self._numbers(p, bound, capsules) for _, p in self._infos]
            for (slot, _), memory in zip(self._infos, numbers, strict=True):
                arguments.describe(slot, memory)
            self._launch(description, bound)
        finally:
            self._free.append(description)

    def _launch(self, description: Description, bound: list[Exporter]) -> None:
        self._pool.run(description.call, description.address, self._source.name)

    def _describe(self) -> Description:
        arguments = Arguments(self._pool, self._buffers, self._slots)
        call = Call()
        call.entry = self._code.entry
        call.buffers = ctypes.addressof(arguments.buffers)
        call.grid[:] = self._grid
        call.group[:] = self._group
        call.groups[:] = self._groups
        call.total_groups = prod(self._groups)
        call.ordered = self._ordered
        return Description(call, ctypes.addressof(call), arguments)

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
        return arrays.stride_numbers(self._pool, capsules[parameter.argument], len(shape))


class Description(NamedTuple):
    """What a launch needs in memory; kept for the next launch of the same plan."""

    call: Call
    address: int  #: of the call
    arguments: Arguments
    strays: ctypes.Structure | None = None  #: what a checked build notes (faults.py)
