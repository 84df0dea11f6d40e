"""The disk cache: results of compilation, found again by a later process.

    <directory>/index/<key>              the name of the object, "<sha256><suffix>"; then what it is
    <directory>/objects/<sha256><suffix> the result, named by the digest of its own content
    <directory>/headers/                 Clang's precompiled headers (see frontend/clang.py)
    <directory>/locks/                   held by who makes a result (see turns.py)

Files appear by renaming, and an object's name fixes its content, so processes may read, write and
clear at the same time. An object whose content does not fit its name is deleted, never loaded: the
directory holds machine code, hence it must also be ours alone.

The time of an object's last change is that of its last use. What was not used for longest is
removed when the whole grows beyond a limit:

    ANYMETAL_CACHE_LIMIT   bytes, or a number with K, M, G or T (default: 1G)
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

#: What `clear` removes; a directory that somebody names may hold other things.
_FOLDERS = ("index", "objects", "headers", "locks")
_LARGE = ("objects", "headers")

_LIMIT = "1G"
_UNITS = {unit: 1 << 10 * power for power, unit in enumerate(("", "K", "M", "G", "T"))}
#: Seconds after which a file that nothing refers to counts as left behind.
_LEFT = 3600.0

_counter = itertools.count()
#: Names of the files that this process works with, which it does not remove to save space.
_in_use: set[str] = set()


class Entry(NamedTuple):
    """One cached result."""

    key: str
    path: Path
    size: int
    name: str  #: what it is, such as "kernel `exp`"; may be empty
    made: float  #: seconds since 1970
    used: float


class Verdict(NamedTuple):
    """What `verify` found."""

    good: int  #: objects whose content fits their names
    broken: list[str]  #: names of those whose content does not; removed
    leftovers: int  #: files that nothing refers to; removed


def cache_directory() -> Path:
    """`$ANYMETAL_CACHE_DIR`, else `$XDG_CACHE_HOME/anymetal`, else `~/.cache/anymetal`.

    Where that cannot be written, or others could write to it, a directory of this process alone.
    """
    if chosen := os.environ.get("ANYMETAL_CACHE_DIR"):
        return _usable(chosen)
    # The standard says that a relative path counts as none.
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.expanduser("~/.cache")
    return _usable(os.path.join(home, "anymetal"))


def digest(*parts: str | bytes) -> str:
    """A key from all that decides a result; the borders between the parts count."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()


def get(key: str) -> Path | None:
    """The file stored under `key`, if there is one and it is whole."""
    directory = cache_directory()
    index = directory / "index" / key
    try:
        path = _object_of(index)[0]
    except FileNotFoundError:
        return None
    except (OSError, ValueError):  # unreadable, or no text
        _remove(index)
        return None
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    if _fits(path, content):
        use(path)
        return path
    _remove(index, path)
    return None


def put(key: str, suffix: str, content: bytes, name: str = "") -> Path:
    """Stores `content` under `key` and returns its file, whose name ends in `suffix` (".so").

    `name` says what it is, for people who list the cache.
    """
    most = limit()
    object_name = hashlib.sha256(content).hexdigest() + suffix
    _in_use.add(object_name)
    index = f"{object_name}\n{' '.join(name.split())}".encode()
    try:
        path = _store(cache_directory(), key, object_name, content, index)
    except OSError:  # disk full, quota, directory removed or made read-only meanwhile
        return _store(_private_directory(), key, object_name, content, index)
    _shrink(most)
    return path


def use(path: Path) -> None:
    """Take note that this process works with a cached file."""
    _in_use.add(path.name)
    with contextlib.suppress(OSError):  # gone, or read-only: then its time says nothing
        os.utime(path)


def shrink() -> None:
    """Keep to the limit after somebody else than `put` has written into the cache."""
    _shrink(limit())


def entries() -> list[Entry]:
    """All that `get` would find, unverified."""
    directory = cache_directory()
    found = []
    for index in sorted(_files(directory / "index")):
        if _is_temporary(index):
            continue
        try:
            path, name = _object_of(index)
            made, status = index.stat().st_mtime, path.stat()
        except (OSError, ValueError):
            continue
        found.append(Entry(index.name, path, status.st_size, name, made, status.st_mtime))
    return found


def size() -> int:
    """Bytes on disk."""
    total = 0
    for folder in _FOLDERS:
        for path in _files(cache_directory() / folder):
            try:
                total += path.stat().st_size
            except FileNotFoundError:
                continue
    return total


def clear() -> None:
    """Removes everything cached. Libraries that a process has loaded stay in its memory."""
    for folder in _FOLDERS:
        _remove(*_files(cache_directory() / folder))


def verify() -> Verdict:
    """Reads every object and removes those that are damaged, and what nothing refers to.

    Other processes may go on using the cache. Precompiled headers are Clang's to check, as it does
    whenever it reads one.
    """
    directory = cache_directory()
    good, broken = 0, []
    left = [path for folder in _FOLDERS for path in _abandoned(directory / folder)]
    known = {entry.path.name for entry in entries()}
    for path in _files(directory / "objects"):
        if _is_temporary(path):
            continue
        try:
            content = path.read_bytes()
        except OSError:
            continue
        if not _fits(path, content):
            broken.append(path.name)
            _remove(path)
        elif path.name not in known and _age(path) > _LEFT:
            left.append(path)
        else:
            good += 1
    left += _dangling(directory)
    _remove(*left)
    return Verdict(good, broken, len(left))


def headers() -> list[Path]:
    """The precompiled headers."""
    return [p for p in _files(cache_directory() / "headers") if not _is_temporary(p)]


def limit() -> int:
    """Bytes that the cache may have."""
    text = os.environ.get("ANYMETAL_CACHE_LIMIT") or _LIMIT
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.I)
    if found is None:
        raise ValueError(
            "ANYMETAL_CACHE_LIMIT must be a number of bytes, or a number with K, M, G or T, such "
            f"as 500M or 2G, not {text!r}"
        )
    return int(float(found[1]) * _UNITS[found[2].upper()])


def _shrink(most: int) -> None:
    directory = cache_directory()
    files = []
    for folder in _LARGE:
        for path in _files(directory / folder):
            try:
                status = path.stat()
            except OSError:
                continue
            files.append((status.st_mtime_ns, status.st_size, path))
    excess = sum(size for _, size, _ in files) - most
    if excess <= 0:
        return
    for _, size, path in sorted(files):
        if path.name not in _in_use and not _is_temporary(path):
            _remove(path)
            excess -= size
            if excess <= 0:
                break
    _remove(*_dangling(directory))


def _fits(path: Path, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == path.name.partition(".")[0]


def _object_of(index: Path) -> tuple[Path, str]:
    """The object that an index file leads to, and what it is."""
    name, _, description = index.read_text().partition("\n")
    return index.parents[1] / "objects" / os.path.basename(name), description


def _dangling(directory: Path) -> list[Path]:
    """Index files that lead to no object."""
    found = []
    for index in _files(directory / "index"):
        try:
            if not _is_temporary(index) and not _object_of(index)[0].is_file():
                found.append(index)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            found.append(index)
    return found


def _abandoned(folder: Path) -> list[Path]:
    """Temporary files and locks of processes that were killed."""
    return [
        path
        for path in _files(folder)
        if (_is_temporary(path) or folder.name == "locks") and _age(path) > _LEFT
    ]


def _is_temporary(path: Path) -> bool:
    """Being written, or left by a process that was killed; Clang's are called `….pch.tmp`."""
    return path.name.endswith(".tmp")


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _remove(*paths: Path) -> None:
    for path in paths:
        try:
            path.unlink()
        except OSError:  # gone already, or not for us to remove
            continue


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except FileNotFoundError:
        return []


def _store(directory: Path, key: str, name: str, content: bytes, index: bytes) -> Path:
    path = directory / "objects" / name
    _write(path, content)
    _write(directory / "index" / key, index)
    return path


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{next(_counter)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@functools.cache
def _usable(wanted: str) -> Path:
    path = Path(wanted)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
        ours = status.st_uid == os.geteuid() and not status.st_mode & 0o022
        if ours and os.access(path, os.R_OK | os.W_OK | os.X_OK):
            return path
    except OSError:
        pass
    return _private_directory()


@functools.cache
def _private_directory() -> Path:
    import atexit
    import shutil
    import tempfile

    directory, owner = tempfile.mkdtemp(prefix="anymetal-"), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # a forked child still uses it
            shutil.rmtree(directory, ignore_errors=True)

    atexit.register(remove)
    return Path(directory)
