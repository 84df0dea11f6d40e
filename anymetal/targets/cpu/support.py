"""Our own C++ that generated code calls.

Each file is compiled to LLVM IR once, by the Clang that compiles kernels, and kept in the cache. It
is linked into modules that call it; others pay nothing.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from anymetal.errors import ToolchainError
from anymetal.runtime import disk_cache, locks, zig
from anymetal.runtime.disk_cache import digest
from anymetal.runtime.identity import tools

_HERE = Path(__file__).parent
_HEADER = _HERE.parents[1] / "runtime" / "launch.h"
#: A module that declares one of these functions needs the file.
_FILES = {
    "am_rendezvous": "rendezvous.cpp",
    "am_log": "log.cpp",
    "am_stray": "strays.cpp",
    "am_add_one": "additions.cpp",
    "am_hand_over": "additions.cpp",
}
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


def link_support(module: Any, triple: str) -> None:
    """Links in the files whose functions a module declares.

    They become internal functions, so that LLVM drops those without uses before it works on them.
    """
    declared = {known.name for known in module.functions if known.is_declaration}
    sources = {file for name, file in _FILES.items() if name in declared}
    for source in sorted(sources):
        module.link_in(llvm.parse_assembly(_compiled(source, triple)))
    for known in module.functions if sources else ():
        if known.visibility.name == "hidden" and not known.is_declaration:
            known.linkage = "internal"


@functools.cache
def _compiled(source: str, triple: str) -> str:
    """LLVM IR of a file, made if the cache has none."""
    processor = _FEATURES.get(triple.split("-")[0], [])
    arguments = ["-triple", triple, *processor, *_FLAGS, "-o", "-", str(_HERE / source)]
    key = digest(tools(), *arguments, (_HERE / source).read_bytes(), _HEADER.read_bytes())
    found = disk_cache.get(key, ".ll")
    if found is None:
        with locks.making(key):
            found = disk_cache.get(key, ".ll") or _made(key, source, arguments)
    return found.content.decode()


def _made(key: str, source: str, arguments: list[str]) -> disk_cache.Cached:
    status, output, messages = zig.run("clang", "-cc1", *arguments)
    if status:
        raise ToolchainError(f"Clang failed on {source} with status {status}:\n{messages}")
    text = _PROCESSOR.sub("", output.decode())
    return disk_cache.put(key, ".ll", text.encode(), f"AnyMetal's own {source}")
