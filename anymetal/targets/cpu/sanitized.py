"""Launches of sanitized builds, and what they have found.

Such a launch goes through the kernel's own library (observer/launch.cpp), for Python and for the
bridge alike, which keeps what was found until somebody takes it. The structures are those of
observer/observer.h and launch.cpp.
"""

from __future__ import annotations

import ctypes
import functools
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple

from anymetal.dtypes import METAL_NAMES
from anymetal.passes.check_bounds import KnownArray
from anymetal.passes.observe import ObservedSite
from anymetal.source import KernelSource, LibrarySource, Parameter
from anymetal.targets.base import Extent
from anymetal.targets.cpu.other_orders import GANGS
from anymetal.targets.cpu.plan import Plan
from anymetal.targets.cpu.race_detector import race_detector

NO_SITE = 2**32 - 1  #: in place of the other site of a finding that has none


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
    _fields_ = [
        ("bytes", ctypes.c_uint64),
        ("granule", ctypes.c_uint32),
        ("is_device", ctypes.c_uint32),
        ("base", ctypes.c_uint64),
        ("watched", ctypes.c_uint64),
        ("owner", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        ("next", ctypes.c_void_p),
        ("group_order", ctypes.c_void_p),
        ("gang_order", ctypes.c_void_p),
        ("findings", ctypes.POINTER(Finding)),
        ("table", ctypes.c_void_p),
        ("gangs", ctypes.c_void_p),
        ("objects", ctypes.POINTER(_Object)),
        ("object_count", ctypes.c_uint32),
        ("capacity", ctypes.c_uint32),
        ("found", ctypes.c_uint32),
        ("gang_count", ctypes.c_uint32),
        ("started", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("lost", ctypes.c_uint64),
        ("events", ctypes.c_uint64),
        ("groups", ctypes.c_uint64),
        ("grid", _Place),
        ("size", _Place),
        ("full_size", _Place),
        ("group", _Place),
    ]


class _Described(ctypes.Structure):
    _fields_ = [
        ("bytes", ctypes.c_uint64),
        ("granule", ctypes.c_uint32),
        ("is_buffer", ctypes.c_uint32),
        ("element", ctypes.c_uint32),
        ("site", ctypes.c_uint32),
        ("grain", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class _About(ctypes.Structure):
    _fields_ = [
        ("run", ctypes.c_void_p),
        ("objects", ctypes.POINTER(_Described)),
        ("object_count", ctypes.c_uint32),
        ("buffers", ctypes.c_uint32),
        ("detector", ctypes.c_void_p),
        ("group_order", ctypes.c_void_p),
        ("gang_order", ctypes.c_void_p),
        ("shared_twin", ctypes.c_uint64),
    ]


class Told(NamedTuple):
    """What a launch has told."""

    findings: list[Finding]
    sizes: list[int]  #: bytes of each array (`SanitizedPlan.arrays`)
    grid: Extent
    threadgroup: Extent
    lost: int  #: findings for which there was no room
    events: int
    groups: int


class SanitizedPlan(Plan):
    """A sanitized build, ready for launches with one grid and threadgroup."""

    checked = True
    sanitized = True

    def __init__(
        self, source: KernelSource, grid: Extent, threadgroup: Extent, width: int, large: int,
        filled: bool = False, nan: bool = False,
    ) -> None:  # fmt: skip
        #: Whether outputs have contents before a launch: of init_value, or as they are in place.
        self.filled = filled or isinstance(source, LibrarySource)
        self.nan = nan
        super().__init__(source, grid, threadgroup, width, large)
        self.ordered = True
        notes = json.loads(self.code.notes)
        #: What `object` of a finding is the number of.
        self.arrays = [KnownArray(*array) for array in notes["arrays"]]
        #: What `site` of a finding is the number of.
        self.sites = [ObservedSite(*site) for site in notes["sites"]]
        undefined = notes["undefined"]
        #: What undefined values come from, by the site of the finding: kind, name and place.
        self.origins = {int(site): found for site, found in undefined["origins"].items()}
        about, run, take, free = self.code.addresses("am_observer", 4)
        self._take = ctypes.CFUNCTYPE(ctypes.c_void_p)(take)
        self._let_go = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(free)
        self._about = _About.from_address(about)
        self._about.shared_twin = undefined["threadgroup"]
        self._describe(self._about, dict(notes["watched"]), undefined["outputs"])
        self.pool = copy(self.pool)  # one whose launches are observed
        self.pool.native = run, *self.pool.native[1:]
        self.pool.run_at = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(run)

    def _describe(
        self, about: _About, watched: dict[int, int], sites: dict[str, tuple[int, int]]
    ) -> None:
        """Tells the library of its own program. Several plans may: all tell the same."""
        twins = [
            (int(slot), _element_bytes(self._source.parameters[int(slot)]), site, grain)
            for slot, (site, grain) in sites.items()
        ]
        arrays, granules = tuple(self.arrays), tuple(watched.items())
        about.objects = _described(self.code.path, arrays, granules, tuple(twins))
        about.object_count, about.buffers = len(self.arrays), self.buffers
        about.run = self.pool.native[0]
        about.detector = race_detector()

    @contextmanager
    def in_order(self, groups: Sequence[int], gangs: Sequence[int]) -> Iterator[None]:
        """While it is open, launches of this code run their threadgroups, and the SIMD-groups of
        each, in the order of these numbers. No others may run meanwhile."""
        group_order = (ctypes.c_uint64 * len(groups))(*groups)
        gang_order = (ctypes.c_uint32 * GANGS)(*gangs)
        self._about.group_order = ctypes.addressof(group_order)
        self._about.gang_order = ctypes.addressof(gang_order)
        try:
            yield
        finally:
            self._about.group_order = self._about.gang_order = None

    def take(self) -> list[Told]:
        """What the launches of this code, which is the same for all grids of a class, have told
        since this was asked last."""
        first = self._take()
        try:
            return [_told(result) for result in _chain(first)]
        finally:
            self._let_go(first)


@functools.cache
def _described(
    path: str,
    arrays: tuple[KnownArray, ...],
    watched: tuple[tuple[int, int], ...],
    twins: tuple[tuple[int, int, int, int], ...],
) -> ctypes.Array[_Described]:
    """The arrays of a program, for as long as the process lives: so does the library, perhaps."""
    granules = dict(watched)
    described = (_Described * len(arrays))(
        *(
            _Described(array.bytes, granules.get(number, 0), array.kind == "buffer")
            for number, array in enumerate(arrays)
        )
    )
    for number, element, site, grain in twins:
        its = described[number]
        its.element, its.site, its.grain = element, site, grain
    return described


def _element_bytes(parameter: Parameter) -> int:
    """The bytes of an output's element, by its type in Metal."""
    (words,) = re.findall(r"device (?:atomic<)?([^*>]*)", parameter.declaration)
    return next(dtype.size for dtype, name in METAL_NAMES.items() if name == words.strip())


def _chain(address: int | None) -> list[_Result]:
    results = []
    while address:
        results.append(_Result.from_address(address))
        address = results[-1].next
    return results


def _told(result: _Result) -> Told:
    found = [Finding.from_buffer_copy(one) for one in result.findings[: result.found]]
    sizes = [one.bytes for one in result.objects[: result.object_count]]
    grid, group = tuple(result.grid), tuple(result.full_size)
    found.sort(key=lambda one: (one.site, one.other_site, one.kind))  # as in the text, nearly
    return Told(found, sizes, grid, group, result.lost, result.events, result.groups)
