"""Files that a crash, a full disk or another user may have damaged, and that may vanish at any
time.

A sealed file ends in a line that says what the rest should be:

    <content>
    //sealed <length of the content> <seconds since 1970> <digest> <what it is>

The digest covers the file's name, too, so two files that were exchanged are as bad as one that was
cut off. Programs that load shared libraries or precompiled headers ignore the line.

Files appear whole: they are written in `<directory>/tmp`, under a lock, brought to the disk, and
renamed. A file in `tmp` without a lock was left by a process that was killed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from anymetal.runtime import trust

_MARK = b"\n//sealed "
_LONGEST_MARK = 1024
_LONGEST_NAME = 200  #: characters of what a file is said to be
#: Seconds for which a file that cannot be locked counts as being written.
_RECENT = 3600.0
_ROOM = 32 << 20  #: a disk with less is as good as full
_ATTEMPTS = 8  #: to place a file where others remove what they find

#: What says that something bad is at a path, rather than that the system is short of something.
_BAD = {errno.ELOOP, errno.ENXIO, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENODEV}


class Damaged(Exception):
    """What is at this path cannot be used."""


class Seal(NamedTuple):
    """What the last line says."""

    length: int
    made: int  #: seconds since 1970
    digest: str
    name: str  #: what it is, such as "kernel `exp`"; may be empty


def digest(*parts: str | bytes) -> str:
    """A digest of all parts and of the borders between them."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()


def read(path: Path) -> tuple[bytes, Seal]:
    """Content and seal of a sealed file.

    Raises `Damaged` if it is anything but what was written there, FileNotFoundError if there is
    none, and another OSError if the system could not tell.
    """
    descriptor = _opened(path)
    try:
        seal = _seal_of(descriptor, path)
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(seal.length)
    finally:
        os.close(descriptor)
    if _digest(path, content, seal) != seal.digest:
        raise Damaged(f"{path}: its content does not fit its digest")
    return content, seal


def seal_of(path: Path) -> Seal:
    """The last line alone; raises as `read` does."""
    descriptor = _opened(path)
    try:
        return _seal_of(descriptor, path)
    finally:
        os.close(descriptor)


def write(path: Path, content: bytes, name: str = "") -> Seal:
    """A sealed file, in `<directory>/<folder>/<name>`; readers see the old one or the new one."""
    name = " ".join(name.split())[:_LONGEST_NAME].encode(errors="replace").decode()
    seal = Seal(len(content), int(time.time()), "", name)
    line = f"{seal.length} {seal.made} {_digest(path, content, seal)} {name}\n"
    data = content + _MARK + line.encode()
    for attempt in range(_ATTEMPTS):
        try:
            _place(path, data)
        except IsADirectoryError:
            remove(path)
        except FileNotFoundError:  # removed by who tidied up, or with all folders
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            break
    return seal


def remove(path: Path) -> None:
    """Removes a file, a link, or a folder with everything in it."""
    try:
        path.unlink()
    except IsADirectoryError:
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    except OSError:  # gone already, or not for us to remove
        pass


def folder(path: Path) -> None:
    """Makes this folder, for us alone, in the place of anything else of that name."""
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir(mode=0o700)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not stat.S_ISDIR(path.lstat().st_mode):
            remove(path)
            path.mkdir(mode=0o700, exist_ok=True)


def names(path: Path) -> list[str]:
    """What a folder holds; nothing if it is none."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def is_full(place: Path) -> bool:
    """Whether there is hardly any room in this folder."""
    try:
        free = os.statvfs(place)
    except OSError:
        return True
    return free.f_bavail * free.f_frsize < _ROOM


def sweep(paths: Iterable[Path], keep: bool = False) -> int:
    """Removes those of these paths that no process has locked; how many there were."""
    return sum(_swept(path, keep) for path in paths)


def lock_file(path: Path) -> int:
    """A descriptor of a file that processes lock; made if need be, in the place of anything else.

    Such a file is never removed, or two processes could hold the lock.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno not in _BAD:
            raise
        remove(path)
        return os.open(path, flags, 0o600)


def _swept(path: Path, keep: bool) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        abandoned = error.errno in _BAD
        if abandoned and not keep:
            remove(path)
        return abandoned
    try:
        # The lock is held meanwhile, so that no process that comes now gets it.
        abandoned = not _is_locked(descriptor)
        if abandoned and not keep:
            remove(path)
        return abandoned
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    """Whether another process has the lock; if not, we have it now."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return time.time() - os.fstat(descriptor).st_mtime < _RECENT


def _opened(path: Path) -> int:
    """A descriptor of a regular file that is ours, or the administrator's. Never waits."""
    try:
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno in _BAD:
            raise Damaged(f"{path}: {error.strerror}") from error
        raise
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and trust.owned(status):
        return descriptor
    os.close(descriptor)
    raise Damaged(f"{path}: not a file that nobody else can write")


def _seal_of(descriptor: int, path: Path) -> Seal:
    size = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, _LONGEST_MARK, max(0, size - _LONGEST_MARK))
    place = tail.rfind(_MARK)
    try:
        words = tail[place + len(_MARK) : -1].decode().split(" ", 3)
        seal = Seal(int(words[0]), int(words[1]), words[2], words[3])
    except (ValueError, IndexError) as error:
        raise Damaged(f"{path}: not sealed") from error
    if place < 0 or not tail.endswith(b"\n") or seal.length != size - len(tail) + place:
        raise Damaged(f"{path}: of another length than it was written with")
    return seal


def _digest(path: Path, content: bytes, seal: Seal) -> str:
    return digest(path.name, content, str(seal.made), seal.name)


def _place(path: Path, data: bytes) -> None:
    import fcntl  # not needed by who only reads

    temporary = path.parents[1] / "tmp" / os.urandom(16).hex()
    folder(temporary.parent)
    folder(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        remove(temporary)
        raise
    finally:
        os.close(descriptor)
