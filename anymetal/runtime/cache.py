"""The disk cache: results of compilation, found again by a later process.

    <directory>/index/<key>              one line, the name of the object: "<sha256><suffix>"
    <directory>/objects/<sha256><suffix> the result, named by the digest of its own content

Files appear by renaming, and an object's name fixes its content, so processes may read, write and
clear at the same time. An object whose content does not fit its name is deleted, never loaded: the
directory holds machine code, hence it must also be ours alone.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
from pathlib import Path
from typing import NamedTuple

#: What `clear` removes; a directory that somebody names may hold other things.
_FOLDERS = ("index", "objects", "headers")

_counter = itertools.count()


class Entry(NamedTuple):
    """One cached result."""

    key: str
    path: Path
    size: int


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
        path = directory / "objects" / os.path.basename(index.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):  # unreadable, or no text
        _remove(index)
        return None
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    if hashlib.sha256(content).hexdigest() == path.name.partition(".")[0]:
        return path
    _remove(index, path)
    return None


def put(key: str, suffix: str, content: bytes) -> Path:
    """Stores `content` under `key` and returns its file, whose name ends in `suffix` (".so")."""
    name = hashlib.sha256(content).hexdigest() + suffix
    try:
        return _store(cache_directory(), key, name, content)
    except OSError:  # disk full, quota, directory removed or made read-only meanwhile
        return _store(_private_directory(), key, name, content)


def entries() -> list[Entry]:
    """All that `get` would find, unverified."""
    directory = cache_directory()
    found = []
    for index in sorted(_files(directory / "index")):
        if index.suffix == ".tmp":  # being written, or left by a process that was killed
            continue
        try:
            path = directory / "objects" / os.path.basename(index.read_text())
            found.append(Entry(index.name, path, path.stat().st_size))
        except (OSError, ValueError):
            continue
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


def _store(directory: Path, key: str, name: str, content: bytes) -> Path:
    path = directory / "objects" / name
    _write(path, content)
    _write(directory / "index" / key, name.encode())
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
