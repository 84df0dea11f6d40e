"""Clang and the linker out of the `ziglang` wheel, as the runtime needs them: object in, `.so` out.

Starting them costs tens of milliseconds, so nothing here runs when the cache has the result.
"""

from __future__ import annotations

import functools
import importlib.util
import os
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


def compile_native(source: Path) -> bytes:
    """An object file from one of our own C++ files, for this machine."""
    with _workspace() as folder:
        output = folder / "native.o"
        arguments = ["-triple", host_triple(), "-emit-obj", *_FREESTANDING]
        _run("clang", "-cc1", *arguments, "-x", "c++", "-std=c++17", "-o", output, source)
        return output.read_bytes()


def link_shared(*objects: bytes) -> bytes:
    """A shared library from object files; every symbol it lacks must exist when it is loaded."""
    with _workspace() as folder:
        inputs = [folder / f"{number}.o" for number in range(len(objects))]
        for path, content in zip(inputs, objects, strict=True):
            path.write_bytes(content)
        output = folder / "linked.so"
        _run("ld.lld", "-shared", "-z", "now", "--threads=1", "-o", output, *inputs)
        return output.read_bytes()


class _workspace:
    """A private folder for the files of one tool run; imports what it needs when it needs it."""

    def __enter__(self) -> Path:
        from tempfile import TemporaryDirectory

        self._folder = TemporaryDirectory(prefix="anymetal-")
        return Path(self._folder.name)

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def _run(*arguments: str | Path) -> None:
    status, _, messages = run(*arguments)
    if status:
        beginning = "\n".join(messages.splitlines()[:20])
        raise ToolchainError(f"`zig {arguments[0]}` failed with status {status}:\n{beginning}")


def run(*arguments: str | Path, text: str = "", folder: Path | None = None) -> tuple[int, str, str]:
    """Exit status, output and messages of a tool, which reads `text` from its input.

    The input is a file: the other end of a pipe could be open in a child of ours that was forked
    meanwhile, and then would never end.
    """
    import subprocess
    from tempfile import TemporaryFile

    with TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        try:
            with turns.starting:
                process = subprocess.Popen(
                    [zig_path(), *arguments],
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                )
        except OSError as error:
            raise ToolchainError(f"{zig_path()} does not start: {error}. {_REMEDY}") from error
    with process:
        output, messages = process.communicate()
    return process.returncode, output.decode(), messages.decode(errors="replace")
