"""The sanitizer for whole programs: `anymetal run --sanitize`, ANYMETAL_SANITIZE=1, pytest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
STATUS = 66

KERNEL = '''
import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="shift",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        y[i] = x[i + AWAY];
    """,
    header="#define AWAY {away}",
)


def shifted():
    x = mx.arange(32.0)
    (y,) = kernel(
        inputs=[x], grid=(32, 1, 1), threadgroup=(32, 1, 1), output_shapes=[(32,)],
        output_dtypes=[mx.float32], init_value=0,
    )
    mx.eval(y)
    return y
'''


def program(folder: Path, away: int, more: str = "shifted()\n") -> Path:
    path = folder / "program.py"
    path.write_text(KERNEL.replace("{away}", str(away)) + more)
    return path


def start(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in os.environ if not name.startswith("ANYMETAL_SANIT")}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env={**kept, "PYTHONPATH": str(ROOT), "ANYMETAL_BRIDGE": "wait", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return start("-m", "anymetal", "run", *words, **environment)


def test_a_program_is_run_and_reported(tmp_path: Path) -> None:
    path = program(tmp_path, 1, "print(shifted().tolist()[:3])\n")
    ended = run("--sanitize", path)
    assert ended.returncode == STATUS
    assert ended.stdout == "[1.0, 2.0, 3.0]\n"
    head = f"{path}:10:16: error: thread (31, 0, 0) of threadgroup (0, 0, 0) reads x[32]"
    assert ended.stderr.startswith(head)
    assert ended.stderr.splitlines()[1].endswith("y[i] = x[i + AWAY];")
    assert "1 error found in 1 kernel launch" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("away", "more", "status"),
    [
        (0, "shifted()\n", 0),
        (0, "shifted()\nraise SystemExit(3)\n", 3),
        (1, "shifted()\nraise SystemExit(3)\n", 3),
        (1, "shifted()\nraise SystemExit\n", STATUS),
        (1, "shifted()\n1 / 0\n", 1),
    ],
)
def test_exit_statuses(away: int, more: str, status: int, tmp_path: Path) -> None:
    ended = run("--sanitize", program(tmp_path, away, more))
    assert ended.returncode == status
    assert ("[bounds-read]" in ended.stderr) == bool(away)
    assert ("ZeroDivisionError" in ended.stderr) == ("1 / 0" in more)


def test_a_program_that_is_interrupted_is_reported(tmp_path: Path) -> None:
    ended = run("--sanitize", program(tmp_path, 1, "shifted()\nraise KeyboardInterrupt\n"))
    assert ended.returncode == -2 and "[bounds-read]" in ended.stderr


@pytest.mark.slow
def test_without_the_option_nothing_is_said(tmp_path: Path, built_bridge: Path) -> None:
    ended = run(program(tmp_path, 0))
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.slow
def test_arguments_behind_the_program_are_its_own(tmp_path: Path) -> None:
    path = program(tmp_path, 0, "import sys; print(sys.argv[1:])\n")
    assert run("--sanitize", path, "--sanitize", "-x").stdout == "['--sanitize', '-x']\n"


INSTALLED = "import anymetal; anymetal.install()\n"


def test_the_environment(tmp_path: Path) -> None:
    path = program(tmp_path, 1)
    path.write_text(INSTALLED + path.read_text() + "print('end')\n")
    output = tmp_path / "found.sarif"
    ended = start(path, ANYMETAL_SANITIZE="1", ANYMETAL_SANITIZE_OUTPUT=str(output))
    assert (ended.returncode, ended.stdout) == (STATUS, "end\n")
    assert "[bounds-read]" in ended.stderr
    (result,) = json.loads(output.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "bounds-read"
    assert start(path, ANYMETAL_SANITIZE="0").returncode == 0


@pytest.mark.slow
def test_the_environment_asks_for_orders_and_replay_files(tmp_path: Path) -> None:
    path = program(tmp_path, 1)
    ended = run(
        "--sanitize",
        path,
        ANYMETAL_SANITIZE_ORDER="shuffle:7",
        ANYMETAL_SANITIZE_REPLAY=str(tmp_path / "files"),
    )
    assert "also in other orders (seed 7)" in ended.stderr
    (file,) = (tmp_path / "files").iterdir()
    again = start("-m", "anymetal", "replay", file)
    assert again.returncode == STATUS and "reads x[32]" in again.stderr
    told = start("-m", "anymetal", "replay", file, "--format", "json")
    assert [one["code"] for one in json.loads(told.stdout)["findings"]] == ["bounds-read"]
    file.write_bytes(b"other")
    refused = start("-m", "anymetal", "replay", file)
    assert refused.returncode == 2 and "no replay file" in refused.stderr


@pytest.mark.slow
def test_a_wrong_environment_is_told(tmp_path: Path) -> None:
    ended = run("--sanitize", program(tmp_path, 0), ANYMETAL_SANITIZE_ORDER="random")
    assert ended.returncode != 0 and "ANYMETAL_SANITIZE_ORDER must be" in ended.stderr


CHILDREN = {
    "fork": "pid = os.fork()\nif not pid:\n    shifted()\n    sys.exit()\n"
    "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n",
    "multiprocessing": "p = multiprocessing.get_context('fork').Process(target=shifted)\n"
    "p.start()\np.join()\nprint(p.exitcode)\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", CHILDREN)
def test_forked_processes_report_for_themselves(way: str, tmp_path: Path) -> None:
    path = program(tmp_path, 1, "import multiprocessing, os, sys\n" + CHILDREN[way])
    path.write_text(INSTALLED + path.read_text())
    ended = start(path, ANYMETAL_SANITIZE="1")
    assert ended.returncode == 0 and ended.stderr.count("[bounds-read]") == 1
    assert ended.stdout == ("66\n" if way == "fork" else "0\n")


TESTS = """
def test_bad():
    shifted()

def test_failing():
    shifted()
    assert False, "its own words"

def test_without():
    pass
"""


def pytest_run(folder: Path, *words: str) -> str:
    ended = start(
        "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_anymetal", "-q", *words,
        folder / "test_program.py", "--rootdir", folder,
    )  # fmt: skip
    return f"{ended.returncode}\n{ended.stdout}"


def test_tests_with_findings_fail(tmp_path: Path) -> None:
    path = program(tmp_path, 1, TESTS)
    path.rename(tmp_path / "test_program.py")
    path = tmp_path / "test_program.py"
    path.write_text(INSTALLED + path.read_text())
    told = pytest_run(tmp_path, "--metal-sanitize")
    assert "2 failed, 1 passed" in told and told.startswith("1\n")
    assert told.count("reads x[32], outside of `x` (32 elements) [bounds-read]") >= 2
    assert "its own words" in told
    assert "1 failed, 2 passed" in pytest_run(tmp_path)


@pytest.mark.slow
def test_kernels_outside_of_tests_are_reported_too(tmp_path: Path) -> None:
    path = program(tmp_path, 1, "shifted()\ndef test_nothing(): pass\n")
    path.rename(tmp_path / "test_program.py")
    path = tmp_path / "test_program.py"
    path.write_text(INSTALLED + path.read_text())
    told = pytest_run(tmp_path, "--metal-sanitize")
    assert told.startswith("1\n") and "metal kernels outside of tests" in told
    assert "1 passed" in told
