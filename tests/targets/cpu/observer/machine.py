"""A launch that is made of events: what generated code would tell the observer, from Python.

def kernel(gang):                      # runs for each gang; `yield` is where it waits
    gang.run(STORE, tile, offset, 4)
    yield gang.barrier(THREADGROUP)
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import NamedTuple

from anymetal.runtime import zig
from anymetal.targets.cpu import sanitized

_FOLDER = Path(sanitized.__file__).parent / "observer"
_FLAGS = (
    "-O2 -march=native -mprefer-vector-width=512 -std=c++20 -ffreestanding -nostdinc -fno-rtti "
    "-fno-exceptions -fPIC -fno-strict-aliasing -shared -nostdlib"
).split()

LOAD, STORE, UPDATE, ATOMIC_LOAD, ATOMIC_STORE = range(5)
NONE, DEVICE, THREADGROUP, BOTH = range(4)  #: mem_flags
ALL = 0xFFFFFFFF
NOBODY = 0xFFFFFFFF
KINDS = {4: "race-threadgroup", 5: "race-device", 6: "race-groups", 7: "race-atomic"}

_Place = ctypes.c_uint32 * 3


class _Finding(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint32),
        ("site", ctypes.c_uint32),
        ("object", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("thread", _Place),
        ("group", _Place),
        ("other_site", ctypes.c_uint32),
        ("other_thread", _Place),
        ("other_group", _Place),
        ("detail", ctypes.c_uint32),
        ("count", ctypes.c_uint64),
    ]


class _Gang(ctypes.Structure):
    _fields_ = [("launch", ctypes.c_uint64), ("opaque", ctypes.c_uint32 * 12)]


class Watched(NamedTuple):
    """An array."""

    bytes: int
    device: bool  #: all threadgroups share it
    granule: int


class _Object(ctypes.Structure):
    _fields_ = [
        ("bytes", ctypes.c_uint64),
        ("granule", ctypes.c_uint32),
        ("is_device", ctypes.c_uint32),
    ]


class _Launch(ctypes.Structure):
    _fields_ = [
        ("findings", ctypes.POINTER(_Finding)),
        ("table", ctypes.POINTER(ctypes.c_uint32)),
        ("gangs", ctypes.POINTER(_Gang)),
        ("objects", ctypes.POINTER(_Object)),
        ("object_count", ctypes.c_uint32),
        ("capacity", ctypes.c_uint32),
        ("found", ctypes.c_uint32),
        ("gang_count", ctypes.c_uint32),
        ("lost", ctypes.c_uint64),
        ("events", ctypes.c_uint64),
        ("groups", ctypes.c_uint64),
        ("places", _Place * 4),
        ("detector", ctypes.c_uint64),
        ("races", ctypes.c_uint64),
    ]


class Found(NamedTuple):
    kind: str
    site: int
    other_site: int
    array: int
    offset: int
    thread: tuple[int, ...]
    group: tuple[int, ...]
    other_thread: tuple[int, ...]
    other_group: tuple[int, ...]
    count: int


class Detector(ctypes.Structure):
    """The functions of the detector, as `Detector` in observer.h."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in "prepare free begin end barrier fence access_run access_lanes".split()
    ]


@functools.cache
def library(folder: Path) -> ctypes.CDLL:
    path = folder / "observer.so"
    sources = [str(_FOLDER / name) for name in ("races.cpp", "events.cpp", "findings.cpp")]
    status, _, messages = zig.run("clang", *_FLAGS, "-o", str(path), *sources)
    assert not status, messages
    return ctypes.CDLL(str(path))


class Gang:
    """What a kernel of events calls. Sites are numbered by the caller, or in order."""

    def __init__(self, machine: Machine, group: int, number: int) -> None:
        self._machine, self._lib = machine, machine.lib
        self.group, self.number, self.lanes = group, number, range(32)
        x, y, z = machine.threadgroup
        size = [
            min(s, g - at * s)
            for s, g, at in zip((x, y, z), machine.grid, machine.position(group), strict=True)
        ]
        threads = size[0] * size[1] * size[2]
        rest = min(32, threads - 32 * number)
        self.mask = (1 << rest) - 1
        at = [*machine.position(group), *size, *machine.threadgroup, *machine.grid]
        words = [ctypes.c_uint32(word) for word in (32, *at, number, 0 if rest == 32 else rest)]
        self._at = ctypes.c_void_p(self._lib.am_begin(ctypes.byref(machine.launch), *words))
        self.gangs = -(-threads // 32)

    def run(
        self, action: int, array: int, offset: int, stride: int, *, bytes: int = 4, site: int = 0,
        mask: int | None = None,
    ) -> None:  # fmt: skip
        """Lane k accesses `offset` + k * `stride`."""
        mask = self.mask if mask is None else mask & self.mask
        self._lib.am_access_run(
            self._at, ctypes.c_uint32(site), ctypes.c_uint32(mask), ctypes.c_uint64(offset),
            ctypes.c_int64(stride), ctypes.c_uint32(array), ctypes.c_uint32(bytes), action,
        )  # fmt: skip

    def lanes_at(
        self, action: int, arrays: int | Sequence[int], offsets: Sequence[int], *, bytes: int = 4,
        site: int = 0, mask: int | None = None,
    ) -> None:  # fmt: skip
        """Each lane accesses an offset of its own; lanes without one are not active."""
        mask = (1 << len(offsets)) - 1 if mask is None else mask
        owners = [arrays] * 32 if isinstance(arrays, int) else arrays
        self._lib.am_access_lanes(
            self._at, ctypes.c_uint32(site), ctypes.c_uint32(mask & self.mask),
            (ctypes.c_uint64 * 32)(*offsets), (ctypes.c_uint32 * 32)(*owners),
            ctypes.c_uint32(bytes), action,
        )  # fmt: skip

    def one(
        self, action: int, array: int, offset: int, lane: int, *, bytes: int = 4, site: int = 0
    ) -> None:
        """One lane accesses an offset."""
        self.run(action, array, offset, 0, bytes=bytes, site=site, mask=1 << lane)

    def barrier(self, flags: int) -> None:
        self._lib.am_barrier(self._at, 0, flags, ctypes.c_bool(False), ctypes.c_uint32(self.mask))

    def simdgroup_barrier(self, flags: int) -> None:
        self._lib.am_barrier(self._at, 0, flags, ctypes.c_bool(True), ctypes.c_uint32(self.mask))

    def fence(self, mask: int = ALL) -> None:
        self._lib.am_fence(self._at, 0, ctypes.c_uint32(mask & self.mask))

    def end(self) -> None:
        self._lib.am_end(self._at)


Kernel = Callable[[Gang], Generator[None, None, None] | None]


class Machine:
    """Runs kernels of events and says what was found."""

    def __init__(
        self, folder: Path, arrays: Sequence[Watched], grid: int | tuple[int, int, int],
        threadgroup: int | tuple[int, int, int],
    ) -> None:  # fmt: skip
        self.lib = library(folder)
        self.lib.am_begin.restype = ctypes.c_void_p
        self.detector = Detector.in_dll(self.lib, "am_race_detector")
        address = ctypes.c_void_p
        self.prepare = ctypes.CFUNCTYPE(ctypes.c_bool, address, ctypes.c_uint64)(
            self.detector.prepare
        )
        self.free = ctypes.CFUNCTYPE(None, address)(self.detector.free)
        self.arrays = arrays
        self.grid = (grid, 1, 1) if isinstance(grid, int) else grid
        self.threadgroup = (threadgroup, 1, 1) if isinstance(threadgroup, int) else threadgroup
        self.groups = tuple(-(-g // t) for g, t in zip(self.grid, self.threadgroup, strict=True))
        self.launch = _Launch()

    def position(self, group: int) -> tuple[int, int, int]:
        x, y, _ = self.groups
        return group % x, group // x % y, group // x // y

    def __call__(self, kernel: Kernel, most: int = 4096) -> list[Found]:
        launch = self.launch = _Launch(capacity=most)
        launch.findings = findings = (_Finding * most)()
        launch.table = (ctypes.c_uint32 * (2 * most))()
        launch.gangs = (_Gang * 1024)()
        total = self.groups[0] * self.groups[1] * self.groups[2]
        objects = [_Object(array.bytes, array.granule, array.device) for array in self.arrays]
        launch.objects = (_Object * len(objects))(*objects)
        launch.object_count = len(objects)
        launch.detector = ctypes.addressof(self.detector)
        assert self.prepare(ctypes.addressof(launch), total)
        try:
            for group in range(total):
                self._run(kernel, group)
        finally:
            self.free(ctypes.addressof(launch))
        return [_found(finding) for finding in findings[: launch.found]]

    def _run(self, kernel: Kernel, group: int) -> None:
        """The gangs of a threadgroup, each up to where it waits, until all have ended."""
        first = Gang(self, group, 0)
        gangs: dict[Gang, Generator[None, None, None] | None] = {first: kernel(first)}
        _step(first, gangs)
        for number in range(1, first.gangs):
            gang = Gang(self, group, number)
            gangs[gang] = kernel(gang)
            _step(gang, gangs)
        while gangs:
            for gang in list(gangs):
                _step(gang, gangs)


def _step(gang: Gang, gangs: dict[Gang, Generator[None, None, None] | None]) -> None:
    """Runs a gang up to where it waits next, or to its end."""
    running = gangs[gang]
    try:
        if running is None:
            raise StopIteration
        next(running)
    except StopIteration:
        gang.end()
        del gangs[gang]


def _found(finding: _Finding) -> Found:
    return Found(
        KINDS[finding.kind], finding.site, finding.other_site, finding.object, finding.offset,
        tuple(finding.thread), tuple(finding.group), tuple(finding.other_thread),
        tuple(finding.other_group), finding.count,
    )  # fmt: skip
