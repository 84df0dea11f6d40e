"""The scheduler of the scalar build: threads that wait for each other in cross-lane calls.

It is a C++ file of our own (rendezvous.cpp), compiled to LLVM IR once per process by the Clang that
compiles kernels, and linked into each module that calls it.
"""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from anymetal.errors import ToolchainError
from anymetal.runtime.zig import host_triple, zig_path

_SOURCE = Path(__file__).with_suffix(".cpp")
_SCHEDULER = "am_rendezvous"
_FLAGS = (
    "-O2 -emit-llvm -x c++ -std=c++20 -ffreestanding -nostdsysteminc -nobuiltininc -fno-rtti "
    "-mrelocation-model pic -pic-level 2 -fvisibility=hidden"
).split()

DECLARATION = f"declare hidden void @{_SCHEDULER}(ptr, i32)\n"


def turns() -> list[str]:
    """Run the started threads of a threadgroup to their end: the last part of a ring."""
    return [
        "turn:",
        f"  call void @{_SCHEDULER}(ptr %ring, i32 %threads)",
        "  br label %group.done",
    ]


def link_scheduler(module: Any) -> None:
    """Add the scheduler to a module that calls it.

    As internal functions, so that LLVM drops those that nobody needs before it works on them.
    """
    if any(function.name == _SCHEDULER for function in module.functions):
        module.link_in(llvm.parse_assembly(_scheduler()))
        for function in module.functions:
            if function.visibility.name == "hidden" and not function.is_declaration:
                function.linkage = "internal"


@functools.cache
def _scheduler() -> str:
    clang = [str(zig_path()), "clang", "-cc1", "-triple", host_triple()]
    done = subprocess.run([*clang, *_FLAGS, "-o", "-", _SOURCE], capture_output=True, text=True)
    if done.returncode:
        raise ToolchainError(
            f"Clang failed on {_SOURCE} with status {done.returncode}:\n{done.stderr}"
        )
    return done.stdout
