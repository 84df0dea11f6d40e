"""Who could decide what is found at a path: owners and modes of all folders on the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anymetal.runtime import trust

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "a" / "b" / "c"
    made.mkdir(parents=True)
    for folder in (made, *made.parents[:2]):
        folder.chmod(0o755)
    return made


def test_ours_alone(path: Path) -> None:
    assert trust.doubt(path) == ""
    assert trust.owned(path.stat())


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("mode", [0o777, 0o757, 0o775])
def test_others_may_write_anywhere_on_the_way(path, monkeypatch, level, mode) -> None:
    monkeypatch.setattr(trust, "_is_ours_alone", lambda group, user: False)
    folder = [path, *path.parents][level]
    folder.chmod(mode)
    assert trust.doubt(path) == f"others may write to {folder} (mode {mode:o})"


def test_a_group_of_our_own_may_write(path, monkeypatch) -> None:
    monkeypatch.setattr(trust, "_is_ours_alone", lambda group, user: True)
    path.parent.chmod(0o775)
    assert trust.doubt(path) == ""


def test_everybody_may_write_above_with_the_sticky_bit(path: Path) -> None:
    path.parent.chmod(0o1777)
    assert trust.doubt(path) == ""
    path.chmod(0o1777)
    assert "others may write" in trust.doubt(path)


@AS_ROOT
@pytest.mark.parametrize("level", range(3))
def test_a_folder_of_somebody_else(path: Path, level: int) -> None:
    folder = [path, *path.parents][level]
    os.chown(folder, 4711, 4711)
    assert trust.doubt(path) == f"{folder} belongs to user 4711"
    assert not trust.owned([path, *path.parents][level].stat())


def test_links_are_followed_and_count(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("a/../a/./b")
    second = tmp_path / "second"
    second.symlink_to(link)
    assert trust.doubt(second / "c") == ""
    path.parent.chmod(0o777)
    assert trust.doubt(second / "c") == f"others may write to {path.parent} (mode 777)"


@AS_ROOT
def test_a_link_of_somebody_else(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    os.chown(link, 4711, 4711, follow_symlinks=False)
    assert trust.doubt(link) == f"{link} belongs to user 4711"


def test_where_nothing_is(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        trust.doubt(path / "nothing")
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(OSError, match="too many links"):
        trust.doubt(loop)


@AS_ROOT
def test_containers_without_root_show_its_files_as_nobodys(path, monkeypatch) -> None:
    os.chown(path, 65534, 65534)
    monkeypatch.setattr(trust, "_overflow", lambda: 65534)
    assert "belongs to" in trust.doubt(path)
    monkeypatch.setattr(trust, "_sees_root", lambda: False)
    assert trust.doubt(path) == ""


def test_this_system_shows_root() -> None:
    assert trust._overflow() == 65534
    assert trust._sees_root() or os.geteuid() != 0
