"""C++ of our own that generated code calls.

Each file is compiled to LLVM IR once per process, by the Clang that compiles kernels, and linked
into the modules that call it; a kernel that needs none of it pays nothing.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from anymetal.errors import ToolchainError
from anymetal.runtime import zig

_FLAGS = (
    "-O2 -emit-llvm -x c++ -std=c++20 -ffreestanding -nostdsysteminc -nobuiltininc -fno-rtti "
    "-mrelocation-model pic -pic-level 2 -fvisibility=hidden"
).split()


def link_support(module: Any, function: str, source: Path) -> None:
    """Add the file that defines `function` to a module, if the module declares it.

    As internal functions, so that LLVM drops those that nobody needs before it works on them.
    """
    if any(known.name == function for known in module.functions):
        module.link_in(llvm.parse_assembly(_compiled(source)))
        for known in module.functions:
            if known.visibility.name == "hidden" and not known.is_declaration:
                known.linkage = "internal"


@functools.cache
def _compiled(source: Path) -> str:
    arguments = ["-triple", zig.host_triple(), *_FLAGS, "-o", "-", str(source)]
    status, output, messages = zig.run("clang", "-cc1", *arguments)
    if status:
        raise ToolchainError(f"Clang failed on {source} with status {status}:\n{messages}")
    return output.decode()
