"""Functions of maths.cpp as LLVM's bitcode, compiled once by the Clang that compiles kernels."""

from __future__ import annotations

import functools
from pathlib import Path

import llvmlite.binding as llvm

from anymetal.errors import ToolchainError
from anymetal.frontend.profile import Profile
from anymetal.runtime import locks, zig
from anymetal.runtime.disk_cache import digest
from anymetal.runtime.identity import tools

#: What the functions are called, in front of the C library's name.
PREFIX = "am_"
NAMES = frozenset(
    f"{name}f" for name in "acos acosh asin asinh atan atan2 atanh fast_rsqrt rsqrt".split()
)

_FILE = Path(__file__).parent / "maths.cpp"
_HEADER = Path(__file__).parents[1] / "large_angles.h"
_FLAGS = (
    "-O1 -emit-llvm -x c++ -std=c++20 -ffreestanding -nostdsysteminc -nobuiltininc -fno-rtti "
    "-ffp-contract=on -discard-value-names"
).split()


@functools.cache
def bitcode(profile: Profile) -> bytes:
    """All of them, for an architecture; made if the cache has none."""
    arguments = [*profile.flags, *_FLAGS, "-o", "-", str(_FILE)]
    key = digest(tools(), *profile.flags, *_FLAGS, _FILE.read_bytes(), _HEADER.read_bytes())
    name = "AnyMetal's own maths.cpp"
    return locks.cached(key, ".bc", name, lambda: _made(arguments)).content


def _made(arguments: list[str]) -> bytes:
    status, output, messages = zig.run("clang", "-cc1", *arguments)
    if status:
        raise ToolchainError(
            f"Clang failed on maths.cpp with status {status}:\n{zig.beginning(messages)}"
        )
    with locks.llvm:
        return bytes(llvm.parse_assembly(output.decode()).as_bitcode())
