"""The bridge in this process: built when it is first of use, loaded when it is ready.

ANYMETAL_BRIDGE=0      never: kernels run at once, and errors are raised by the call
ANYMETAL_BRIDGE=wait   wait for its build where others would run kernels at once meanwhile
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from anymetal.errors import ToolchainError
from anymetal.runtime import cache_folder, disk_cache
from anymetal.runtime.bridge.lock import LOCKED, is_being_built, lock_file
from anymetal.runtime.interpreter import interpreter, search_path

if TYPE_CHECKING:  # what it takes to build and load costs milliseconds to import
    from anymetal.runtime.bridge.native import Native
    from anymetal.runtime.bridge.recipe import Recipe

#: Seconds between two looks for a bridge that another process builds.
_GLANCE = 0.25


class Bridge:
    """The way from nothing to a loaded extension; a step at a time, without keeping callers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settled = False
        self._native: Native | None = None
        self._builder: int | None = None
        self._next_look = 0.0
        self._attempts = 2  #: a build may be killed, or its result removed at once

    def native(self) -> Native | None:
        """The extension; None as long as there is no bridge."""
        if not self._settled:
            wait = _mode() == "wait"
            if wait or time.monotonic() >= self._next_look:
                self._advance(wait)
        return self._native

    def loaded(self) -> Native | None:
        """The extension if this process has it already; starts nothing."""
        return self._native

    def require(self) -> Native:
        """The extension, even if it must be built first; raises ToolchainError."""
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
        if self._builder is not None:
            if not _ended(self._builder, wait):
                return False
            self._builder = None
        from anymetal.runtime.bridge.native import Unusable
        from anymetal.runtime.bridge.recipe import Missing, recipe

        self._native = _shipped()
        if self._native is not None:
            return True
        try:
            wanted = recipe()
            found = wanted.library()
            if found is None and self._attempts and not wanted.is_given_up():
                return self._start(wanted, wait)
            if found is not None:
                self._native = _loaded(found)
        except (Missing, Unusable, OSError):  # the last one: no process for the build
            pass  # `status` tells
        return True

    def _start(self, wanted: Recipe, wait: bool) -> bool:
        """Sees to it that one process builds; True if there is nothing more to hope for."""
        program = interpreter()
        if not wait and (program is None or not cache_folder.is_kept()):
            self._next_look = math.inf  # built only for who cannot do without
            return False
        lock = lock_file(wait)
        if lock is None:
            self._next_look = time.monotonic() + _GLANCE
            return wait
        try:
            # Another process may have finished while we waited.
            if wanted.library() is None and not wanted.is_given_up():
                if failure := wanted.failure():
                    _tell(f"its build failed before ({failure.path}) and is tried again")
                self._attempts -= 1
                if program is None:
                    self._native = _built_here(wanted)
                    return True
                self._builder = _start_build(program, lock)
        finally:
            os.close(lock)
        return self._step(True) if wait else False


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


def _loaded(found: disk_cache.Cached) -> Native:
    """The bridge out of the cache; raises `Unusable`."""
    from anymetal.runtime.bridge.native import Unusable, load
    from anymetal.runtime.loading import load as loaded

    return loaded(found, load, Unusable)


class Status(NamedTuple):
    """The state of the bridge in words."""

    works: bool
    text: str
    remedy: str


def status() -> Status:
    """What a process that started now would meet."""
    from anymetal.runtime.bridge.native import Unusable
    from anymetal.runtime.bridge.recipe import RETRY, Missing, recipe

    if _mode() == "0":
        return Status(False, "turned off", "unset ANYMETAL_BRIDGE")
    if _shipped() is not None:
        return Status(True, "came with the package", "")
    try:
        wanted = recipe()
    except Missing as error:
        return Status(False, str(error), error.remedy)
    if found := wanted.library():
        try:
            _loaded(found)
        except Unusable as error:
            return Status(False, str(error), "")
        return Status(True, f"built {wanted.versions}", "")
    if is_being_built():
        return Status(False, f"being built {wanted.versions}", "")
    if failure := wanted.failure():
        when = "by the next program"
        if wanted.is_given_up():
            when = time.strftime("after %Y-%m-%d %H:%M", time.localtime(failure.made + RETRY))
        remedy = f"{failure.path} has the compiler's words; it is tried again {when}"
        return Status(False, f"could not be built {wanted.versions}", remedy)
    if interpreter() is None:
        remedy = (
            "there is no Python interpreter to start; ANYMETAL_BRIDGE=wait builds it in-process"
        )
        return Status(False, "not built yet", remedy)
    if not cache_folder.is_kept():
        text = "not built, because it could not be kept for later processes"
        return Status(False, text, "see the folder of the cache")
    remedy = "the first call of a kernel starts that in the background; it takes seconds"
    return Status(False, "not built yet", remedy)


def retry() -> bool:
    """Lets the next program try again what failed; whether something had."""
    from anymetal.runtime.bridge.recipe import Missing, recipe

    try:
        wanted = recipe()
    except Missing:
        return False
    failure = wanted.failure()
    if failure is None or wanted.library() is not None:
        return False
    wanted.failed(failure.content.decode(), again=True)
    return True


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


def _start_build(program: str, lock: int) -> int:
    """The id of a process that builds the bridge, and has the lock from now on."""
    environment = {
        **os.environ,
        # It is to find the same packages as we do, and to share our cache even where that is a
        # temporary folder of this process.
        "PYTHONPATH": os.pathsep.join(search_path()),
        "PYTHONSAFEPATH": "1",
        "ANYMETAL_CACHE_DIR": str(disk_cache.cache_directory()),
    }
    environment.pop("ANYMETAL_INSTALL", None)  # it shall not pretend to anything
    actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_DUP2, lock, 3)]
    actions += [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    command = [program, "-m", "anymetal.runtime.bridge.build", LOCKED]
    # A session of its own: Ctrl-C is for the program, not for the build.
    return os.posix_spawn(program, command, environment, file_actions=actions, setsid=True)


def _tell(text: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(f"anymetal: the bridge to MLX: {text}", file=sys.stderr, flush=True)


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
