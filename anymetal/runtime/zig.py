"""Clang and the linker out of the `ziglang` wheel, as the runtime needs them: object in, `.so` out.

Starting them costs tens of milliseconds, so nothing here runs when the cache has the result.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from anymetal.errors import ToolchainError
from anymetal.runtime import turns

_REMEDY = "Install AnyMetal's dependencies again: python -m pip install --force-reinstall ziglang"

#: No system headers, no C++ run-time library: what is compiled here declares all it uses.
_FREESTANDING = (
    "-O2 -mrelocation-model pic -pic-level 2 -ffreestanding -nostdsysteminc -nobuiltininc "
    "-fno-rtti -fno-threadsafe-statics"
).split()


@functools.cache
def zig_path() -> Path:
    """The `zig` executable: `zig clang` is Clang itself, `zig ld.lld` the ELF linker."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        raise ToolchainError(f"the Python package `ziglang` (Clang) is not installed. {_REMEDY}")
    path = Path(spec.submodule_search_locations[0]) / "zig"
    if not os.access(path, os.X_OK):
        raise ToolchainError(f"{path} is missing or not executable. {_REMEDY}")
    return path


def host_triple() -> str:
    """This machine in LLVM's words."""
    machine = os.uname().machine
    if machine not in ("x86_64", "aarch64"):
        raise ToolchainError(
            f"AnyMetal's CPU target runs on x86_64 and aarch64, not on {machine!r}"
        )
    return f"{machine}-unknown-linux-gnu"


def native_library(note: object, folder: Path, names: Sequence[str]) -> bytes:
    """The library of several of our own C++ files (what a helper is asked for)."""
    return link_shared(*(compile_native(folder / name) for name in names))


def compile_native(source: Path) -> bytes:
    """An object file from one of our own C++ files, for this machine."""
    arguments = ["-triple", host_triple(), "-emit-obj", *_FREESTANDING]
    return _made("clang", "-cc1", *arguments, "-x", "c++", "-std=c++17", "-o", "-", source)


def link_shared(*objects: bytes) -> bytes:
    """A shared library from object files; every symbol it lacks must exist when it is loaded."""
    arguments = ("ld.lld", "-shared", "-z", "now", "--threads=1", "-o", "-")
    with contextlib.ExitStack() as files:
        inputs = [files.enter_context(_in_memory(content)) for content in objects]
        return _made(*arguments, *(f"/proc/self/fd/{file}" for file in inputs), files=inputs)


@contextlib.contextmanager
def _in_memory(content: bytes) -> Iterator[int]:
    """A file that has no name, so nothing is left of it, however this process ends."""
    file = os.memfd_create("anymetal")
    with os.fdopen(file, "wb") as stream:
        stream.write(content)
        stream.flush()
        yield file


def _made(*arguments: str | Path, files: Sequence[int] = ()) -> bytes:
    status, output, messages = _run(*arguments, files=files)
    if status:
        beginning = "\n".join(messages.splitlines()[:20])
        raise ToolchainError(f"`zig {arguments[0]}` failed with status {status}:\n{beginning}")
    return output


def run(*arguments: str | Path, text: str = "", folder: Path | None = None) -> tuple[int, str, str]:
    """Exit status, output and messages of a tool, which reads `text` from its input."""
    status, output, messages = _run(*arguments, text=text, folder=folder)
    return status, output.decode(), messages


def _run(
    *arguments: str | Path, text: str = "", folder: Path | None = None, files: Sequence[int] = ()
) -> tuple[int, bytes, str]:
    """Runs a tool, which inherits these files.

    Its input is a file, too: the other end of a pipe could be open in a child of ours that was
    forked meanwhile, and then would never end.
    """
    import subprocess

    with _in_memory(text.encode()) as given:
        os.lseek(given, 0, os.SEEK_SET)
        try:
            with turns.starting:
                process = subprocess.Popen(
                    [zig_path(), *arguments],
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    pass_fds=files,
                )
        except OSError as error:
            raise ToolchainError(f"{zig_path()} does not start: {error}. {_REMEDY}") from error
    with process:
        try:
            output, messages = process.communicate()
        except BaseException:  # Ctrl-C, say
            process.kill()
            raise
    return process.returncode, output, messages.decode(errors="replace")
