"""Launches of sanitized builds, which note what is wrong with what they do.

The structures are those of observer/observer.h.
"""

from __future__ import annotations

import ctypes
import functools
import json
from typing import Any, NamedTuple

import numpy as np

from anymetal.passes.check_bounds import KnownArray
from anymetal.passes.observe import ObservedSite
from anymetal.runtime.arrays import Exporter
from anymetal.source import KernelSource
from anymetal.targets.base import Extent
from anymetal.targets.cpu.plan import LaunchState, Plan

_MOST_FINDINGS = 4096  #: places; a power of two
_MOST_GANGS = 1024
_GANG_BYTES = 56
_SHADOW = 4  #: bytes for each byte of an array whose accesses are told
NO_SITE = 2**32 - 1


class _Place(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]

    def __iter__(self) -> Any:
        return iter((self.x, self.y, self.z))


class Finding(ctypes.Structure):
    """A finding, as `Finding` in observer.h."""

    _fields_ = [
        ("kind", ctypes.c_uint32),
        ("site", ctypes.c_uint32),
        ("object", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("offset", ctypes.c_int64),
        ("thread", _Place),
        ("group", _Place),
        ("other_site", ctypes.c_uint32),
        ("other_thread", _Place),
        ("other_group", _Place),
        ("detail", ctypes.c_uint32),
        ("count", ctypes.c_uint64),
    ]


class _Object(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint64), ("shadow", ctypes.c_void_p)]


class _Launch(ctypes.Structure):
    _fields_ = [
        ("findings", ctypes.c_void_p),
        ("table", ctypes.c_void_p),
        ("gangs", ctypes.c_void_p),
        ("objects", ctypes.c_void_p),
        ("object_count", ctypes.c_uint32),
        ("capacity", ctypes.c_uint32),
        ("found", ctypes.c_uint32),
        ("gang_count", ctypes.c_uint32),
        ("lost", ctypes.c_uint64),
        ("events", ctypes.c_uint64),
        ("groups", ctypes.c_uint64),
        ("grid", _Place),
        ("size", _Place),
        ("full_size", _Place),
        ("group", _Place),
    ]


class Told(NamedTuple):
    """What a sanitized launch has told."""

    findings: list[Finding]
    lost: int  #: findings for which there was no room
    events: int
    groups: int


class SanitizedPlan(Plan):
    """A sanitized build, ready for launches with one grid and threadgroup."""

    checked = True
    sanitized = True

    def __init__(
        self, source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: int
    ) -> None:
        super().__init__(source, grid, threadgroup, width, large)
        self.ordered = True
        self.told = Told([], 0, 0, 0)  #: of the last launch

    @functools.cached_property
    def _notes(self) -> dict[str, Any]:
        notes: dict[str, Any] = json.loads(self.code.notes)
        return notes

    @functools.cached_property
    def arrays(self) -> list[KnownArray]:
        """What `object` of a finding is the number of."""
        return [KnownArray(*array) for array in self._notes["arrays"]]

    @functools.cached_property
    def sites(self) -> list[ObservedSite]:
        """What `site` of a finding is the number of."""
        return [ObservedSite(*site) for site in self._notes["sites"]]

    def _launch(self, state: LaunchState, bound: list[Exporter]) -> None:
        launch, memory = self._described(state)
        state.table.note(ctypes.addressof(launch))
        super()._launch(state, bound)
        noted = memory[0][: launch.found].tobytes()
        found = (Finding * launch.found).from_buffer_copy(noted)
        self.told = Told(sorted(found, key=_order), launch.lost, launch.events, launch.groups)

    def _described(self, state: LaunchState) -> tuple[_Launch, list[Any]]:
        """The launch for the observer, and the memory that it points to."""
        findings = np.zeros((_MOST_FINDINGS, ctypes.sizeof(Finding)), np.uint8)
        table = np.zeros(2 * _MOST_FINDINGS, np.uint32)
        gangs = np.zeros((_MOST_GANGS, _GANG_BYTES), np.uint8)
        memory: list[Any] = [findings, table, gangs]
        objects = (_Object * len(self.arrays))()
        watched = set(self._notes["watched"])
        for number, (array, its) in enumerate(zip(self.arrays, objects, strict=True)):
            its.bytes = state.table.extents[number].bytes if array.kind == "buffer" else array.bytes
            if number in watched:
                shadow = np.zeros(its.bytes * _SHADOW, np.uint8)
                its.shadow = shadow.ctypes.data
                memory.append(shadow)
        launch = _Launch(
            findings=findings.ctypes.data,
            table=table.ctypes.data,
            gangs=gangs.ctypes.data,
            objects=ctypes.addressof(objects),
            object_count=len(objects),
            capacity=_MOST_FINDINGS,
        )
        return launch, [*memory, objects]


def _order(found: Finding) -> tuple[int, int, int]:
    """In the order of the program's text, more or less."""
    return found.site, found.other_site, found.kind
