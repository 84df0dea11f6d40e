"""Loads libraries from the cache, even if their file is gone meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from anymetal.runtime.disk_cache import Cached

#: What to do where that fails.
NO_CODE = (
    "If no file system here lets code be executed, set ANYMETAL_CACHE_DIR to a directory on one "
    "that does."
)

_T = TypeVar("_T")


def load(cached: Cached, how: Callable[[Path], _T], failure: type[Exception] = OSError) -> _T:
    """What `how` makes of its file, or of a copy.

    The copy serves where another process has removed the file in this very moment, and where the
    cache is on a file system from which nothing may be executed.
    """
    try:
        return how(cached.path)
    except failure:
        from anymetal.runtime import scratch  # hardly ever needed

        with scratch.workspace() as folder:
            # Of a new name: the system takes a library of a known name for the one it has.
            copy = folder / cached.path.name
            copy.write_bytes(cached.content)
            return how(copy)
