"""Which program may be started as Python, where Python itself may be part of another program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anymetal.runtime import interpreter
from tests.runtime.native import ROOT


@pytest.fixture
def installation(monkeypatch, tmp_path) -> Path:
    """An installation of Python without a program; nothing is frozen."""
    monkeypatch.setattr(sys, "base_exec_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "_base_executable", None, raising=False)
    monkeypatch.delattr(sys, "frozen", raising=False)
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def program(path: Path) -> str:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "name",
    "python python3 python3.11 python3.13t python3.12d python-dbg .python-wrapped pypy3.10".split(),
)
def test_programs_that_are_interpreters(name, installation, monkeypatch) -> None:
    path = program(installation / name)
    monkeypatch.setattr(sys, "executable", path)
    assert interpreter.interpreter() == path


@pytest.mark.parametrize(
    "name", "blender maya.bin uwsgi httpd app pythonw.app python3-config mypython ipython3".split()
)
def test_programs_that_are_not(name, installation, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", program(installation / name))
    assert interpreter.interpreter() is None
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    assert interpreter.interpreter() is None
    found = program(installation / version)
    assert interpreter.interpreter() == found


@pytest.mark.parametrize("executable", ["", None, "python3", "/nowhere/python3"])
def test_programs_that_are_not_there(executable, installation, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    assert interpreter.interpreter() is None


def test_frozen_programs(installation, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", program(installation / "python"))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert interpreter.interpreter() is None


def test_the_search_path_is_absolute(monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", ["", "/a", 5, None, b"c", "d"])
    assert interpreter.search_path() == [os.getcwd(), "/a", os.path.abspath("d")]


APPLICATION = """
import os, sys
sys.executable = sys._base_executable = {application!r}
{more}
import mlx.core as mx, anymetal
from anymetal.runtime import helpers
kernel = anymetal.metal_kernel("k", ["x"], ["y"], "y[thread_position_in_grid.x] = 4711;")
for _ in range(3):
    (y,) = kernel(inputs=[mx.zeros(4)], output_shapes=[(4,)], output_dtypes=[mx.float32],
                  grid=(4, 1, 1), threadgroup=(4, 1, 1))
    print(y.tolist())
print(bool(helpers.unavailable()))
"""


@pytest.mark.parametrize("bridge", ["0", "1", "wait"])
@pytest.mark.parametrize("alone", [False, True], ids=["Python is installed", "Python is not"])
def test_an_application_is_not_started_again(alone, bridge, tmp_path, built_bridge) -> None:
    application, log = tmp_path / "application", tmp_path / "log"
    application.write_text(f"#!/bin/sh\necho started >> {log}\n")
    application.chmod(0o755)
    more = "sys.base_exec_prefix = '/nowhere'" if alone else ""
    done = subprocess.run(
        [sys.executable, "-c", APPLICATION.format(application=str(application), more=more)],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "ANYMETAL_BRIDGE": bridge,
            "ANYMETAL_CACHE_DIR": str(tmp_path / "cache"),
            # The build of the bridge must fail quickly, but it must be tried.
            "CXX": "false",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "[4711.0, 4711.0, 4711.0, 4711.0]\n" * 3 + f"{alone}\n", done.stderr
    assert not log.exists()


@pytest.mark.slow
def test_an_application_builds_the_bridge_itself(tmp_path, built_bridge) -> None:
    more = "sys.base_exec_prefix = '/nowhere'"
    text = APPLICATION.format(application=str(tmp_path / "application"), more=more)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "ANYMETAL_BRIDGE": "wait",
        "ANYMETAL_CACHE_DIR": str(tmp_path / "cache"),
    }
    for unavailable in (True, False):  # the second time all comes out of the cache
        done = subprocess.run(
            [sys.executable, "-c", f"{text}print(anymetal.kernel.targets.active().lazy)"],
            env=environment,
            capture_output=True,
            text=True,
        )
        told = done.stdout.splitlines()[2:]
        assert told == ["[4711.0, 4711.0, 4711.0, 4711.0]", str(unavailable), "True"], done.stderr
