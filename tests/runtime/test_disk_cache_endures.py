"""The disk cache among kills, damage and clearing: right numbers, no failure, nothing left over.

Small samples of each run always; the long tests run all of it.
"""

from __future__ import annotations

import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from anymetal.runtime import disk_cache, files, scratch
from tests.runtime import damage
from tests.runtime.native import ROOT, processes_of

#: Runs kernels, one of which includes MLX's headers; numbers come from the command line.
KERNELS = """
import sys
import mlx.core as mx
import anymetal
header = '#include "mlx/backend/metal/kernels/utils.h"\\n'
for number in map(int, sys.argv[1:]):
    kernel = anymetal.metal_kernel(
        f"plus{number}", ["x"], ["y"],
        f"uint i = thread_position_in_grid.x; y[i] = x[i] + {number};",
        header if number == 0 else "",
    )
    x = mx.arange(100)
    (y,) = kernel(inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype], grid=(100, 1, 1),
                  threadgroup=(50, 1, 1))
    assert y.tolist() == list(range(number, number + 100)), y
print("right")
"""

#: Kills children that write and read entries, as often as it is told.
WRITERS = """
import os, random, signal, sys, time
from anymetal.runtime import disk_cache
random.seed(4711)
def work():
    while True:
        number = random.randrange(8)
        key, content = disk_cache.digest(str(number)), b"%d" % number * random.choice([1, 300_000])
        if random.random() < 0.6:
            disk_cache.put(key, ".so", content)
        else:
            found = disk_cache.get(key)
            assert found is None or set(found.content) == {ord(str(number))}
for _ in range(int(sys.argv[1])):
    if (child := os.fork()) == 0:
        random.seed()
        try:
            work()
        finally:
            os._exit(1)
    time.sleep(random.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cache, and a place for temporary files that is empty in the end."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(scratch, "_IN_MEMORY", str(tmp_path / "tmp"))
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ANYMETAL_BRIDGE", "0")
    yield tmp_path / "cache"
    assert processes_of(tmp_path) == []
    scratch.sweep()
    assert list((tmp_path / "tmp").iterdir()) == []


def program(text: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", text, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def assert_right(process: subprocess.Popen[str]) -> None:
    """It found the right numbers, and had nothing to say."""
    said = process.communicate(timeout=300)
    assert (process.returncode, *said) == (0, "right\n", "")


def assert_in_order(directory: Path, leftovers: bool) -> None:
    """Nothing is damaged, and what may be left is found and removed."""
    verdict = disk_cache.verify()
    assert verdict.broken == []
    assert leftovers or verdict.leftovers == 0
    assert disk_cache.verify() == (verdict.good, [], 0)
    names = {path.name for path in directory.iterdir()}
    assert names <= {"added", "entries", "texts", "tmp", "lock", "bridge.lock"}
    assert files.names(directory / "tmp") == []


@pytest.mark.parametrize("kills", [30, pytest.param(850, marks=pytest.mark.slow)])
def test_kills_while_entries_are_written(directory: Path, kills: int) -> None:
    process = program(WRITERS, kills)
    assert process.communicate(timeout=300) == ("", "") and process.returncode == 0
    assert_in_order(directory, leftovers=True)
    for entry in disk_cache.entries():
        number = next(n for n in range(8) if disk_cache.digest(str(n)) == entry.path.stem)
        found = disk_cache.get(entry.path.stem)
        assert found is not None and set(found.content) == {ord(str(number))}


@pytest.mark.parametrize("kills", [3, pytest.param(150, marks=pytest.mark.slow)])
def test_kills_during_compilation(directory: Path, kills: int) -> None:
    chance = random.Random(4711)
    start = time.monotonic()
    assert_right(program(KERNELS, 0))
    usual = time.monotonic() - start  # with all that an empty cache lacks
    for number in range(kills):
        if number % 3 == 0:
            disk_cache.clear()
        process = program(KERNELS, number % 5)
        time.sleep(usual * (0.3 + 0.7 * chance.random()))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode in (0, -signal.SIGKILL)
    assert processes_of(directory.parent) == []
    assert_in_order(directory, leftovers=True)
    assert_right(program(KERNELS, *range(5)))
    assert_in_order(directory, leftovers=False)


@pytest.mark.parametrize(("runs", "each"), [(1, 6), pytest.param(63, 8, marks=pytest.mark.slow)])
def test_damaged_files(directory: Path, built_bridge: Path, runs: int, each: int) -> None:
    """Whatever lies in the place of an entry, kernels run, and nothing is damaged afterwards."""
    chance = random.Random(4711)
    compiler = directory.parent / "c++"  # is done in no time
    compiler.write_text(
        f'#!/bin/sh\nfor out; do :; done\ncp {shlex.quote(str(built_bridge))} "$out"\n'
    )
    compiler.chmod(0o755)
    environment = {"ANYMETAL_BRIDGE": "wait", "CXX": str(compiler)}
    process = program(KERNELS, 0, 1, **environment)
    assert process.communicate(timeout=300)[0] == "right\n"
    for _ in range(runs):
        entries = disk_cache.entries()
        # The bridge, the pool and two kernels; MLX's headers and ours if something was compiled.
        assert len(entries) >= 4
        for number in range(each):
            path = chance.choice(entries).path
            if number % 4 == 3:
                damage.exchange(path, chance.choice(entries).path)
            else:
                chance.choice(damage.ALL)(path)
        process = program(KERNELS, 0, 1, **environment)
        said, told = process.communicate(timeout=300)
        assert (process.returncode, said) == (0, "right\n"), told
        assert told == "" or told.startswith("AnyMetal builds its bridge to MLX, once"), told
        disk_cache.verify()  # removes what nobody has asked for
        assert_in_order(directory, leftovers=False)


CLEAR = """
import sys, time
from anymetal.runtime import disk_cache
while True:
    disk_cache.clear()
    time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("count", [2, pytest.param(16, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["clears", "a small limit"])
def test_processes_beside_clears(directory: Path, count: int, way: str) -> None:
    clearing = program(CLEAR, 0.02) if way == "clears" else None
    limit = "1G" if clearing else "20K"
    try:
        processes = [program(KERNELS, 1, 2, ANYMETAL_CACHE_LIMIT=limit) for _ in range(count)]
        for process in processes:
            assert_right(process)
    finally:
        if clearing:
            clearing.kill()
            clearing.communicate()
    assert_in_order(directory, leftovers=False)
