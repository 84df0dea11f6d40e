"""What the suite for GPUs packs, and what its driver makes of kernels that do well and badly: here
they are Python functions behind a module that looks like CuPy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anymetal.testing.gpu_suite import drive, pack

_CUPY = """
import os, time
import numpy as np
class Array(np.ndarray):
    def get(self): return np.asarray(self)
uint8 = np.uint8
def full(size, value, dtype): return np.full(size, value, dtype).view(Array)
def asarray(data): return np.asarray(data).view(Array)
concatenate = np.concatenate
class RawModule:
    def __init__(self, path): assert ".entry metal_custom_kernel_" in open(path).read()
    def get_function(self, name): return kernel
def kernel(blocks, block, arguments):
    x, y, *grid = arguments
    assert (blocks, block, grid) == ((4, 1, 1), (32, 1, 1), [100, 1, 1])
    what = os.environ["KERNEL"]
    if what == "crash": os.kill(os.getpid(), 9)
    if what == "hang": time.sleep(60)
    if what == "refused": raise ValueError("no such kernel")
    values = np.exp(x[:400].view(np.float32))
    if what != "idle": y[:400].view(np.float32)[:] = values
    if what == "stray": y[400] = 0
class cuda:
    class Device:
        def synchronize(self): pass
    def set_allocator(allocator): assert allocator is None
"""

_CASE = """// input: x = float32[100] normal
// output: y = float32[100]
// grid: 100
// threadgroup: 32
// expect: y = np.exp(x)
// close: 1e-6
uint i = thread_position_in_grid.x;
y[i] = exp(x[i]);
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    case = tmp_path_factory.mktemp("math") / "exp.metal"
    case.write_text(_CASE)
    trials = list(pack.case_trials([case], False))
    assert pack.pack(iter(trials), "sm_80", folder, parts=1) == 1
    return folder


def test_what_is_packed(packed: Path) -> None:
    (trial,) = json.loads((packed / "0.json").read_text())
    arrays = np.load(packed / "0.npz")
    assert trial["numbers"] == [100, 1, 1] and trial["blocks"] == [4, 1, 1]
    assert b".target sm_80" in arrays[trial["ptx"]].tobytes()
    x = arrays[trial["inputs"][0]].view(np.float32)
    (output,) = trial["outputs"]
    assert output["bytes"] == 400
    assert np.allclose(arrays[output["expected"]], np.exp(x.astype(float)))


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        ("good", "1 ok"),
        ("idle", "100 of 100 values"),
        ("stray", "wrote outside of an array"),
        ("crash", "crash    math0/exp.metal: status -9"),
        ("refused", "ValueError: no such kernel"),
    ],
)
def test_driver(packed: Path, tmp_path: Path, kernel: str, told: str) -> None:
    (tmp_path / "cupy.py").write_text(_CUPY)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "KERNEL": kernel}
    command = [sys.executable, drive.__file__, str(packed)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert told in done.stdout, done.stdout + done.stderr
    assert "1 trials" in done.stdout
    assert (done.returncode == 0) == (kernel == "good")


_SANITIZER = """#!{python}
import os, subprocess, sys
arguments = sys.argv[1:]
log, tool = (arguments[arguments.index(name) + 1] for name in ("--log-file", "--tool"))
done = subprocess.run(arguments[arguments.index({python!r}) :], check=False)
open(log, "w").write(os.environ["LOG"])
sys.exit(done.returncode)
"""
_NOTHING = """========= COMPUTE-SANITIZER
========= ERROR SUMMARY: 0 errors
"""
_STRAY = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at {entry}+0x70
=========     by thread (96,0,0) in block (3,0,0)
=========
========= Invalid __global__ write of size 4 bytes
=========     at {entry}+0x70
=========     by thread (97,0,0) in block (3,0,0)
=========
========= ERROR SUMMARY: 2 errors
"""
_RACE = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at {entry}+0x1b0
=========     and Read access at {entry}+0x200 [508 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""


@pytest.mark.parametrize(
    ("tool", "log", "told"),
    [
        ("memcheck", _NOTHING, "1 ok"),
        ("memcheck", _STRAY, "of math0/exp.metal: Invalid __global__ write of size 4 bytes\n"),
        ("racecheck", _RACE, "of math0/exp.metal: Error: Race reported between Write access\n"),
        ("synccheck", "========= Error: no device\n", "told no summary: ========= Error: no"),
        ("synccheck", "========= ERROR SUMMARY: 3 errors\n", "counts 3 findings"),
    ],
    ids=["nothing", "stray", "race", "no summary", "no function"],
)
def test_sanitized(packed: Path, tmp_path: Path, tool: str, log: str, told: str) -> None:
    (trial,) = json.loads((packed / "0.json").read_text())
    done = sanitized(packed, tmp_path, tool, log.format(entry=trial["entry"]))
    assert told in done.stdout, done.stdout + done.stderr
    assert (done.returncode == 0) == (told == "1 ok")


def test_what_is_known(packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    shutil.copytree(packed, folder)
    (trial,) = json.loads((folder / "0.json").read_text())
    for (tool, name), why in drive.KNOWN.items():
        assert (Path(__file__).parents[1] / "kernels" / name).exists()
        (folder / "0.json").write_text(json.dumps([{**trial, "name": name}]))
        done = sanitized(folder, tmp_path, tool, _RACE.format(entry=trial["entry"]))
        assert "1 ok, 1 known" in done.stdout and why in done.stdout, done.stdout + done.stderr
        assert done.returncode == 0


def sanitized(
    folder: Path, tmp_path: Path, tool: str, log: str
) -> subprocess.CompletedProcess[str]:
    """The driver, with a program in the place of compute-sanitizer that leaves this log."""
    (tmp_path / "cupy.py").write_text(_CUPY)
    program = tmp_path / "compute-sanitizer"
    program.write_text(_SANITIZER.format(python=sys.executable))
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path),
        "KERNEL": "good",
        "LOG": log,
    }
    command = [sys.executable, drive.__file__, str(folder), "--tool", tool]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
