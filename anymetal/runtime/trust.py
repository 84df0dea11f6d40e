"""Who could put a file at a path: code is loaded only from where none but us and root could.

As in OpenSSH's checks of keys, every folder on the path counts: a user who can rename one decides
what is found below it. A folder with the sticky bit, such as /tmp, may be open to all, as users can
rename only their own files there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_MOST_LINKS = 40


def owned(status: os.stat_result) -> bool:
    """Whether something belongs to us or root, and no one else may write to it."""
    return _trusted(status.st_uid) and not _open_to_others(status)


def doubt(path: Path) -> str:
    """Why another user could decide what is found at this path; empty if none could.

    Raises OSError if there is no such path, or it cannot be followed.
    """
    last = None
    for step, status in _steps(path):
        last = step, status
        if not _trusted(status.st_uid):
            return f"{step} belongs to {_name(status.st_uid)}"
        sticky = status.st_mode & stat.S_ISVTX
        if not stat.S_ISLNK(status.st_mode) and not sticky and _open_to_others(status):
            return f"others may write to {step} (mode {stat.S_IMODE(status.st_mode):o})"
    if last is not None and _open_to_others(last[1]):  # sticky: others could add to it
        return f"others may write to {last[0]} (mode {stat.S_IMODE(last[1].st_mode):o})"
    return ""


def _steps(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every folder and every link that is passed on the way, and the end."""
    whole = path if path.is_absolute() else os.path.join(os.getcwd(), path)
    left = str(whole).split("/")
    here, links = "/", 0
    while left:
        part = left.pop(0)
        if part == "..":
            here = os.path.dirname(here)
            continue
        step = os.path.join(here, part) if part not in ("", ".") else here
        status = os.lstat(step)
        if part or step == "/":
            yield step, status
        if not stat.S_ISLNK(status.st_mode):
            here = step
            continue
        if (links := links + 1) > _MOST_LINKS:
            raise OSError(f"too many links at {step}")
        target = os.readlink(step)
        here = "/" if target.startswith("/") else here
        left = target.split("/") + left


def _open_to_others(status: os.stat_result) -> bool:
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_ours_alone(status.st_gid, os.geteuid())


@cache
def _is_ours_alone(group: int, user: int) -> bool:
    """Some systems give each user a group, and let it write by default; root's is no danger."""
    if group == 0:
        return True
    import grp
    import pwd

    try:
        ours, found = pwd.getpwuid(user), grp.getgrgid(group)
    except KeyError:
        return False
    return group == ours.pw_gid and found.gr_name == ours.pw_name and not found.gr_mem


def _trusted(user: int) -> bool:
    return user in (0, os.geteuid()) or (user == _overflow() and not _sees_root())


@cache
def _overflow() -> int:
    """Whom the system names as the owner of what belongs to nobody inside this container."""
    try:
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return -1


@cache
def _sees_root() -> bool:
    """False in containers in which root's files are shown as nobody's."""
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
        return any(int(line.split()[0]) == 0 for line in lines)
    except (OSError, ValueError, IndexError):
        return True


def _name(user: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(user).pw_name} (user {user})"
    except KeyError:
        return f"user {user}"
