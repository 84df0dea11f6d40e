"""Temporary files: one folder for each process, which goes with it in any case."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from anymetal.errors import ToolchainError
from anymetal.runtime import files, scratch
from tests.runtime.native import ROOT

MINE = f"anymetal-{os.geteuid()}-"

HOLD = """
import sys
from anymetal.runtime import files, scratch
(scratch.folder() / "file").write_text("content")
print(scratch.folder(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A system whose temporary files are all here."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(scratch, "_folders", {})
    monkeypatch.setattr(scratch, "_IN_MEMORY", str(tmp_path))
    yield tmp_path
    for _, descriptor in scratch._folders.values():
        os.close(descriptor)


def start(code: str = HOLD) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_one_folder_for_us_alone(place):
    path = scratch.folder()
    assert path == scratch.folder() and path.parent == place
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    with scratch.workspace() as one, scratch.workspace() as two:
        assert one != two and one.parent == two.parent == path
        (one / "file").touch()
    assert list(path.iterdir()) == []


def test_it_goes_with_the_process():
    process, path = start()
    assert path.is_dir()
    process.communicate("")
    assert process.returncode == 0 and not path.exists()


def test_that_of_a_killed_process_goes_when_the_next_is_made(place):
    live, kept = start()
    dead, left = start()
    dead.send_signal(signal.SIGKILL)
    dead.communicate()
    for name in ("anymetal-else", f"{MINE}file"):
        (place / name).touch()
    assert left.exists() and scratch.sweep(keep=True) == 2
    scratch.folder()
    assert kept.exists() and not left.exists()
    assert (place / "anymetal-else").exists() and not (place / f"{MINE}file").exists()
    live.communicate("")


HEIR = """
import os, sys, time
from anymetal.runtime import scratch
path, parent = scratch.folder(), os.getpid()
if os.fork() == 0:
    while os.getppid() == parent:
        time.sleep(0.01)
    print(scratch.folder() == path and path.is_dir(), flush=True)
    sys.exit()
print(path, flush=True)
"""


def test_children_share_it_and_the_last_one_counts():
    for _ in range(3):
        process, path = start(HEIR)
        assert process.communicate()[0] == "True\n"
        assert not path.exists()


def test_a_folder_that_vanished_is_made_again():
    path = scratch.folder()
    path.rmdir()
    assert scratch.folder() != path and scratch.folder().is_dir()


def test_no_place_at_all(monkeypatch, tmp_path):
    monkeypatch.setattr(scratch, "_IN_MEMORY", str(tmp_path / "missing"))

    def none() -> str:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr("tempfile.gettempdir", none)
    with pytest.raises(ToolchainError, match="no room for temporary files"):
        scratch.folder()


def test_memory_serves_where_the_disk_is_full(monkeypatch, tmp_path):
    memory = tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr(scratch, "_IN_MEMORY", str(memory))
    monkeypatch.setattr(files, "is_full", lambda place: place == tmp_path)
    assert scratch.folder().parent == memory
