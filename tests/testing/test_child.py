"""What becomes of a process that answers, dies, or is busy for long."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest

from anymetal.testing.child import Child

_COMPUTE = """
import time
while time.process_time() < 1: pass
"""


def _serve(pipe: Connection, factor: int) -> None:
    while (work := pipe.recv()) is not None:
        if work == "die":
            os._exit(3)
        while work == "compute":
            pass
        if work == "have it computed":
            subprocess.run([sys.executable, "-c", _COMPUTE], check=False)
        pipe.send(work * factor)


@pytest.fixture
def child() -> Iterator[Child]:
    child = Child(_serve, 5)
    yield child
    child.stop()


def test_it_is_started_again_after_its_death(child):
    assert not child.running
    child.submit(7)
    assert child.receive() == 35
    child.submit("die")
    with pytest.raises(EOFError):
        child.receive()
    assert child.exit_code() == 3
    assert child.running  # until somebody has looked, and stops it
    child.stop()
    assert not child.running
    child.submit(2)
    assert child.receive() == 10


def test_a_death_that_nobody_has_noticed(child):
    child.submit("die")
    assert child.exit_code() == 3
    child.submit(3)
    assert child.receive() == 15


@pytest.mark.parametrize("work", ["compute", "have it computed"])
def test_what_it_spends(child, work):
    child.submit(1)
    assert child.receive() == 5
    assert child.spent() < 1
    child.submit(work)
    end = time.monotonic() + 60
    while child.spent() < 0.1 and time.monotonic() < end:
        time.sleep(0.05)
    assert 0.1 <= child.spent() <= child.silent() + 0.5
    assert not child.pipe.poll()
