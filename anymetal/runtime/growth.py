"""How much came into the cache since somebody last looked at all of it.

    <directory>/added      one byte for every 4 KiB that was stored, by whatever process

To look at all files of a full cache takes half a second (30,000 of them), as long as it takes to
compile several kernels. So that is done only once the cache may have grown by a part of its limit.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

#: A cache may have grown by one of so many parts of its limit before anybody looks.
PARTS = 64
_UNIT = 4096
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


def note(directory: Path, size: int) -> None:
    """Something of `size` bytes was stored."""
    _open(directory, os.O_APPEND, b"." * (1 + size // _UNIT))


def is_due(directory: Path, limit: int) -> bool:
    """Whether it is time to look at all files; also if nobody knows what is there."""
    try:
        return os.lstat(_file(directory)).st_size * _UNIT > limit // PARTS
    except OSError:
        return True


def begin_anew(directory: Path) -> None:
    """Somebody is about to look at all files."""
    _open(directory, os.O_TRUNC)


def _open(directory: Path, flags: int, data: bytes = b"") -> None:
    with contextlib.suppress(OSError):  # as in a full disk: then `is_due` counts too little
        descriptor = os.open(_file(directory), _FLAGS | flags, 0o600)
        try:
            os.write(descriptor, data)  # appended as one piece, whoever else does so
        finally:
            os.close(descriptor)


def _file(directory: Path) -> str:
    return os.path.join(directory, "added")
