"""`anymetal cache`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anymetal.cli.app import app
from anymetal.runtime import cache


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path / "cache"


def run(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, ["cache", *arguments])
    assert result.exit_code == status, result.output
    return result.output


def test_an_empty_cache(directory: Path) -> None:
    assert run("list").startswith("0 files, 0 B of at most 1.0 GiB (ANYMETAL_CACHE_LIMIT), in ")
    assert run("verify") == "0 files are good, 0 were damaged, 0 were left over\n"
    assert run("clear") == f"removed 0 B from {directory}\n"


def test_list_shows_names_sizes_and_ages(directory: Path) -> None:
    path = cache.put(cache.digest("1"), ".so", bytes(3000), "kernel exp")
    os.utime(path, (path.stat().st_mtime - 7200,) * 2)
    cache.put(cache.digest("2"), ".json", bytes(10))
    (directory / "headers").mkdir()
    (directory / "headers" / "abc-fast.pch").write_bytes(bytes(5 << 20))
    lines = [line.split() for line in run("list").splitlines()]
    assert lines[0] == ["size", "made", "used", "what"]
    assert ["5.0", "MiB", "0", "s", "0", "s", "Metal's", "headers,", "fast", "maths"] in lines
    assert ["10", "B", "0", "s", "0", "s", "json"] in lines
    assert lines[-2] == ["2.9", "KiB", "0", "s", "2", "h", "kernel", "exp"]  # used last, so last
    assert " ".join(lines[-1]).startswith("3 files, 5.0 MiB of at most 1.0 GiB")


def test_verify_tells_what_was_damaged() -> None:
    path = cache.put(cache.digest("1"), ".so", b"code")
    path.write_bytes(b"junk")
    text = run("verify", status=1)
    assert f"removed {path.name}: its content does not fit its name" in text
    assert "0 files are good, 1 were damaged" in text
    assert "0 were damaged" in run("verify")


def test_clear() -> None:
    cache.put(cache.digest("1"), ".so", bytes(2048))
    assert run("clear").startswith("removed 2.1 KiB from ")
    assert cache.entries() == []
