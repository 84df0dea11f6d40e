"""`anymetal cache`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anymetal.cli.app import app
from anymetal.runtime import disk_cache


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
    path = disk_cache.put(disk_cache.digest("1"), ".so", bytes(3000), "kernel exp").path
    os.utime(path, (path.stat().st_mtime - 7200,) * 2)
    disk_cache.put(disk_cache.digest("2"), ".json", bytes(10))
    disk_cache.put_table("cpu.json", bytes(5 << 20), "measured on a processor")
    lines = [line.split() for line in run("list").splitlines()]
    assert lines[0] == ["size", "made", "used", "what"]
    assert any(line[:2] == ["5.0", "MiB"] and line[-2:] == ["a", "processor"] for line in lines)
    assert any(line[-1] == "json" for line in lines)
    assert lines[-2][:2] == ["3.0", "KiB"]  # used last, so last
    assert lines[-2][-4:] == ["2", "h", "kernel", "exp"]
    assert " ".join(lines[-1]).startswith("3 files, 5.0 MiB of at most 1.0 GiB")


def test_verify_tells_what_was_damaged() -> None:
    path = disk_cache.put(disk_cache.digest("1"), ".so", b"code").path
    path.write_bytes(b"junk")
    text = run("verify", status=1)
    assert f"removed {path}: not sealed" in text
    assert "0 files are good, 1 were damaged" in text
    assert "0 were damaged" in run("verify")


def test_clear() -> None:
    disk_cache.put(disk_cache.digest("1"), ".so", bytes(2048))
    table = disk_cache.put_table("cpu.json", b"[]", "")
    assert run("clear").startswith("removed 2.1 KiB from ")
    assert disk_cache.entries() == [] and table.exists()
    run("clear", "--measured")
    assert not table.exists()
