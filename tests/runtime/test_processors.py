"""How many processors there are for a process: on files like those of the two kinds of cgroups."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anymetal.runtime import processors


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path) -> Path:
    """Sixteen processors and no control groups yet."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.setattr(processors, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(processors, "_MOUNTED", tmp_path / "mounted")
    return tmp_path


def write(machine: Path, groups: str, files: dict[str, str]) -> int:
    (machine / "cgroup").write_text(groups)
    for name, text in files.items():
        file = machine / "mounted" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return processors.count()


def test_without_control_groups() -> None:
    assert processors.count() == 16


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        ({"cpu.max": "max 100000\n"}, 16),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "10000 100000\n"}, 1),
        ({"cpu.max": "9900000 100000\n"}, 16),
        ({"a/cpu.max": "max 100000\n", "a/b/cpu.max": "400000 100000\n"}, 4),
        ({"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "400000 100000\n"}, 3),
        ({"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "max 100000\n"}, 3),
        ({"a/c/cpu.max": "100000 100000\n"}, 16),  # somebody else's
        ({"cpu.max": ""}, 16),
        ({"cpu.max": "nonsense"}, 16),
        ({"cpu.max": "100000 0"}, 16),
    ],
)
def test_version_2(machine, limits, count) -> None:
    assert write(machine, "0::/a/b\n", limits) == count


@pytest.mark.parametrize(
    ("groups", "folder", "quota", "count"),
    [
        ("4:cpu,cpuacct:/a\n", "cpu,cpuacct/a", "150000", 2),
        ("4:cpu,cpuacct:/a\n", "cpu,cpuacct", "150000", 2),  # a container sees its own as the root
        ("4:cpu,cpuacct:/a\n", "cpu/a", "150000", 2),  # a link on most systems
        ("4:cpu:/a/b\n", "cpu/a", "600000", 6),
        ("4:cpu:/a\n", "cpu/a", "-1", 16),
        ("4:cpuset:/a\n", "cpuset/a", "100000", 16),
        ("5:memory:/\n4:cpu:/\n0::/\n", "cpu", "100000", 1),
        ("1:name=systemd:/a:b\n4:cpu:/c:d\n", "cpu/c:d", "100000", 1),
    ],
)
def test_version_1(machine, groups, folder, quota, count) -> None:
    files = {f"{folder}/cpu.cfs_quota_us": quota, f"{folder}/cpu.cfs_period_us": "100000\n"}
    assert write(machine, groups, files) == count
