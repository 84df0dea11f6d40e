"""Where the disk cache is, and whether it can be read and written.

    ANYMETAL_CACHE_DIR   its folder (default: $XDG_CACHE_HOME/anymetal, or ~/.cache/anymetal)

    ANYMETAL_CACHE_ALSO  another folder to read if that one cannot be written: so a helper process
                         finds what the process finds that it works for

The folder holds machine code. It is read only if it, and every folder on the path to it, belongs to
this user or to root, and no other user may write there. So the machines of a build farm may share
one that root has filled and made readable (`chmod -R a+rX`). What cannot be written there goes into
a folder of this process, which is removed at its end; one line on the standard error stream says
so.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import NamedTuple

from anymetal.runtime import files, trust

_ALSO = "ANYMETAL_CACHE_ALSO"

#: Why something is not kept, if that has happened; only the first reason is shown.
_told: list[str] = []
#: The folders of this process that have something in them.
_private: set[Path] = set()


class Folder(NamedTuple):
    """The folder that the environment names."""

    path: Path
    readable: bool
    writable: bool
    reason: str  #: why not


_bound: ContextVar[Folder | None] = ContextVar("_bound", default=None)


@contextlib.contextmanager
def bound(to: Folder) -> Iterator[None]:
    """Work for the folder that `place` named earlier, whatever the environment names by now.

    For what is done in the background: the environment may change before it is finished.
    """
    token = _bound.set(to)
    try:
        yield
    finally:
        _bound.reset(token)


def place() -> Folder:
    """The folder that this thread is bound to, or else that the environment names; made if it was
    not there."""
    if folder := _bound.get():
        return folder
    chosen, home = os.environ.get("ANYMETAL_CACHE_DIR", ""), os.environ.get("HOME", "")
    return _place(chosen, os.environ.get("XDG_CACHE_HOME", ""), home, os.geteuid())


def directory() -> Path:
    """The folder to write to."""
    found = place()
    return found.path if found.writable else private(found.reason)


def is_kept() -> bool:
    """Whether later processes find what this one puts into the cache, as far as one can tell."""
    found = place()
    return found.writable and not _told and not files.is_full(found.path)


def readable() -> list[Path]:
    """The folders to look in."""
    found = place()
    folders = [found.path] if found.readable else []
    if _private:
        folders.append(_of_this_process())
    if also := os.environ.get(_ALSO):
        other = _place(also, "", "", os.geteuid())
        folders += [other.path] if other.readable else []
    return folders


def environment() -> dict[str, str]:
    """Environment variables by which a helper process reads and writes where this one does."""
    found, to = place(), os.path.abspath(directory())
    also = str(found.path) if found.readable and not found.writable else ""
    return {"ANYMETAL_CACHE_DIR": to, _ALSO: also}


def private(reason: str) -> Path:
    """A folder that is removed with this process; says once why it is needed."""
    path = _of_this_process()
    files.folder(path)
    _private.add(path)
    tell(reason)
    return path


def tell(reason: str) -> None:
    """Says once why something is not kept."""
    if not _told:
        _told.append(reason)
        with contextlib.suppress(OSError, ValueError, AttributeError):  # nobody is listening
            sys.stderr.write(
                f"anymetal: what is compiled is not kept for later processes: {reason}\n"
            )
            sys.stderr.flush()


def _of_this_process() -> Path:
    from anymetal.runtime import scratch  # hardly ever needed

    return scratch.folder() / "cache"


@cache
def _place(chosen: str, xdg: str, home: str, user: int) -> Folder:
    path = Path(_wanted(chosen, xdg))
    if not path.is_absolute():
        return Folder(path, False, False, "this user has no home directory; set ANYMETAL_CACHE_DIR")
    try:
        _make(path, chosen or os.path.isabs(xdg))
        doubt = trust.doubt(path)
    except OSError as error:
        return Folder(path, False, False, f"{path} cannot be used: {error.strerror or error}")
    if doubt:
        return Folder(path, False, False, f"{path} is not used, because {doubt}")
    if not _may(path, os.R_OK):
        return Folder(path, False, False, f"{path} cannot be read")
    if not _may(path, os.W_OK):
        return Folder(path, True, False, f"{path} cannot be written")
    return Folder(path, True, True, "")


def _wanted(chosen: str, xdg: str) -> str:
    """What the environment names; no absolute path if that is nothing."""
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    # The standard says that a relative path counts as none.
    parent = xdg if os.path.isabs(xdg) else os.path.expanduser("~/.cache")
    return os.path.join(parent, "anymetal")


def _make(path: Path, named: object) -> None:
    """A home directory that is missing, as those of some services are, is not made."""
    home = os.path.expanduser("~")
    if not named and not os.path.isdir(home):
        raise OSError(f"there is no home directory {home}")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        if not path.is_dir():  # else it is read-only
            raise


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode | os.X_OK, effective_ids=os.access in os.supports_effective_ids)
