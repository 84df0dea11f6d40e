"""Locks: what one thread or process may do at a time, and when it is safe to fork.

One thread at a time works with LLVM: llvmlite locks each of its calls, and all modules share one
context. The lock `llvm` is held until a module is finished. That costs no parallelism, as Clang,
the linker and our own passes run meanwhile, and gives a fork a moment at which LLVM is in order.
`starting` is held while a tool is started: a child that is forked then would keep the ends of its
pipes open.

A process that forks waits for both locks. Else the child could inherit one that no thread of its
own will ever release.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from anymetal.runtime import disk_cache, files
from anymetal.runtime.disk_cache import Cached

llvm = threading.RLock()
starting = threading.RLock()

#: Seconds after which another process is no longer waited for: it may have been stopped.
TIMEOUT = 120.0
_LONGEST_NAP = 0.05

_makers: dict[str, threading.Lock] = {}


def cached(key: str, suffix: str, name: str, make: Callable[[], bytes]) -> Cached:
    """What the disk cache has under `key`; if nothing, what is made and put there, as `name`."""
    if found := disk_cache.get(key, suffix):
        return found
    with making(key):
        return disk_cache.get(key, suffix) or disk_cache.put(key, suffix, make(), name)


@contextmanager
def making(key: str) -> Iterator[None]:
    """Held while a result for `key` is made; others wait, then look into the disk cache again.

    It only saves work: if locks do not function, or after `TIMEOUT`, two may make the same.
    """
    try:
        with _makers.setdefault(key, threading.Lock()), _among_processes(key):
            yield
    finally:
        _makers.pop(key, None)


@contextmanager
def _among_processes(key: str) -> Iterator[None]:
    """Holds one byte, chosen by the key, of a file that all processes share.

    Such a lock belongs to the process: a child does not inherit it, and it is gone when the process
    dies, so none is left behind. It would also be gone if the process closed the file.
    """
    byte = int(disk_cache.digest(key)[:15], 16)
    descriptor = _lock_file(disk_cache.cache_directory() / "lock")
    locked = descriptor >= 0 and _locked(descriptor, byte)
    try:
        yield
    finally:
        if locked:
            import fcntl

            fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, byte)


@functools.cache
def _lock_file(path: Path) -> int:
    """A descriptor of the file, which is never closed, or -1."""
    try:
        return files.lock_file(path)
    except OSError:
        return -1


def _locked(descriptor: int, byte: int) -> bool:
    """Whether the byte is now ours."""
    import fcntl

    nap, end = 0.001, time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
            return True
        except (BlockingIOError, PermissionError):  # somebody else has it
            time.sleep(nap)
            nap = min(2 * nap, _LONGEST_NAP)
        except OSError:  # a file system without locks
            return False
    return False


def _before_fork() -> None:
    llvm.acquire()
    starting.acquire()


def _after_fork() -> None:
    starting.release()
    llvm.release()


def _in_child() -> None:
    _makers.clear()  # those threads are not here
    _after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
