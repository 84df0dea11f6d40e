"""What may become of a file on a disk: each function does one thing to the file at a path."""

from __future__ import annotations

import os
import random
import shutil
import socket
from pathlib import Path


def removed(path: Path) -> None:
    """Nothing is there."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def _file(path: Path, content: bytes) -> None:
    """A file of its own: who has loaded the old one keeps that."""
    removed(path)
    path.write_bytes(content)


def _content(path: Path) -> bytes:
    """Never empty: a file may be damaged twice."""
    whole = path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 30
    return (path.read_bytes() if whole else b"") or b"nothing"


def zeroed(path: Path) -> None:
    """As after a power cut."""
    _file(path, bytes(len(_content(path))))


def emptied(path: Path) -> None:
    """As after a full disk."""
    _file(path, b"")


def cut_off(path: Path) -> None:
    """The end is missing."""
    _file(path, _content(path)[:-7])


def flipped(path: Path) -> None:
    """One bit is wrong."""
    content = bytearray(_content(path))
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    _file(path, bytes(content))


def extended(path: Path) -> None:
    """Somebody has added to it."""
    _file(path, _content(path) + b"more\n")


def huge(path: Path) -> None:
    """Larger than memory."""
    _file(path, b"")
    os.truncate(path, 1 << 40)


def plain_file(path: Path) -> None:
    """Something else."""
    _file(path, b"junk")


def folder(path: Path) -> None:
    """Not a file."""
    removed(path)
    (path / "with" / "content").mkdir(parents=True)


def link(path: Path) -> None:
    """To a file that must not change."""
    removed(path)
    path.symlink_to(path.parents[2] / "victim")


def link_to_folder(path: Path) -> None:
    """To a folder that must not change."""
    removed(path)
    path.symlink_to(path.parents[2])


def fifo(path: Path) -> None:
    """Whoever opens it waits for ever."""
    removed(path)
    os.mkfifo(path)


def listening(path: Path) -> None:
    """A socket."""
    removed(path)
    here = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name[:100])
    os.chdir(here)


def unreadable(path: Path) -> None:
    """Without permission, unless we are root."""
    _file(path, _content(path)[:-1])
    path.chmod(0)


def writable_by_all(path: Path) -> None:
    """Who knows who has written it."""
    _file(path, _content(path))
    path.chmod(0o666)


def exchange(path: Path, other: Path) -> None:
    """Each in the place of the other."""
    if path != other:
        spare = path.with_name("spare")
        os.rename(path, spare)
        os.rename(other, path)
        os.rename(spare, other)


ALL = [
    *(zeroed, emptied, cut_off, flipped, extended, huge, plain_file, folder),
    *(link, link_to_folder, fifo, listening, unreadable, writable_by_all),
]
OF_FOLDERS = [plain_file, link, fifo, listening, removed]
