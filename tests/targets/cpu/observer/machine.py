"""A launch that is made of events: what generated code would tell the race detector, from Python.

def kernel(gang):                      # runs for each gang; `yield` is where it waits
    gang.run(STORE, TILE, offset, 4)
    yield gang.barrier(THREADGROUP)
"""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import NamedTuple

from anymetal.runtime import zig
from anymetal.targets.cpu import sanitized
from anymetal.targets.cpu.sanitized import Finding

_FOLDER = Path(sanitized.__file__).parent / "observer"
_FLAGS = (
    "-O2 -std=c++20 -ffreestanding -nostdinc -fno-rtti -fno-exceptions -fPIC -fno-strict-aliasing "
    "-shared -nostdlib"
).split()
if platform.machine() == "x86_64":
    _FLAGS += ["-march=native", "-mprefer-vector-width=512"]
elif platform.machine() == "aarch64":
    _FLAGS.append("-mno-outline-atomics")  # which are in the compiler's own library

LOAD, STORE, UPDATE, ATOMIC_LOAD, ATOMIC_STORE = range(5)
NONE, DEVICE, THREADGROUP, BOTH = range(4)  #: mem_flags
ALL = 0xFFFFFFFF
NOBODY = NO_SITE = 0xFFFFFFFF
KINDS = {4: "race-threadgroup", 5: "race-device", 6: "race-groups", 7: "race-atomic"}
_MOST = 4096  #: findings

_u32, _u64, _Place = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint32 * 3


class Watched(NamedTuple):
    """An array."""

    bytes: int
    device: bool  #: all threadgroups share it
    granule: int


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


@functools.cache
def library(folder: Path) -> ctypes.CDLL:
    path = folder / "machine.so"
    own = Path(__file__).with_name("machine.cpp")
    sources = [str(_FOLDER / "races.cpp"), str(_FOLDER / "findings.cpp"), str(own)]
    status, _, messages = zig.run("clang", *_FLAGS, f"-I{_FOLDER}", "-o", str(path), *sources)
    assert not status, messages
    found = ctypes.CDLL(str(path))
    found.machine_launch.restype = found.machine_begin.restype = ctypes.c_void_p
    return found


class Gang:
    """What a kernel of events calls. `site`: any number by which findings name the access."""

    def __init__(self, machine: Machine, launch: int, group: int, number: int) -> None:
        self._lib = machine.lib
        self.group, self.number = group, number
        position, full = machine.position(group), machine.threadgroup
        size = [min(s, g - at * s) for s, g, at in zip(full, machine.grid, position, strict=True)]
        threads = size[0] * size[1] * size[2]
        self.gangs = -(-threads // 32)
        self.mask = (1 << min(32, threads - 32 * number)) - 1
        places = ctypes.byref(_Place(*position)), ctypes.byref(_Place(*size))
        words = _u32(number), _u32(self.mask), _u32(self.gangs)
        self._at = ctypes.c_void_p(
            self._lib.machine_begin(ctypes.c_void_p(launch), *places, *words)
        )

    def run(
        self, action: int, array: int, offset: int, stride: int, *, bytes: int = 4, site: int = 0,
        mask: int = ALL,
    ) -> None:  # fmt: skip
        """Lane k accesses `offset` + k * `stride`."""
        self._lib.machine_run(
            self._at, _u32(site), _u32(mask & self.mask), _u64(offset), ctypes.c_int64(stride),
            _u32(array), _u32(bytes), _u32(action),
        )  # fmt: skip

    def lanes_at(
        self, action: int, arrays: int | Sequence[int], offsets: Sequence[int], *, bytes: int = 4,
        site: int = 0, mask: int = ALL,
    ) -> None:  # fmt: skip
        """Each lane accesses an offset of its own."""
        owners = [arrays] * 32 if isinstance(arrays, int) else arrays
        self._lib.machine_lanes(
            self._at, _u32(site), _u32(mask & self.mask), (_u64 * 32)(*offsets),
            (_u32 * 32)(*owners), _u32(bytes), _u32(action),
        )  # fmt: skip

    def barrier(self, flags: int) -> None:
        self._lib.machine_barrier(self._at, _u32(flags), ctypes.c_bool(False))

    def simdgroup_barrier(self, flags: int) -> None:
        self._lib.machine_barrier(self._at, _u32(flags), ctypes.c_bool(True))

    def fence(self, mask: int = ALL) -> None:
        self._lib.machine_fence(self._at, _u32(mask & self.mask))

    def set_time(self, time: int) -> None:
        self._lib.machine_set_time(self._at, _u32(time))

    def end(self) -> None:
        self._lib.machine_end(self._at)


Running = Generator[None, None, None] | None
Kernel = Callable[[Gang], Running]


class Machine:
    """Runs kernels of events and says what was found."""

    def __init__(
        self, folder: Path, arrays: Sequence[Watched], grid: int | tuple[int, int, int],
        threadgroup: int | tuple[int, int, int],
    ) -> None:  # fmt: skip
        self.lib = library(folder)
        self.arrays = arrays
        self.grid = (grid, 1, 1) if isinstance(grid, int) else grid
        self.threadgroup = (threadgroup, 1, 1) if isinstance(threadgroup, int) else threadgroup
        self.groups = [-(-g // t) for g, t in zip(self.grid, self.threadgroup, strict=True)]

    def position(self, group: int) -> tuple[int, int, int]:
        x, y, _ = self.groups
        return group % x, group // x % y, group // x // y

    def __call__(self, kernel: Kernel) -> list[Found]:
        total = self.groups[0] * self.groups[1] * self.groups[2]
        count = len(self.arrays)
        sizes, granules, devices = zip(
            *((a.bytes, a.granule, a.device) for a in self.arrays), strict=True
        )
        launch = self.lib.machine_launch(
            _u32(count), (_u64 * count)(*sizes), (_u32 * count)(*granules),
            (_u32 * count)(*devices), _u32(_MOST), ctypes.byref(_Place(*self.grid)),
            ctypes.byref(_Place(*self.threadgroup)), _u64(total),
        )  # fmt: skip
        assert launch
        for group in range(total):
            self._run(kernel, launch, group)
        findings = ctypes.POINTER(Finding)()
        at = ctypes.c_void_p(launch)
        number = self.lib.machine_found(at, ctypes.byref(findings))
        found = [_found(finding) for finding in findings[:number]]
        self.lib.machine_free(at)
        return found

    def _run(self, kernel: Kernel, launch: int, group: int) -> None:
        """The gangs of a threadgroup, each up to where it waits, until all have ended."""
        gangs: dict[Gang, Running] = {}
        number, count = 0, 1
        while number < count:
            gang = Gang(self, launch, group, number)
            gangs[gang] = kernel(gang)
            _step(gang, gangs)
            number, count = number + 1, gang.gangs
        while gangs:
            for gang in list(gangs):
                _step(gang, gangs)


def _step(gang: Gang, gangs: dict[Gang, Running]) -> None:
    """Runs a gang up to where it waits next, or to its end."""
    running = gangs[gang]
    try:
        if running is None:
            raise StopIteration
        next(running)
    except StopIteration:
        gang.end()
        del gangs[gang]


def _found(finding: Finding) -> Found:
    return Found(
        KINDS[finding.kind], finding.site, finding.other_site, finding.object, finding.offset,
        tuple(finding.thread), tuple(finding.group), tuple(finding.other_thread),
        tuple(finding.other_group), finding.count,
    )  # fmt: skip
