"""The disk cache: results of compilation, for later processes.

    <directory>/entries/<key><suffix>   a result, sealed (see files.py)
    <directory>/tune/                   what `anymetal tune` has measured, sealed
    <directory>/texts/                  what kernels were compiled from, for debuggers (texts.py)
    <directory>/tmp/                    files that are being written
    <directory>/lock                    parts of it are locked while results are made (locks.py)
    <directory>/added                   how much has come since it was last tidied up (growth.py)

Processes may read, write, remove and clear at the same time: one that gets an entry has all of its
content and does not need the file any more. An entry that is not what was stored counts as absent.
cache_folder.py says where the directory is, and what is done if it cannot be used.

The time of an entry's last change is that of its last use. If the cache exceeds a limit, entries
that were not used for longest are removed. This is seen before the cache has grown by more than a
64th of the limit, which is kept free for that:

    ANYMETAL_CACHE_LIMIT   bytes, or a number with K, M, G or T (default: 1G)
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from anymetal.errors import ToolchainError
from anymetal.runtime import cache_folder, files, growth
from anymetal.runtime.files import digest as digest

_ENTRIES, _TABLES, _TEXTS = "entries", "tune", "texts"
#: What `clear` removes; a directory that somebody names may hold other things.
_FOLDERS = (_ENTRIES, _TEXTS, "tmp")

_LIMIT = "1G"
_UNITS = {unit: 1 << 10 * power for power, unit in enumerate(("", "K", "M", "G", "T"))}

#: Names of the entries that this process works with, which it does not remove to save space.
_in_use: set[str] = set()


class Cached(NamedTuple):
    """What was found under a key."""

    path: Path  #: which other processes may remove at any time
    content: bytes
    made: float  #: seconds since 1970
    name: str  #: what it is


class Entry(NamedTuple):
    """One cached result, for people."""

    path: Path
    size: int
    name: str  #: what it is, such as "kernel `exp`"; may be empty
    made: float  #: seconds since 1970
    used: float


class Verdict(NamedTuple):
    """What `verify` found."""

    good: int  #: entries and tables that are what was put there
    broken: list[str]  #: why the others are not
    leftovers: int  #: what killed processes have left


def cache_directory() -> Path:
    """The folder that entries are written to."""
    return cache_folder.directory()


def get(key: str, suffix: str = ".so") -> Cached | None:
    """What is stored under `key`, if it is there and whole."""
    name = key + suffix
    found = None
    with contextlib.suppress(files.Damaged):
        found = _found(_ENTRIES, name)
    if found is not None:
        _in_use.add(name)
        with contextlib.suppress(OSError):  # gone, or read-only: then its time says nothing
            os.utime(found.path)
    return found


def put(key: str, suffix: str, content: bytes, name: str = "") -> Cached:
    """Stores `content` under `key`, in a file whose name ends in `suffix`.

    `name` says what it is, for people who list the cache.
    """
    most = limit()
    _in_use.add(key + suffix)
    stored = _stored(_ENTRIES, key + suffix, content, name)
    directory = stored.path.parents[1]
    tidy(directory)
    growth.note(directory, len(content))
    if growth.is_due(directory, most):
        growth.begin_anew(directory)
        _shrink(directory, most - most // growth.PARTS)
    return stored


def get_table(name: str) -> Cached | None:
    """A measured table; raises `files.Damaged` if it is not what was stored, and removes it."""
    return _found(_TABLES, name)


def table_file(name: str) -> Path:
    """Where `put_table` stores."""
    return cache_directory() / _TABLES / name


def put_table(name: str, content: bytes, description: str) -> Path:
    """Stores a measured table, which stays until somebody asks for its removal."""
    return _stored(_TABLES, name, content, description).path


def remove(key: str, suffix: str = ".so") -> None:
    """Forgets what is stored under `key`."""
    for directory in cache_folder.readable():
        files.remove(directory / _ENTRIES / f"{key}{suffix}")


def entries() -> list[Entry]:
    """All that `get` would find, with contents unread."""
    return _listed(_ENTRIES)


def tables() -> list[Entry]:
    """The measured tables, with contents unread."""
    return _listed(_TABLES)


def _listed(folder: str) -> list[Entry]:
    found = []
    for path in _all_in(folder):
        try:
            seal, status = files.seal_of(path), path.stat()
        except (files.Damaged, OSError):
            continue
        found.append(Entry(path, status.st_size, seal.name, seal.made, status.st_mtime))
    return found


def size() -> int:
    """Bytes on disk."""
    return sum(map(_space, _files_in((*_FOLDERS, _TABLES))))


def clear(measured: bool = False) -> None:
    """Removes everything cached; measured tables only if that is asked for.

    Other processes keep what they have loaded, and make again what they look for.
    """
    from anymetal.runtime import scratch  # not needed to read

    for path in (*_all_in(_ENTRIES), *(_all_in(_TABLES) if measured else [])):
        files.remove(path)
    for directory in cache_folder.readable():
        files.remove(directory / _TEXTS)
        tidy(directory)
    scratch.sweep()


def verify(keep: bool = False) -> Verdict:
    """Reads everything, and removes what is damaged or left behind, unless it is to be kept.

    Other processes may go on using the cache.
    """
    from anymetal.runtime import scratch

    good, broken = 0, []
    for path in (*_all_in(_ENTRIES), *_all_in(_TABLES)):
        try:
            files.read(path)
            good += 1
        except files.Damaged as damage:
            broken.append(str(damage))
            if not keep:
                files.remove(path)
        except OSError:
            continue  # gone meanwhile
    left = scratch.sweep(keep)
    left += sum(tidy(directory, keep) for directory in cache_folder.readable())
    return Verdict(good, broken, left)


def tidy(directory: Path, keep: bool = False) -> int:
    """Removes what killed processes were writing; returns how many files there were."""
    folder = directory / "tmp"
    return files.sweep((folder / name for name in files.names(folder)), keep)


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


def _shrink(directory: Path, most: int) -> None:
    found = []
    for path in _removable(directory):
        with contextlib.suppress(OSError):
            status = path.lstat()
            found.append((status.st_mtime_ns, _space(status), path))
    excess = sum(size for _, size, _ in found) - most
    for _, size, path in sorted(found):
        if excess <= 0:
            break
        if path.name not in _in_use:
            files.remove(path)
            with contextlib.suppress(OSError):  # of a text, whose folder has nothing else
                (directory / _TEXTS / path.parent.name).rmdir()
            excess -= size


def _removable(directory: Path) -> Iterator[Path]:
    """What may go if there is too much."""
    for name in files.names(directory / _ENTRIES):
        yield directory / _ENTRIES / name
    for folder in files.names(directory / _TEXTS):
        for name in files.names(directory / _TEXTS / folder):
            yield directory / _TEXTS / folder / name


def _found(folder: str, name: str) -> Cached | None:
    damage = None
    for directory in cache_folder.readable():
        path = directory / folder / name
        try:
            content, seal = files.read(path)
        except files.Damaged as problem:
            files.remove(path)
            damage = problem
        except OSError:
            continue
        else:
            return Cached(path, content, seal.made, seal.name)
    if damage:
        raise damage
    return None


def _stored(folder: str, name: str, content: bytes, description: str) -> Cached:
    directory = cache_folder.directory()
    path = directory / folder / name
    try:
        seal = files.write(path, content, description)
    except OSError as error:  # disk full, quota, directory made read-only meanwhile
        reason = f"{directory} cannot be written: {error.strerror or error}"
        if folder == _ENTRIES and not name.endswith(".so"):  # nobody needs it as a file
            cache_folder.tell(reason)
            return Cached(path, content, time.time(), description)
        path = cache_folder.private(reason) / folder / name
        try:
            seal = files.write(path, content, description)
        except OSError as another:
            raise ToolchainError(f"what is compiled can be kept nowhere: {another}") from error
    return Cached(path, content, seal.made, seal.name)


def _space(status: os.stat_result) -> int:
    """Bytes on disk, which are few for a file that claims to be huge."""
    return min(status.st_size, 512 * status.st_blocks)


def _all_in(folder: str) -> list[Path]:
    parents = [directory / folder for directory in cache_folder.readable()]
    return [path / name for path in parents for name in sorted(files.names(path))]


def _files_in(inside: Iterable[str]) -> Iterator[os.stat_result]:
    """All files at any depth."""
    for directory, folder in itertools.product(cache_folder.readable(), inside):
        for parent, _, names in os.walk(directory / folder):
            for name in names:
                with contextlib.suppress(OSError):
                    yield os.lstat(os.path.join(parent, name))
