"""Classes of launches: one compiled version of a kernel serves all launches of a class."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from anymetal.source import KernelSource

SIMD_GROUP = 32


@dataclass(frozen=True, slots=True)
class Variant:
    """What a compiled version relies on."""

    flat: bool  #: threadgroups extend in x only
    linear: bool  #: the threads of a gang are consecutive in x
    aligned: bool  #: the dispatched threadgroup size in x is a multiple of 32
    full: bool  #: some gangs have all lanes
    partial: bool  #: some gangs lack lanes
    single: bool  #: a threadgroup is one gang, so barriers need no waiting
    width: int = SIMD_GROUP  #: lanes of a gang
    large: bool = False  #: some array has 2^31 elements or more
    cpu: str = ""  #: LLVM's name of a CPU to compile for; empty means this machine


_width = SIMD_GROUP


def gang_width_in_use() -> int:
    return _width


@contextlib.contextmanager
def gang_width(width: int) -> Iterator[None]:
    """Compile kernels with another gang width: 1 is the scalar build, the reference for fuzzing."""
    global _width
    before, _width = _width, width
    try:
        yield
    finally:
        _width = before


def variant_for(
    source: KernelSource, grid: tuple[int, int, int], group: tuple[int, int, int]
) -> Variant:
    """The class of a launch of `grid` threads in threadgroups of `group` (clamped to the grid)."""
    width = _width
    whole = all(threads % size == 0 for threads, size in zip(grid, group, strict=True))
    count = prod(group)
    flat = group[1] == group[2] == 1
    aligned = group[0] % SIMD_GROUP == 0
    return Variant(
        flat=flat,
        linear=flat or (aligned and grid[0] % group[0] == 0),
        aligned=aligned,
        full=count >= width,
        partial=width > 1 and not (whole and count % width == 0),
        single=count <= width,
        width=width,
        cpu=os.environ.get("ANYMETAL_CPU", ""),
    )
