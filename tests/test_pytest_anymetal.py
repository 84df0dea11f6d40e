"""The pytest plugin, as the tests of a library have it: each time in a pytest of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from release import pages
from tests.runtime.native import ROOT

FILES = pages.files((ROOT / "docs" / "testing.md").read_text())


def run_pytest(folder: Path, *words: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly",
         f"--rootdir={folder}", *words, str(folder)],
        cwd=folder, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    return f"{ended.returncode}\n{ended.stdout}{ended.stderr}"


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """The files that the page shows."""
    for name, text in FILES.items():
        if name.endswith((".py", ".metal")):
            (tmp_path / name).write_text(text)
    return tmp_path


def test_the_page_shows_what_happens(library: Path) -> None:
    """In two workers, as it says."""
    file = library / "report.json"
    told = run_pytest(
        library, "--metal", "-n", "2", "--metal-report", f"--metal-report-json={file}"
    )
    assert told.startswith("0\n") and "4 passed" in told, told
    report = json.loads(file.read_text())
    calls = {name: one["calls"] for name, one in report["kernels"].items()}
    assert calls == {"wave": 3, "test_cumulative": 1}
    assert report["target"] == "cpu" and report["versions"]["mlx"] in told
    assert re.search(r"^wave +3 +\d+ +\d+ +\d+\.\d\d$", told, re.MULTILINE), told


@pytest.mark.slow
def test_the_commands_of_the_workflow_run(library: Path) -> None:
    workflow = FILES[".github/workflows/kernels.yml"]
    commands = re.findall(r"^      - run: pytest (.*)$", workflow, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        told = run_pytest(library, *command.replace("auto", "2").split())
        assert told.startswith("0\n") and "4 passed" in told, told


@pytest.mark.slow
def test_without_the_option_nothing_is_installed(library: Path) -> None:
    told = run_pytest(library)
    assert "waves needs a GPU with Metal" in told and "test_cumulative" not in told


KERNEL = """
import subprocess, sys
import mlx.core as mx
import pytest

def call(name="k"):
    kernel = mx.fast.metal_kernel(name, [], ["y"], "y[0] = 1;")
    (y,) = kernel(inputs=[], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)],
                  output_dtypes=[mx.float32])
    return y.item()
"""


def test_the_marker(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_it__py=KERNEL
        + """
@pytest.mark.metal_kernel
def test_calls():
    assert mx.metal.is_available() and call() == 1

@pytest.mark.metal_kernel("other")
def test_another():
    call()

@pytest.mark.metal_kernel
def test_none():
    pass

@pytest.mark.metal_kernel
def test_that_fails_by_itself():
    assert False, "its own words"

def test_behind():
    assert not mx.metal.is_available()
""",
    )
    told = run_pytest(tmp_path, "--strict-markers")
    assert "3 failed, 2 passed" in told, told
    assert (
        "test_another is marked metal_kernel and has not called `other`; it has called: `k`" in told
    )
    assert "test_none is marked metal_kernel and has not called any Metal kernel" in told
    assert "its own words" in told


@pytest.mark.slow
def test_children_and_ini(tmp_path: Path) -> None:
    """The option by ini; a process that a test starts has it, too."""
    write(
        tmp_path,
        pytest__ini="[pytest]\nmetal = true\nmetal_pretend = nothing\n",
        test_it__py=KERNEL
        + """
def test_here():
    assert call() == 1 and not mx.metal.is_available()

def test_child():
    code = "import mlx.core as mx; print(mx.fast.metal_kernel.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "anymetal.kernel\\n", done
""",
    )
    told = run_pytest(tmp_path, "-c", str(tmp_path / "pytest.ini"))
    assert "2 passed" in told, told


@pytest.mark.slow
def test_a_value_that_does_not_exist(tmp_path: Path) -> None:
    write(tmp_path, pytest__ini="[pytest]\nmetal = true\nmetal_pretend = phone\n")
    told = run_pytest(tmp_path, "-c", str(tmp_path / "pytest.ini"))
    assert told.startswith("4\n") and "must be nothing, gpu or mac, not 'phone'" in told, told


HEAD = "// output: y = float32[4]\n// grid: 4\n"


def test_metal_files(tmp_path: Path) -> None:
    body = "y[thread_position_in_grid.x] = thread_position_in_grid.x;\n"
    write(
        tmp_path,
        right__metal=f"{HEAD}// expect: y = np.arange(4)\n{body}",
        wrong__metal=f"{HEAD}// expect: y = np.arange(1, 5)\n{body}",
        broken__metal=f"{HEAD}// expect: y = 0\nnothing;\n",
        unclear__metal="// expect: y = 0\n",
        each__metal="// output: y = T[4]\n// grid: 4\n// dtypes: float32 int32\n"
        f"// expect: y = np.arange(4)\n{body}",
        plain__metal="kernel void not_a_case() {}\n",
    )
    told = run_pytest(tmp_path, "--metal", "-rA", "--continue-on-collection-errors")
    assert "PASSED right.metal::right\n" in told, told
    assert "PASSED each.metal::each[float32]" in told and "PASSED each.metal::each[int32]" in told
    assert "4 of 4 values of y are wrong" in told and "y[0] is 0.0, expected 1.0" in told
    assert "MetalCompileError" in told and "'nothing'" in told
    assert "unclear.metal: no `// output: name = dtype[shape]`" in told
    assert "2 failed, 3 passed, 1 error" in told
    assert "metal_case.py" not in told


def test_importing_the_plugin_brings_no_mlx_along() -> None:
    code = "import sys, pytest_anymetal; print('mlx' in sys.modules, 'anymetal' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "False False\n"
