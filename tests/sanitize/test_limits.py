"""Launches that are stopped, that need too much, or that find too much."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal.errors import KernelTimeoutError
from anymetal.runtime.pool import pool
from anymetal.sanitizer import session

ROOT = Path(__file__).parent.parent.parent


def endless(x: mx.array) -> mx.array:
    kernel = anymetal.metal_kernel(
        name="endless",
        input_names=["x"],
        output_names=["y"],
        source="""
            uint i = thread_position_in_grid.x;
            float v = x[i + 8];
            while (x[0] == 0) v += 1;
            y[i] = v;
        """,
    )
    return kernel(
        inputs=[x], grid=(8, 1, 1), threadgroup=(8, 1, 1), output_shapes=[(8,)],
        output_dtypes=[mx.float32], init_value=0,
    )[0]  # fmt: skip


def test_findings_of_a_launch_that_takes_too_long_are_kept() -> None:
    limit = pool().time_limit
    pool().set_time_limit(0.5)
    try:
        with anymetal.sanitize("report") as found, pytest.raises(KernelTimeoutError):
            endless(mx.zeros(8))
    finally:
        pool().set_time_limit(limit)
    assert [(one.code, one.place.part_line) for one in found.findings] == [("bounds-read", 3)]
    with anymetal.sanitize("report") as found:
        endless(mx.ones(8))
    assert [one.code for one in found.findings] == ["bounds-read"]
    assert session.current() is None


INTERRUPTED = """
import mlx.core as mx
import anymetal
from tests.sanitize.test_limits import endless

print("ready", flush=True)
try:
    with anymetal.sanitize():
        endless(mx.zeros(8))
except KeyboardInterrupt as error:
    print("stopped", "bounds-read" in "".join(getattr(error, "__notes__", ["bounds-read"])))
with anymetal.sanitize("report") as found:
    endless(mx.ones(8))
print([one.code for one in found.findings])
"""


def test_ctrl_c_stops_a_sanitized_launch_and_the_report_goes_along() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout and child.stdout.readline() == "ready\n"
        done = threading.Event()

        def interrupt() -> None:
            while not done.wait(1.0):  # the kernel compiles first, which takes a while
                child.send_signal(2)

        time.sleep(4)
        sender = threading.Thread(target=interrupt)
        sender.start()
        line = child.stdout.readline()
        done.set()
        sender.join()
        assert line == "stopped True\n"
        assert child.communicate(timeout=60)[0] == "['bounds-read']\n"
    finally:
        child.kill()


MEMORY = """
import resource
import mlx.core as mx
import anymetal

kernel = anymetal.metal_kernel(
    name="large", input_names=[], output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = i; y[i] += 1;",
)

def call(size):
    return kernel(
        inputs=[], grid=(size, 1, 1), threadgroup=(256, 1, 1), output_shapes=[(size,)],
        output_dtypes=[mx.float32],
    )[0]

with anymetal.sanitize():
    call(64)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20), used + (300 << 20)))
try:
    with anymetal.sanitize():
        call(50 << 20)
except Exception as error:
    print(type(error).__name__, error)
with anymetal.sanitize():
    print(call(64)[:3].tolist())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc and its limits")
def test_memory_that_cannot_be_had_is_told() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", MEMORY],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    first, second = ended.stdout.strip().split("\n")
    assert "MemoryError no memory to observe kernel `large`" in first, first
    assert "arrays, which have 200 MiB" in first and second == "[1.0, 2.0, 3.0]"
