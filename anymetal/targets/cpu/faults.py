"""What a checked build has found (passes/check_bounds.py), as a warning or an error.

ANYMETAL_FAULTS says which. `recover`: reads outside of an array give 0, writes there are dropped,
and the kernel warns. `raise`: it raises KernelMemoryError. Default: recover for reads, raise for
writes.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import warnings
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, cast

import mlx.core as mx

from anymetal.errors import KernelMemoryError, StrayAccessWarning
from anymetal.passes.check_bounds import ANYWHERE, NOWHERE, KnownArray, Site
from anymetal.runtime.arrays import BufferExtent, Exporter
from anymetal.source import KernelSource
from anymetal.targets.base import Extent
from anymetal.targets.cpu.plan import LaunchState, Plan

_MODES = ("", "recover", "raise")
_MOST_TOLD = 4096
_DESCRIPTIONS = {"shape": 4, "strides": 8, "ndim": 4, "size": 4}  #: bytes of a number

#: Places that have been warned about: once is enough.
_told: set[tuple[int, str]] = set()  # by the hash of the kernel, which is not kept for this


class _Kind(ctypes.Structure):
    """Accesses of one kind, as `am_stray_kind` in launch.h."""

    _fields_ = [
        ("count", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("position", ctypes.c_uint64),
        ("array", ctypes.c_uint32),
        ("site", ctypes.c_uint32),
        ("thread", ctypes.c_uint32 * 3),
    ]


class Strays(ctypes.Structure):
    """What a launch of a checked build notes; `am_strays` in launch.h."""

    _fields_ = [("reads", _Kind), ("writes", _Kind), ("lock", ctypes.c_int32)]

    def __bool__(self) -> bool:
        return bool(self.reads.count or self.writes.count)


Extents = ctypes.Array[BufferExtent]


class Shaped(NamedTuple):
    """An array that was bound."""

    shape: tuple[int, ...]
    itemsize: int


def mode() -> str:
    """The value of ANYMETAL_FAULTS, empty by default."""
    text = os.environ.get("ANYMETAL_FAULTS", "")
    if text in _MODES:
        return text
    raise ValueError(f"ANYMETAL_FAULTS must be recover or raise, not {text!r}")


class CheckedPlan(Plan):
    """A checked build, ready for launches with one grid and threadgroup."""

    checked = True

    def __init__(
        self, source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: int
    ) -> None:
        super().__init__(source, grid, threadgroup, width, large)
        x, y, z = map(min, threadgroup, grid)
        self.report: Report = Report(source, self.code.notes, self.slots, (x, y, z))
        self.strayed = False  #: in any launch so far

    def _new_state(self) -> LaunchState:
        state = super()._new_state()
        state.table.note(ctypes.addressof(strays := Strays()))
        return state._replace(strays=strays)

    def _launch(self, state: LaunchState, bound: list[Exporter]) -> None:
        strays = state.strays
        assert isinstance(strays, Strays)
        ctypes.memset(ctypes.addressof(strays), 0, ctypes.sizeof(strays))
        super()._launch(state, bound)
        if strays:
            self.strayed = True
            arrays = [array for array in bound if isinstance(array, mx.array)]
            shaped = [Shaped(array.shape, array.itemsize) for array in arrays]
            self.report(strays, state.table.extents, shaped)


def diagnosis(
    source: KernelSource, arrays: Sequence[Exporter], key: tuple[Extent, Extent, int, int]
) -> KernelMemoryError | None:
    """The error for a launch on arrays that exist, found by another launch on copies of them.

    The kernel has left the arrays as they were when it faulted.
    """
    plan = CheckedPlan(source, *key)
    plan.report.always_refuses = True
    try:
        copies: list[Exporter] = [mx.from_dlpack(cast(Any, a), copy=True) for a in arrays]
        plan.run(copies, True)
    except KernelMemoryError as found:
        if plan.strayed:
            return found
    return None


class Report:
    """Reports on the launches of one checked build."""

    def __init__(
        self, source: KernelSource, notes: str, slots: Sequence[int], threadgroup: Extent
    ) -> None:
        self._source = source
        self._notes = notes
        self._slots = slots
        self._threadgroup = threadgroup
        self.always_refuses = False  #: because there is no result that could be used

    def __call__(self, strays: Strays, extents: Extents, bound: Sequence[Shaped]) -> None:
        """Warns, or raises KernelMemoryError. `bound`: the inputs, then the outputs."""
        asked = mode()
        refused = asked == "raise" or (strays.writes.count and asked != "recover")
        if refused or self.always_refuses:
            raise KernelMemoryError(self._text(strays, extents, bound, refused=True))
        self._warn(strays, extents, bound)

    def at(
        self, strays: int, extents: int, bound: list[tuple[tuple[int, ...], int]], refused: bool
    ) -> None:
        """The same for the bridge, which has these at addresses, and has decided."""
        mode()
        noted = Strays.from_address(strays)
        sizes = (BufferExtent * len(self._source.parameters)).from_address(extents)
        shaped = [Shaped(*array) for array in bound]
        if refused:
            raise KernelMemoryError(self._text(noted, sizes, shaped, refused=True))
        self._warn(noted, sizes, shaped)

    @functools.cached_property
    def _arrays(self) -> list[KnownArray]:
        return [KnownArray(*array) for array in json.loads(self._notes)["arrays"]]

    @functools.cached_property
    def _sites(self) -> list[Site]:
        return [Site(*site) for site in json.loads(self._notes)["sites"]]

    def _warn(self, strays: Strays, extents: Extents, bound: Sequence[Shaped]) -> None:
        """Warns, once about each place."""
        where = self._sites[_first(strays).site].where
        if (hash(self._source), where) in _told:
            return
        if len(_told) >= _MOST_TOLD:
            _told.clear()
        part, *line = where.split(":")[:2]
        warnings.warn_explicit(
            self._text(strays, extents, bound, refused=False),
            StrayAccessWarning,
            filename=f"<kernel {self._source.name}: {part or 'source'}>",
            lineno=int(line[0]) if line else 0,
            module="anymetal",
        )
        _told.add((hash(self._source), where))

    def _text(
        self,
        strays: Strays,
        extents: Extents,
        bound: Sequence[Shaped],
        refused: bool,
    ) -> str:
        first = _first(strays)
        kinds = [(strays.reads.count, "read"), (strays.writes.count, "write")]
        counts = " and ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in kinds if n)
        end = (
            "other arrays may be damaged."
            if self.always_refuses
            else "its outputs must not be used, and other arrays may be damaged. With "
            "ANYMETAL_FAULTS=recover such reads give 0, and such writes do nothing."
            if refused
            else "reads gave 0 and writes did nothing, as with robust buffer access on a GPU. "
            "ANYMETAL_FAULTS=raise makes this an error."
        )
        return (
            f"kernel `{self._source.name}`: {self._what(first, extents, bound)}. In all, {counts} "
            f"of this launch lay outside of arrays; {end}"
        )

    # -- one access -------------------------------------------------------------------------

    def _what(self, first: _Kind, extents: Extents, bound: Sequence[Shaped]) -> str:
        site = self._sites[first.site]
        who = f"{self._who(first)} {site.action}"
        at = f" at {site.where}" if site.where else ""
        if first.array == NOWHERE:
            return f"{who} through a null pointer, at address {first.position:#x}{at}"
        if first.array == ANYWHERE:
            return f"{who} address {first.position:#x}, where no array is{at}"
        array, offset = self._arrays[first.array], first.position
        if array.kind == "buffer":
            shaped = self._shaped(first.array, extents, bound)
            offset -= extents[first.array].before
            has, itemsize = _size_of(shaped.shape), shaped.itemsize
        else:
            has, itemsize = _size_of((array.bytes // (array.element or 1),)), array.element or 1
        offset = (offset + 2**63) % 2**64 - 2**63  # in front of the array it is negative
        name = f"`{array.name}`" if array.kind == "buffer" else f"{array.kind} `{array.name}`"
        return f"{name} has {has}; {who} {_element(offset, site.bytes, itemsize)}{at}"

    def _who(self, first: _Kind) -> str:
        thread = tuple(first.thread)
        group = tuple(at // size for at, size in zip(thread, self._threadgroup, strict=True))
        return f"thread {thread} of threadgroup {group}"

    def _shaped(self, slot: int, extents: Extents, bound: Sequence[Shaped]) -> Shaped:
        if slot in self._slots:
            return bound[self._slots.index(slot)]
        itemsize = _DESCRIPTIONS[self._source.parameters[slot].kind]
        return Shaped((extents[slot].bytes // itemsize,), itemsize)


def _first(strays: Strays) -> _Kind:
    """What to tell: a write, if there is one, is worse than all reads."""
    kind: _Kind = strays.writes if strays.writes.count else strays.reads
    return kind


def _size_of(shape: tuple[int, ...]) -> str:
    elements = prod(shape)
    plural = "" if elements == 1 else "s"
    return f"{elements} element{plural}" + (f" (shape {shape})" if len(shape) > 1 else "")


def _element(offset: int, size: int, itemsize: int) -> str:
    element = f"element {offset // itemsize}"
    if size == itemsize and offset % itemsize == 0:
        return element
    if size <= 1:
        return f"byte {offset} ({element})"
    return f"bytes {offset} to {offset + size - 1} ({element})"
