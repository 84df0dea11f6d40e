"""Clang and the linker out of the `ziglang` wheel, as the runtime needs them: object in, `.so` out.

Starting them costs tens of milliseconds, so nothing here runs when the cache has the result.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from anymetal.errors import ToolchainError
from anymetal.runtime import locks

_REMEDY = "Install AnyMetal's dependencies again: python -m pip install --force-reinstall ziglang"

#: No system headers, no C++ run-time library: what is compiled here declares all it uses.
_FREESTANDING = (
    "-O2 -mrelocation-model pic -pic-level 2 -ffreestanding -nostdsysteminc -nobuiltininc "
    "-fno-rtti -fno-threadsafe-statics"
).split()

#: What there is to do while the next tool runs; called once, when it has been started.
meanwhile: list[Callable[[], None]] = []


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
    return compiled(source, [*arguments, "-x", "c++", "-std=c++17"])


def compiled(source: Path, arguments: Sequence[str]) -> bytes:
    """What `clang -cc1` makes of a file."""
    return _made("clang", "-cc1", *arguments, "-o", "-", source)


def link_shared(*objects: bytes) -> bytes:
    """A shared library from object files; every symbol it lacks must exist when it is loaded."""
    with Files() as files:
        inputs = [files.add(content) for content in objects]
        options = ("-shared", "-z", "now", "--threads=1", "-o", "-")
        return _made("ld.lld", *options, *inputs, files=files.descriptors)


class Files:
    """Files for a tool, in memory: no disk is too full, and no killed process leaves any behind."""

    def __init__(self) -> None:
        self.descriptors: list[int] = []

    def add(self, content: bytes) -> str:
        """The path at which a tool that is given `descriptors` finds a file with this content."""
        descriptor = in_memory(content)
        self.descriptors.append(descriptor)
        return path_of(descriptor)

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()


def in_memory(content: bytes) -> int:
    """A descriptor of a file with this content, to be read from its beginning."""
    import fcntl  # not needed by who finds all in the cache

    made = os.memfd_create("anymetal")
    # Never the number of a standard stream, of which some programs have closed theirs.
    descriptor: int = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(made)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def path_of(descriptor: int) -> str:
    """How a tool that inherits this descriptor calls its file."""
    return f"/proc/self/fd/{descriptor}"


def _made(*arguments: str | Path, files: Sequence[int] = ()) -> bytes:
    status, output, messages = run(*arguments, files=files)
    if status:
        raise ToolchainError(
            f"`zig {arguments[0]}` failed with status {status}:\n{beginning(messages)}"
        )
    return output


def run(
    *arguments: str | Path, text: str = "", folder: Path | None = None, files: Sequence[int] = ()
) -> tuple[int, bytes, str]:
    """Exit status, output and messages of a tool, which reads `text` and inherits these files.

    Its input is a file, too: the other end of a pipe could be open in a child of ours that was
    forked meanwhile, and then would never end.
    """
    import subprocess

    with Files() as given:
        given.add(text.encode())
        try:
            with locks.starting:
                process = subprocess.Popen(
                    [zig_path(), *arguments],
                    stdin=given.descriptors[0],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    pass_fds=files,
                )
        except OSError as error:
            raise ToolchainError(f"{zig_path()} does not start: {error}. {_REMEDY}") from error
    while meanwhile:
        meanwhile.pop()()
    with process:
        try:
            output, messages = process.communicate()
        except BaseException:  # Ctrl-C, say
            process.kill()
            raise
    return process.returncode, output, messages.decode(errors="replace")


def beginning(messages: str) -> str:
    """The first error, or the reason of a crash; a stack trace may follow."""
    return "\n".join(messages.splitlines()[:20]) or "(no message)"
