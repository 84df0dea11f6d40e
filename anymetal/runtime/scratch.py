"""Folders for temporary files, which are removed with their process, even if that is killed.

A process has at most one, where the system keeps temporary files, and shares it with children that
it forks. Each holds a lock on the folder. A process that makes one removes those of its user
without a lock. (systemd spares what is locked, too.)
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from anymetal.errors import ToolchainError
from anymetal.runtime import files

_IN_MEMORY = "/dev/shm"

#: The folder of each user that this process has been, and the descriptor that holds its lock.
_folders: dict[int, tuple[Path, int]] = {}
#: The same for a child that is about to be forked.
_heirs: dict[int, int] = {}


def folder() -> Path:
    """The folder of this process, made when it is first asked for; raises ToolchainError."""
    user = os.geteuid()
    held = _folders.get(user)
    if held is not None and held[0].is_dir():
        return held[0]
    sweep()
    made = _made(user)
    if _folders.get(user) is held:
        _folders[user] = made
    else:  # another thread was faster
        files.remove(made[0])
        os.close(made[1])
    return _folders[user][0]


@contextmanager
def workspace() -> Iterator[Path]:
    """A folder in it, for as long as the block runs."""
    path = folder() / os.urandom(8).hex()
    files.folder(path)
    try:
        yield path
    finally:
        files.remove(path)


def sweep(keep: bool = False) -> int:
    """Removes the folders of processes that were killed; how many there are."""
    user = os.geteuid()
    return files.sweep(
        (
            parent / name
            for parent in _parents()
            for name in files.names(parent)
            if name.startswith(_prefix(user)) and _belongs_to(parent / name, user)
        ),
        keep,
    )


def _made(user: int) -> tuple[Path, int]:
    from tempfile import mkdtemp

    problem: OSError | None = None
    for parent in sorted(_parents(), key=files.is_full):
        try:
            while True:
                path = Path(mkdtemp(prefix=_prefix(user), dir=parent))
                descriptor = _lock(path)
                if path.is_dir():  # nobody removed it before it was locked
                    return path, descriptor
                os.close(descriptor)
        except OSError as error:
            problem = error
    raise ToolchainError(f"there is no room for temporary files (see TMPDIR): {problem}")


def _parents() -> list[Path]:
    from tempfile import gettempdir

    try:
        usual = [gettempdir()]
    except FileNotFoundError:
        usual = []
    return [Path(place) for place in dict.fromkeys((*usual, _IN_MEMORY))]


def _prefix(user: int) -> str:
    return f"anymetal-{user}-"


def _belongs_to(path: Path, user: int) -> bool:
    try:
        return path.lstat().st_uid == user
    except OSError:
        return False


def _lock(path: Path) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def _before_fork() -> None:
    """Takes the lock of the child, which could not do so before its parent ends."""
    for user, (path, _) in list(_folders.items()):
        with contextlib.suppress(OSError):
            _heirs[user] = _lock(path)


def _in_parent() -> None:
    while _heirs:
        os.close(_heirs.popitem()[1])


def _in_child() -> None:
    for user, (path, descriptor) in list(_folders.items()):
        os.close(descriptor)
        if user in _heirs:
            _folders[user] = path, _heirs.pop(user)
        else:
            del _folders[user]


@atexit.register
def _at_exit() -> None:
    for path, descriptor in _folders.values():
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # a child is still there
            continue
        files.remove(path)


os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
