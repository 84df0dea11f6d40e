"""A profile of kernels on an NVIDIA GPU: each launch as the GPU has timed it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from math import prod
from statistics import fmean
from typing import NamedTuple

import mlx.core as mx

from anymetal import targets
from anymetal.profiling import bandwidth
from anymetal.profiling.activities import Activities, Activity
from anymetal.profiling.kernels import KernelProfile
from anymetal.profiling.session import Profile
from anymetal.runtime.arrays import Exporter
from anymetal.runtime.recorder import Launch as Timed
from anymetal.source import KernelSource
from anymetal.targets.base import Extent, Launch, Target
from anymetal.targets.cuda.arguments import geometry
from anymetal.targets.cuda.launch import architecture_here
from anymetal.targets.cuda.names import entry_of
from anymetal.targets.cuda.occupancy import occupancy
from anymetal.targets.graph import GraphTarget

#: Kernels that are not from Metal.
OPERATIONS = "(kernels of MLX and others)"

Blocks = tuple[int, ...]


class Moved(NamedTuple):
    """Bytes of the arrays of a call."""

    read: int
    written: int


class Noting(GraphTarget):
    """In front of the target for GPUs: keeps what calls are of, which the GPU does not know."""

    lazy = True
    on_gpu = True

    def __init__(self, target: GraphTarget) -> None:
        self.target, self.name = target, target.name
        self.titles: dict[str, str] = {}  #: by names in PTX
        self.moved: dict[tuple[str, Blocks], list[Moved]] = {}

    def run(self, launch: Launch) -> list[mx.array]:
        self._note(launch.source)
        if 0 not in (*launch.grid, *launch.threadgroup):
            outputs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
            blocks = geometry(launch.source.name, launch.grid, launch.threadgroup).blocks
            moved = Moved(
                sum(array.nbytes for array in launch.inputs),
                sum(prod(shape) * dtype.size for shape, dtype in outputs),
            )
            key = entry_of(launch.source.entry), tuple(blocks)
            self.moved.setdefault(key, []).append(moved)
        return self.target.run(launch)

    def run_in_place(
        self, source: KernelSource, arrays: Sequence[Exporter], grid: Extent, threadgroup: Extent
    ) -> None:
        self._note(source)
        self.target.run_in_place(source, arrays, grid, threadgroup)

    def become_lazy(self) -> None:
        self.target.become_lazy()

    def _note(self, source: KernelSource) -> None:
        self.titles[entry_of(source.entry)] = f"{source.name}{source.template_arguments}"


class GpuProfile(Profile):
    """The same of kernels that ran on an NVIDIA GPU, where no lines are sampled.

    `variant` of a kernel says how large its blocks are, and how many of them the GPU has in flight.
    """

    def _start(self, stack: ExitStack) -> None:
        self._activities = Activities()
        before = targets.put_in_front(self._in_front)
        stack.callback(targets.put_in_front, before)
        mx.synchronize()
        self._activities.begin()

    def _stop(self) -> None:
        self._ran = self._activities.end()

    def _read(self) -> None:
        found = self._ran
        self.where = str(mx.device_info(mx.gpu).get("device_name", "a GPU"))
        self.bytes_per_second = _bandwidth() if found else 0.0
        self.kernels = kernels_of(found, self._noting, self.bytes_per_second)
        titles = self._noting.titles
        self._launches = [(titles.get(one.name, one.name), _timed(one)) for one in found]

    def _in_front(self, target: Target) -> Target:
        assert isinstance(target, GraphTarget)
        self._noting = Noting(target)
        return self._noting


def kernels_of(
    activities: Sequence[Activity], noting: Noting, bytes_per_second: float
) -> list[KernelProfile]:
    """The kernels that ran, the one with the most time first; all that are not from Metal are one.

    The GPU does not know arrays: a launch counts with the bytes of the calls of the same kernel
    with as many blocks, their mean if they differ.
    """
    found: dict[tuple[str, str], KernelProfile] = {}
    for one in activities:
        title = noting.titles.get(one.name)
        variant = "" if title is None else _variant(one)
        title = title or OPERATIONS
        kernel = found.setdefault((title, variant), KernelProfile(title, variant, flops=None))
        kernel.seconds.append((one.ended - one.begun) * 1e-9)
        moved = noting.moved.get((one.name, one.blocks), [])
        if moved:
            kernel.bytes_read += round(fmean(call.read for call in moved))
            kernel.bytes_written += round(fmean(call.written for call in moved))
    for kernel in found.values():
        kernel.floor_seconds = (kernel.bytes_read + kernel.bytes_written) / bytes_per_second
    return sorted(found.values(), key=lambda kernel: -kernel.total_seconds)


def _variant(one: Activity) -> str:
    threads = prod(one.block)
    fits = occupancy(architecture_here(), threads, one.registers, one.memory)
    local = f", {one.spilled} bytes of them in memory" if one.spilled else ""
    return (
        f"threadgroups of {threads}, {one.registers} registers{local}; "
        f"{fits.share:.0%} of the warps that fit, by {fits.limit}"
    )


def _timed(one: Activity) -> Timed:
    return Timed(0, one.begun, one.ended, one.stream, 0, one.blocks, one.block, ())


def _bandwidth() -> float:
    """Bytes per second, read and written together, of the fastest of some copies by a kernel."""
    source = mx.arange(bandwidth.MOST // 4, dtype=mx.uint32)
    mx.eval(source)
    activities = Activities()
    mx.synchronize()
    activities.begin()
    for _ in range(bandwidth.RUNS):
        mx.eval(bandwidth.copy_of(source))
    mx.synchronize()
    copies = [one for one in activities.end() if "memory_floor" in one.name]
    return 2 * bandwidth.MOST / (min(one.ended - one.begun for one in copies) * 1e-9)
