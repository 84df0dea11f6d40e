"""Texts of kernels as files for debuggers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anymetal.runtime import disk_cache, texts
from anymetal.runtime.texts import Text

_BODY = Text("exp.metal", "uint i = 0;\ny[i] = exp(x[i]);  // é\n")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(path))
    return path


def test_a_text_is_found_under_the_name_that_people_know(directory: Path) -> None:
    texts.keep([_BODY])
    assert _BODY.path.name == "exp.metal" and _BODY.path.is_relative_to(directory)
    kept, _, seal = _BODY.path.read_text().partition("\n//sealed ")
    assert kept == _BODY.content and seal.count("\n") == 1  # a comment, as Metal has them


def test_texts_of_one_name_are_files_of_their_own() -> None:
    other = _BODY._replace(content="y[0] = 1;\n")
    texts.keep([_BODY, other])
    assert _BODY.path != other.path and other.path.read_text().startswith(other.content)


def test_a_text_that_is_there_is_not_written_again() -> None:
    texts.keep([_BODY])
    os.utime(_BODY.path, (1, 1))
    number = _BODY.path.stat().st_ino
    texts.keep([_BODY])
    assert _BODY.path.stat().st_ino == number
    assert _BODY.path.stat().st_mtime > 1  # but counts as used


def test_a_name_that_no_file_can_have_is_no_error() -> None:
    texts.keep([Text("k" * 300 + ".metal", "")])


def test_texts_are_a_part_of_the_cache(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = disk_cache.size()
    texts.keep([_BODY])
    assert disk_cache.size() > before
    os.utime(_BODY.path, (1, 1))
    monkeypatch.setenv("ANYMETAL_CACHE_LIMIT", "300")
    for name in "abc":
        disk_cache.put(disk_cache.digest(name), ".so", b"code")
    assert not _BODY.path.parent.exists()  # what was not used for longest, folder and all
    texts.keep([_BODY])
    disk_cache.clear()
    assert not _BODY.path.exists()
