"""The builds of a kernel, and how each is compiled and launched: in this process, without MLX's
graph around it, and with one run of the front end for all builds."""

from __future__ import annotations

import contextlib
import ctypes
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import mlx.core as mx

from anymetal.dtypes import DTYPES
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.known import Known
from anymetal.frontend.optimise import optimise
from anymetal.frontend.profile import Profile
from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP
from anymetal.machine import Machine
from anymetal.pipeline import program
from anymetal.runtime.arrays import BufferExtent
from anymetal.runtime.code import Code
from anymetal.runtime.disk_cache import Cached
from anymetal.runtime.pool import Call, pool
from anymetal.signature import KernelDefinition, SignatureGenerator
from anymetal.source import KernelSource
from anymetal.targets.cpu import compiler
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import Extent, Variant, fitting_groups, gang_width, launch_variant
from anymetal.testing.lockstep.arrays import Arrays
from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.dialect import HEADER


@dataclass(frozen=True)
class Build:
    """A processor to compile for, and lanes in a gang."""

    name: str
    cpu: str
    width: int
    #: As launches that come often: the compiler chooses between threadgroups that fit, and then
    #: makes a version with the sizes of the launch. Other builds run the first that fits.
    known: bool = False

    def variant(self, case: Case, groups: tuple[Extent, ...]) -> Variant:
        """The class of the case's launch in this build."""
        with gang_width(self.width):
            variant = launch_variant(case.grid, groups if self.known else groups[:1])
        other = variant.instead
        if other:
            other = other._replace(cpu=self.cpu, without=case.off)
        return variant._replace(cpu=self.cpu, without=case.off, instead=other)


#: Those that this machine can run are used (`builds_here`).
BUILDS = (
    Build("avx512", "x86-64-v4", 32),
    Build("avx2", "x86-64-v3", 32),
    Build("sse", "x86-64-v2", 32),
    Build("scalar", "", 1),
    Build("known", "", 32, known=True),
    Build("native", "", 32),
)


def builds_here() -> dict[str, Build]:
    """The builds that can run on this machine."""
    machine = machine_for("")
    features, lacking = machine.enabled, set()
    if machine.architecture != "x86_64":
        lacking.add("sse")
    if not {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"} <= features:
        lacking.add("avx512")
    if not {"avx2", "fma", "f16c", "bmi2"} <= features:
        lacking.add("avx2")
    return {build.name: build for build in BUILDS if build.name not in lacking}


def groups_of(case: Case, source: KernelSource) -> tuple[Extent, ...]:
    """The threadgroups that may run the case; the first one does."""
    x, y, z = map(min, case.threadgroup, case.grid)
    return fitting_groups(source, case.grid, (x, y, z))


def source_of(case: Case) -> KernelSource:
    """The kernel as AnyMetal sees it."""
    definition = KernelDefinition(
        case.name,
        tuple(array.name for array in case.inputs),
        tuple(array.name for array in case.outputs),
        case.body,
        HEADER + case.header,
        atomic_outputs=case.atomic,
    )
    template = [(n, DTYPES[v] if isinstance(v, str) else v) for n, v in case.template]
    inputs = [mx.zeros((array.data.size,), DTYPES[array.element]) for array in case.inputs]
    dtypes = [DTYPES[array.element] for array in case.outputs]
    return SignatureGenerator(definition).specialization(inputs, dtypes, template).source


class Compiled(NamedTuple):
    """Machine code, and the threadgroup to run it in."""

    entry: int  #: its address
    group: Extent


class Compiler:
    """Compiles the builds of one case after the other; Clang runs once for each processor."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.source = source_of(case)
        self._folder = folder
        self._loaded: list[Code] = []
        self._raw: dict[Profile, str] = {}
        self._text: dict[tuple[Profile, Known | None], str] = {}
        self.seconds = 0.0  #: of processors, for the last build; the first pays for Clang

    def __call__(self, build: Build, stages: GangStages | None = None) -> Compiled:
        """The case in this build; `stages` follows the compilation."""
        groups = groups_of(self.case, self.source)
        variant = build.variant(self.case, groups)
        start = _processor_seconds()
        with self._one_front_end(), _limits(self.case):
            code = self._code(build, variant, stages)
            group = groups[code.declined]
            if build.known:
                special = variant.taken(code.declined)
                special = special._replace(known=Known(self.case.grid, group, ()))
                code = self._code(build, special, stages)
        self.seconds = _processor_seconds() - start
        return Compiled(code.entry, group)

    def _code(self, build: Build, variant: Variant, stages: GangStages | None) -> Code:
        path = self._folder / f"{self.case.name}-{build.name}.so"
        library = compiler.compile_kernel(self.source, variant, stages)
        path.write_bytes(library)
        try:
            self._loaded.append(Code(Cached(path, library, 0, ""), self.case.name))
            return self._loaded[-1]
        finally:
            path.unlink()

    @contextlib.contextmanager
    def _one_front_end(self) -> Iterator[None]:
        def raw(source: KernelSource, profile: Profile) -> str:
            if profile not in self._raw:
                self._raw[profile] = compile_to_ir(source, profile)
            return self._raw[profile]

        def optimised(
            text: str,
            large: int,
            profile: Profile,
            sanitized: bool,
            known: Known | None,
            threads: int,
        ) -> str:
            assert not large and not sanitized and threads == MAX_THREADS_PER_THREADGROUP
            if (profile, known) not in self._text:
                self._text[profile, known] = optimise(text, large, profile, known=known)
            return self._text[profile, known]

        with (
            mock.patch.object(program, "compile_to_ir", raw),
            mock.patch.object(program, "optimise", optimised),
        ):
            yield


def _limits(case: Case) -> contextlib.AbstractContextManager[object]:
    """For such cases small launches take the way of large ones: results go past the caches."""
    if not case.low_limits:
        return contextlib.nullcontext()
    return mock.patch.object(Machine, "streamed_bytes", 256)


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def launch(case: Case, compiled: Compiled, arrays: Arrays) -> None:
    """One launch on the pool; raises what a launch may raise."""
    group = compiled.group
    groups = [-(-threads // size) for threads, size in zip(case.grid, group, strict=True)]
    extents = (BufferExtent * len(arrays.sizes))(*(BufferExtent(0, size) for size in arrays.sizes))
    addresses = [*arrays.addresses, ctypes.addressof(extents), 0]
    buffers = (ctypes.c_uint64 * len(addresses))(*addresses)
    call = Call()
    call.entry = compiled.entry
    call.buffers = ctypes.addressof(buffers)
    call.grid[:] = case.grid
    call.group[:] = group
    call.groups[:] = groups
    call.total_groups = prod(groups)
    pool().run(call, ctypes.addressof(call), case.name)
