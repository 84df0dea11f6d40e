"""Launches of scalar builds in which one thread tells of all that it assigns."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import NamedTuple

from anymetal.frontend import clang
from anymetal.frontend.traced import Site, with_markers
from anymetal.runtime import scratch
from anymetal.runtime.arrays import Exporter
from anymetal.runtime.code import Code
from anymetal.runtime.disk_cache import Cached
from anymetal.source import KernelSource, LibrarySource
from anymetal.targets.base import Extent
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.front_end_profile import profile_for
from anymetal.targets.cpu.plan import Plan
from anymetal.targets.cpu.variant import Variant

_MOST_VALUES = 1 << 20
_SCALAR = 1  #: lane
#: Clang tells names and types of variables.
_NAMES = "-debug-info-kind=limited"


class _Record(ctypes.Structure):
    """`Trace` in traced.cpp."""

    _fields_ = [
        ("words", ctypes.c_uint64),
        ("capacity", ctypes.c_uint64),
        ("used", ctypes.c_uint64),
        ("lost", ctypes.c_uint64),
        ("thread", ctypes.c_uint32 * 3),
    ]


class Step(NamedTuple):
    """One thing that the thread has done."""

    site: Site
    values: list[int]  #: bits; indices first


class TracedPlan(Plan):
    """A kernel whose launches tell what one thread does."""

    traced = True

    def __init__(
        self, source: KernelSource, grid: Extent, threadgroup: Extent, large: int, thread: Extent
    ) -> None:
        self._sites: list[Site] = []
        super().__init__(source, grid, threadgroup, _SCALAR, large)
        self._thread = thread
        #: How many values found no room.
        self.lost = 0

    def _code(self, variant: Variant) -> Code:
        """Compiled for this launch alone, in this process."""
        source, profile = self._source, profile_for(variant.cpu)
        whole = source
        if not isinstance(source, LibrarySource):
            whole, _ = clang.checked(source, profile)  # which raises what is to be raised
        edited, ir = clang.compiled(whole, profile, _NAMES)

        def change(ir: str) -> str:
            marked, self._sites = with_markers(edited, ir)
            return marked

        raw = clang.finished(edited, ir, profile, change)
        library = compile_kernel(source, variant, raw=raw)
        with scratch.workspace() as folder:
            path = folder / "traced.so"
            path.write_bytes(library)
            return Code(Cached(path, library, 0, ""), source.name)

    def steps(self, bound: list[Exporter], contiguous: bool) -> list[Step]:
        """Launch, and what the thread has done. Raises as `run` does."""
        if not self._sites:
            self.run(bound, contiguous)
            return []
        words = (ctypes.c_uint64 * (2 * _MOST_VALUES))()
        (address,) = self.code.addresses("am_traced", 1)
        record = _Record.from_address(address)
        record.words, record.capacity = ctypes.addressof(words), len(words)
        record.used = record.lost = 0
        record.thread[:] = self._thread
        self.run(bound, contiguous)
        self.lost = record.lost
        return list(self._read(words[: record.used]))

    def _read(self, words: list[int]) -> Iterator[Step]:
        for number, bits in zip(words[::2], words[1::2], strict=True):
            site, part = number & 0xFFFFFFFF, number >> 32
            if part == 0:
                step = Step(self._sites[site], [])
                yield step
            step.values.append(bits)
