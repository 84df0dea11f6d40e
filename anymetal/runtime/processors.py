"""How many processors this process may use: those it is bound to, and its share of their time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_GROUPS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")


def count() -> int:
    """Processors, at least one; a share of 2.5 processors (a container's limit) counts as three."""
    bound = len(os.sched_getaffinity(0))
    shares = [-(-quota // period) for quota, period in _quotas(_GROUPS, _MOUNTED)]
    return max(1, min([bound, *shares]))


def _quotas(groups: Path, mounted: Path) -> Iterator[tuple[int, int]]:
    """Limits of the control groups around this process: time that it may compute, in which time."""
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            for folder in _upwards(mounted, path):
                yield from _limit(_words(folder / "cpu.max"))
        elif "cpu" in controllers.split(","):
            for name in dict.fromkeys((controllers, "cpu")):
                for folder in _upwards(mounted / name, path):
                    names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                    yield from _limit([w for name in names for w in _words(folder / name)])


def _upwards(root: Path, path: str) -> Iterator[Path]:
    """The folder of a group and those around it; a container sees its own as the root."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for length in range(len(parts), -1, -1):
        yield root.joinpath(*parts[:length])


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _limit(words: list[str]) -> Iterator[tuple[int, int]]:
    """Quota and period of two words; a group without a limit says "max", or -1."""
    if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
        yield int(words[0]), int(words[1])
