"""The lock on builds of the bridge, among processes that share the cache."""

from __future__ import annotations

import os
import time

from anymetal.runtime import disk_cache, files

#: What tells the program that builds that it has the lock (build.py), as descriptor 3.
LOCKED = "--locked"
#: Seconds for which another process may build while we wait, and between two looks.
_TIMEOUT, _GLANCE = 900.0, 0.05


def lock_file(wait: bool) -> int | None:
    """A descriptor that holds the lock.

    None if another process has it, for long if we wait.
    """
    end = time.monotonic() + _TIMEOUT
    descriptor = files.lock_file(disk_cache.cache_directory() / "bridge.lock")
    while _is_held(descriptor):
        if not wait or time.monotonic() > end:
            os.close(descriptor)
            return None
        time.sleep(_GLANCE)
    return descriptor


def _is_held(descriptor: int) -> bool:
    """Whether somebody else has the lock of this file; if not, it is ours now."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks: two may build
        pass
    return False


def is_being_built() -> bool:
    """Whether another process builds."""
    try:
        descriptor = lock_file(wait=False)
    except OSError:
        return False
    if descriptor is None:
        return True
    os.close(descriptor)
    return False
