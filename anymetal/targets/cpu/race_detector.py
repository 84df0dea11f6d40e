"""The library of the race detector (observer/races.cpp): compiled once for this machine, and kept.

Its functions are too large to be compiled as a part of every kernel.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from anymetal.frontend.profile import Profile
from anymetal.runtime import disk_cache, locks, zig
from anymetal.runtime.disk_cache import digest
from anymetal.runtime.identity import tools
from anymetal.runtime.loading import load
from anymetal.targets.cpu.llvm_target import machine_for

_FOLDER = Path(__file__).parent / "observer"
_UNITS = ("races.cpp", "findings.cpp")
_HEADERS = (
    "blocks.h",
    "deferred.h",
    "fences.h",
    "observer.h",
    "race_memory.h",
    "races.h",
    "records.h",
)
_FLAGS = (
    "-O3 -emit-obj -x c++ -std=c++20 -ffreestanding -nostdsysteminc -nobuiltininc -fno-rtti "
    "-mrelocation-model pic -pic-level 2 -relaxed-aliasing -mprefer-vector-width=512"
).split()


@functools.cache
def race_detector() -> int:
    """The address of its `am_race_detector`, for a launch."""
    library = load(_library(), lambda path: ctypes.CDLL(str(path)))
    return ctypes.addressof(ctypes.c_char.in_dll(library, "am_race_detector"))


def _library() -> disk_cache.Cached:
    machine = machine_for("")
    arguments = [*Profile(machine.triple, machine.cpu, machine.features).flags, *_FLAGS]
    contents = [(_FOLDER / name).read_bytes() for name in _UNITS + _HEADERS]
    key = digest(tools(), *arguments, *contents)

    def made() -> bytes:
        return zig.link_shared(*(zig.compiled(_FOLDER / name, arguments) for name in _UNITS))

    return locks.cached(key, ".so", "the race detector", made)
