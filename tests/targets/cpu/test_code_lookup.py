"""From a kernel to machine code: what compiles it, and how that is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.runtime.native import ROOT, processes_of
from tests.runtime.test_helpers import left_of

KERNEL = """
import os, signal, sys, threading, time
import mlx.core as mx
import anymetal

def call(body):
    kernel = anymetal.metal_kernel("mine", ["x"], ["y"], body)
    (y,) = kernel(inputs=[mx.ones(64)], output_shapes=[(64,)], output_dtypes=[mx.float32],
                  grid=(64, 1, 1), threadgroup=(64, 1, 1))
    mx.eval(y)
    return y

#: A megabyte, which takes longer to compile than anybody waits.
LONG = (
    "uint i = thread_position_in_grid.x; float v = x[i];"
    + "v = sin(v) * 1.0001f + x[i];" * 30000 + "y[i] = v;"
)
EASY = "y[thread_position_in_grid.x] = 4711;"
"""


@pytest.fixture(params=["graph", "at once"])
def start(request, tmp_path, built_bridge):
    """Starts a program, with and without the bridge to MLX."""

    def run(text: str, **variables: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
        environment["ANYMETAL_BRIDGE"] = "0" if request.param == "at once" else "wait"
        return subprocess.Popen(
            [sys.executable, "-c", KERNEL + text],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return run


def descendants(process: int) -> set[int]:
    children: dict[int, set[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            children.setdefault(int(parent), set()).add(int(folder.name))
    found, new = set(), {process}
    while new := {child for parent in new for child in children.get(parent, set())}:
        found |= new
    return found


def tools_of(process: int) -> set[int]:
    """All that a process has started, once a tool is among it."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = descendants(process)
        for one in found:
            try:
                if b"-cc1" in Path(f"/proc/{one}/cmdline").read_bytes():
                    return found
            except OSError:
                continue
        time.sleep(0.002)
    raise AssertionError("no tool was started")


def test_the_program_has_no_llvm_in_it(start) -> None:
    text = "print(call(EASY + f'// {time.time_ns()}')[0].item(), 'llvmlite' in sys.modules)"
    with start(text) as process:
        assert process.communicate(timeout=60)[0] == "4711.0 False\n"


def test_ctrl_c_stops_a_compilation(start) -> None:
    text = "try:\n    call(LONG)\nexcept KeyboardInterrupt:\n    print(call(EASY)[0].item())"
    with start(text) as process:
        processes = tools_of(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == "4711.0\n"
    assert not left_of(list(processes))


def test_a_time_limit_stops_a_compilation(start) -> None:
    text = (
        "try:\n    call(LONG)\nexcept anymetal.errors.KernelTimeoutError as error:\n"
        "    print(error)\ndel os.environ['ANYMETAL_COMPILE_LIMIT']\nprint(call(EASY)[0].item())"
    )
    with start(text, ANYMETAL_COMPILE_LIMIT="0.7") as process:
        assert process.communicate(timeout=60)[0] == (
            "kernel `mine` took longer than 0.7 s (ANYMETAL_COMPILE_LIMIT) to compile and was "
            "given up\n4711.0\n"
        )


@pytest.mark.parametrize("delay", [0, 3])
def test_nothing_is_left_of_a_killed_program(start, delay) -> None:
    """In Clang, and in what follows."""
    with start("call(LONG)") as process:
        processes = tools_of(process.pid)
        time.sleep(delay)
        processes |= descendants(process.pid)
        process.kill()
    assert not left_of(list(processes))


@pytest.mark.slow
@pytest.mark.parametrize("start", ["at once"], indirect=True)  # no build of the bridge, which stays
def test_kills_at_any_moment(start, tmp_path) -> None:
    random, folder = Random(13), tmp_path / "cache"
    for number in range(60):
        body = "EASY" if number % 2 else "LONG"
        text = f"call({body} + '// {number}'); call(EASY + '// and {number}')"
        with start(text, ANYMETAL_CACHE_DIR=str(folder)) as process:
            time.sleep(random.uniform(0, 1.5))
            process.kill()
        assert not processes_of(folder)
    with start("print(call(EASY)[0].item())", ANYMETAL_CACHE_DIR=str(folder)) as process:
        assert process.communicate(timeout=120)[0] == "4711.0\n"
