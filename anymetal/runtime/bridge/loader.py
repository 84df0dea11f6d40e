"""The bridge in this process: built when it is first of use, loaded when it is ready.

ANYMETAL_BRIDGE=0      never: kernels run at once, and errors are raised by the call
ANYMETAL_BRIDGE=wait   wait for its build where others would run kernels at once meanwhile
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from anymetal.errors import ToolchainError
from anymetal.runtime import cache
from anymetal.runtime.interpreter import interpreter, search_path

if TYPE_CHECKING:  # what it takes to build and load costs milliseconds to import
    from anymetal.runtime.bridge.native import Native
    from anymetal.runtime.bridge.recipe import Recipe


class Bridge:
    """The way from nothing to a loaded extension; a step at a time, without keeping callers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settled = False
        self._native: Native | None = None
        self._builder: int | None = None
        self._postponed = False  #: until somebody must have it: it would be built in this process

    def native(self) -> Native | None:
        """The extension; None as long as there is no bridge."""
        if not self._settled:
            self._advance(_mode() == "wait")
        return self._native

    def loaded(self) -> Native | None:
        """The extension if this process has it already; starts nothing."""
        return self._native

    def require(self) -> Native:
        """The extension, even if it must be built first; raises ToolchainError."""
        if self._postponed:
            self._settled = self._postponed = False
        if not self._settled:
            self._advance(True)
        if self._native is None:
            text, remedy = status()[1:]
            raise ToolchainError(f"{text}; {remedy}" if remedy else text)
        return self._native

    def _advance(self, wait: bool) -> None:
        if not self._lock.acquire(blocking=wait):
            return  # another thread is at it
        try:
            if not self._settled:
                self._settled = self._step(wait)
        finally:
            self._lock.release()

    def _step(self, wait: bool) -> bool:
        """True when there is nothing more to hope for, or to do."""
        if _mode() == "0":
            return True
        if self._builder is not None and not _ended(self._builder, wait):
            return False
        from anymetal.runtime.bridge.native import Unusable, load
        from anymetal.runtime.bridge.recipe import Missing, recipe

        self._native = _shipped()
        if self._native is not None:
            return True
        try:
            wanted = recipe()
            path = wanted.library()
            if path is None and self._builder is None and wanted.failure() is None:
                if program := interpreter():
                    self._builder = _start_build(program)
                    return self._step(True) if wait else False
                if not wait:
                    self._postponed = True
                    return True
                self._native = _built_here(wanted)
                path = wanted.library()
            if path is not None and self._native is None:
                self._native = load(path)
        except (Missing, Unusable, OSError):  # the last one: no process for the build
            pass  # `status` tells
        return True


def _shipped() -> Native | None:
    """The bridge that came with the package, if one did and it fits."""
    from anymetal.runtime.bridge.native import Unusable, load
    from anymetal.runtime.bridge.recipe import shipped

    path = shipped()
    if not path.exists():
        return None
    try:
        return load(path)
    except Unusable:  # nanobind's ABI, say; one that is built here may fit
        return None


class Status(NamedTuple):
    """The state of the bridge in words."""

    works: bool
    text: str
    remedy: str


def status() -> Status:
    """What a process that started now would meet."""
    from anymetal.runtime.bridge.native import Unusable, load
    from anymetal.runtime.bridge.recipe import Missing, recipe

    if _mode() == "0":
        return Status(False, "turned off", "unset ANYMETAL_BRIDGE")
    if _shipped() is not None:
        return Status(True, "came with the package", "")
    try:
        wanted = recipe()
    except Missing as error:
        return Status(False, str(error), error.remedy)
    if path := wanted.library():
        try:
            load(path)
        except Unusable as error:
            return Status(False, str(error), "")
        return Status(True, f"built {wanted.versions}", "")
    if log := wanted.failure():
        remedy = f"{log} has the compiler's words; delete it to try again"
        return Status(False, f"could not be built {wanted.versions}", remedy)
    if interpreter() is None:
        remedy = (
            "there is no Python interpreter to start; ANYMETAL_BRIDGE=wait builds it in-process"
        )
        return Status(False, "not built yet", remedy)
    remedy = "the first call of a kernel starts that in the background; it takes seconds"
    return Status(False, "not built yet", remedy)


def _mode() -> str:
    text = os.environ.get("ANYMETAL_BRIDGE", "")
    if text not in ("", "0", "1", "wait"):
        raise ValueError(f"ANYMETAL_BRIDGE must be 0, 1 or wait, not {text!r}")
    return text


def _built_here(wanted: Recipe) -> Native | None:
    """The bridge, built without a process of its own: there is no interpreter to start."""
    from anymetal.runtime.bridge.build import build

    with _progress():
        return build(wanted)


def _start_build(program: str) -> int:
    """The id of a process that builds the bridge."""
    environment = {
        **os.environ,
        # It is to find the same packages as we do, and to share our cache even where that is a
        # temporary folder of this process.
        "PYTHONPATH": os.pathsep.join(search_path()),
        "PYTHONSAFEPATH": "1",
        "ANYMETAL_CACHE_DIR": str(cache.cache_directory()),
    }
    null = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    command = [program, "-m", "anymetal.runtime.bridge.build"]
    # A session of its own: Ctrl-C is for the program, not for the build.
    return os.posix_spawn(program, command, environment, file_actions=null, setsid=True)


def _ended(process: int, wait: bool) -> bool:
    try:
        if os.waitpid(process, os.WNOHANG)[0] != 0:
            return True
        if not wait:
            return False
        with _progress():
            os.waitpid(process, 0)
        return True
    except ChildProcessError:  # somebody else took note, or this is a fork of the one who asked
        return True


@contextmanager
def _progress() -> Iterator[None]:
    """Says what takes so long, on a line of stderr."""
    start = time.monotonic()
    print(
        "AnyMetal builds its bridge to MLX, once for this version of MLX ...",
        end="",
        file=sys.stderr,
        flush=True,
    )
    try:
        yield
    finally:
        print(f" {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


_bridge = Bridge()
native = _bridge.native
loaded = _bridge.loaded
require = _bridge.require
