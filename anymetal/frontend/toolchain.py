"""Do Clang (inside the package `ziglang`) and LLVM (inside `llvmlite`) fit together?

Clang writes LLVM IR text that LLVM reads, and the format changes between major versions: both
packages must carry the same one.
"""

from __future__ import annotations

import re
import subprocess

from anymetal.errors import ToolchainError
from anymetal.runtime.zig import zig_path

_REMEDY = (
    "Install AnyMetal's pinned dependencies again: python -m pip install --force-reinstall "
    "'ziglang==0.17.*' 'llvmlite==0.50.*'"
)


def clang_version() -> str:
    """For example "22.1.8"; asks Clang itself."""
    zig = str(zig_path())
    try:
        done = subprocess.run([zig, "clang", "--version"], capture_output=True, text=True)
    except OSError as error:
        raise ToolchainError(f"{zig} does not run here: {error}. {_REMEDY}") from error
    found = re.search(r"clang version (\d+\.\d+\.\d+)", done.stdout)
    if found is None:
        said = done.stdout + done.stderr
        raise ToolchainError(f"`{zig} clang --version` says {said!r}. {_REMEDY}")
    return found.group(1)


def llvm_version() -> str:
    """The version of LLVM inside llvmlite, for example "22.1.0". Imports llvmlite."""
    try:
        from llvmlite.binding import llvm_version_info
    except (ImportError, OSError) as error:
        raise ToolchainError(
            f"the Python package `llvmlite` (LLVM) cannot be imported: {error}. {_REMEDY}"
        ) from error
    return ".".join(map(str, llvm_version_info))


def check_versions(clang: str) -> None:
    """Raise ToolchainError unless this version of Clang and our LLVM agree in the major version."""
    llvm = llvm_version()
    if clang.split(".")[0] != llvm.split(".")[0]:
        raise ToolchainError(
            f"Clang {clang} (package ziglang) and LLVM {llvm} (package llvmlite) differ in their "
            f"major version, so LLVM cannot read what Clang writes. {_REMEDY}"
        )
