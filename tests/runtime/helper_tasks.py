"""What the tests of helper processes ask helpers for; the first argument sends notes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Note = Callable[[Any], None]
_kept = []


def process(note: Note) -> int:
    return os.getpid()


def surroundings(note: Note) -> dict[str, Any]:
    """What the helper has of its caller."""
    files = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return {
        "files": sorted(os.readlink(file) for file in files if os.path.lexists(file)),
        "modules": sorted(sys.modules),
        "environment": dict(os.environ),
        "group": os.getpgrp(),
    }


def compiler(note: Note) -> list[str]:
    """The modules of a helper that has all it needs to compile."""
    for name in ("compile_job", "compiler"):
        import_module(f"anymetal.targets.cpu.{name}")
    return sorted(sys.modules)


def speak(note: Note) -> None:
    print("on the standard output", flush=True)
    os.write(1, b"into the descriptor")
    note("a note")
    note({"another": 1})


def tool(note: Note, log: str) -> None:
    """Runs a program, as Clang and the linker are run."""
    with subprocess.Popen(["sleep", "60"]) as running:
        _told(log, running.pid)


def endless(note: Note, log: str) -> None:
    """Works in LLVM, one long call after the other."""
    import llvmlite.binding as llvm

    function = "define i32 @f{0}(i32 %x) {{ %y = add i32 %x, {0} ret i32 %y }}\n"
    text = "".join(map(function.format, range(20_000)))
    _told(log)
    while True:
        llvm.parse_assembly(text)


def _told(log: str, *processes: int) -> None:
    unfinished = Path(f"{log}.tmp")
    unfinished.write_text(" ".join(map(str, [os.getpid(), *processes])))
    unfinished.rename(log)


def crash(note: Note) -> None:
    os.write(2, b"LLVM ERROR: something is wrong\n")
    ctypes.string_at(0)


def leave(note: Note) -> None:
    os._exit(3)


def grow(note: Note, size: int) -> None:
    _kept.append(bytearray(os.urandom(1)) * size)


def fail(note: Note, kind: str) -> None:
    from anymetal.errors import CompilerError, KernelLoadError, MetalCompileError

    if kind == "user":
        error = MetalCompileError("k", "source:1:2: error: no")
        error.__notes__ = ["a note"]  # type: ignore[attr-defined]
        raise error
    if kind == "load":
        raise KernelLoadError("k", "too much")
    if kind == "defect":
        raise CompilerError("k", "a problem")
    if kind == "unexpected":
        {}["key"]
    raise _error_of_its_own()


def _error_of_its_own() -> Exception:
    class LocalError(Exception):
        pass

    return LocalError("cannot be sent")


def meet(note: Note, folder: str, own: str, other: str) -> bool:
    """Whether another helper is at work at the same time."""
    (Path(folder) / own).touch()
    end = time.monotonic() + 60
    while not (Path(folder) / other).exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
