"""Our own C++ that generated code calls.

Each file is compiled to LLVM IR once, by the Clang that compiles kernels, and kept in the cache. It
is linked into modules that call it; others pay nothing.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import llvmlite.binding as llvm

from anymetal.errors import ToolchainError
from anymetal.runtime import locks, zig
from anymetal.runtime.disk_cache import digest
from anymetal.runtime.identity import tools

_HERE = Path(__file__).parent
_HEADERS = (
    _HERE.parents[1] / "runtime" / "launch.h",
    _HERE.parent / "large_angles.h",
    *sorted((_HERE / "observer").glob("*.h")),
)
#: A module that declares one of these functions needs the files. Callers stand in front of those
#: that they call: Clang links what is needed by then, and hides it.
_FILES = {
    "am_rendezvous": ("rendezvous.cpp",),
    "am_large_angle": ("large_angles.cpp",),
    "am_large_angles": ("large_angles.cpp",),
    "am_log": ("log.cpp",),
    "am_stray": ("strays.cpp",),
    "am_trace": ("traced.cpp",),
    "am_add_one": ("additions.cpp",),
    "am_hand_over": ("additions.cpp",),
    "am_hand_over_floats": ("additions.cpp",),
    "am_observed_run": tuple(
        f"observer/{name}.cpp"
        for name in ("launch", "events", "convergence", "undefined", "findings")
    ),
}
#: What a sanitized build exports for its launches (observer/launch.cpp): addresses.
OBSERVED = """\
declare hidden i32 @am_observed_run(ptr)
declare hidden ptr @am_take_results()
declare hidden void @am_free_results(ptr)
@am_about = external hidden global ptr
@am_observer = constant [4 x ptr] [ptr @am_about, ptr @am_observed_run, ptr @am_take_results, \
ptr @am_free_results]
"""
#: What a build for `anymetal.trace` exports: the address of its record (traced.cpp).
TRACED = """\
@am_trace_state = external hidden global i8
@am_traced = constant ptr @am_trace_state
"""
_FLAGS = (
    "-O2 -emit-llvm -x c++ -std=c++20 -ffreestanding -nostdsysteminc -nobuiltininc -fno-rtti "
    "-mrelocation-model pic -pic-level 2 -fvisibility=hidden -relaxed-aliasing "
    "-fno-delete-null-pointer-checks -mprefer-vector-width=512 "
    "-discard-value-names"
).split()
#: Features that the files are compiled with; callers make sure that the machine has them.
_FEATURES = {"x86_64": ["-target-feature", "+cx16"]}
#: Attributes that are removed: the module's target machine decides.
_PROCESSOR = re.compile(r' "(?:target-cpu|target-features|tune-cpu)"="[^"]*"')


def support_files(text: str, triple: str) -> list[bytes]:
    """The files, as LLVM's bitcode, that define functions which a module declares."""
    declared = re.findall(r"^declare .*?@([\w.]+)\(", text, re.M)
    sources = dict.fromkeys(source for name in declared for source in _FILES.get(name, ()))
    return [_compiled(source, triple) for source in sources]


@functools.cache
def _compiled(source: str, triple: str) -> bytes:
    """Bitcode of a file, made if the cache has none."""
    processor = _FEATURES.get(triple.split("-")[0], [])
    arguments = ["-triple", triple, *processor, *_FLAGS, "-o", "-", str(_HERE / source)]
    key = digest(tools(), *arguments, *(file.read_bytes() for file in (_HERE / source, *_HEADERS)))
    made = locks.cached(key, ".bc", f"AnyMetal's own {source}", lambda: _made(source, arguments))
    return made.content


def _made(source: str, arguments: list[str]) -> bytes:
    status, output, messages = zig.run("clang", "-cc1", *arguments)
    if status:
        raise ToolchainError(
            f"Clang failed on {source} with status {status}:\n{zig.beginning(messages)}"
        )
    with locks.llvm:
        module = llvm.parse_assembly(_PROCESSOR.sub("", output.decode()))
        return bytes(module.as_bitcode())
