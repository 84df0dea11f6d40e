"""Processes that a pretending one starts: they inherit it, each in the way it comes to be."""

from __future__ import annotations

import os
import subprocess
import sys

import mlx.core as mx
import pytest

import anymetal
from anymetal import targets
from anymetal_start import children
from tests.start.test_mac import on_a_mac, python

pytestmark = pytest.mark.skipif(targets.HAS_METAL, reason="there is nothing to pretend")

TESTS = """
import os, platform, sys
import apple_only, mlx.core as mx, pytest

@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.skipif("sys.platform != 'darwin'")
def test_square(size):
    assert os.environ["PYTEST_XDIST_WORKER"] in ("gw0", "gw1")
    assert (sys.platform, platform.machine()) == ("darwin", "arm64")
    assert mx.default_device() == mx.gpu
    assert apple_only.square(mx.arange(size)).tolist() == [i * i for i in range(size)]
"""


def test_a_suite_on_two_workers(tmp_path):
    (tmp_path / "test_squares.py").write_text(TESTS)
    options = ["-q", "-n", "2", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir"]
    printed = on_a_mac("-m", "pytest", *options, str(tmp_path), str(tmp_path))
    assert "8 passed" in printed
    plain = python("-m", "pytest", *options, str(tmp_path), str(tmp_path), "-n", "0")
    assert "apple_only needs macOS, not linux" in plain.stdout


POOL = """
import multiprocessing, sys

def work(n):
    import platform
    import apple_only, mlx.core as mx
    return platform.system(), apple_only.square(mx.array([n])).item()

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(work, [3, 4]))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(tmp_path, method):
    program = tmp_path / "program.py"
    program.write_text(POOL)
    assert on_a_mac(str(program), method) == "[('Darwin', 9), ('Darwin', 16)]\n"


SPAWNED = """
import subprocess, sys
child = "import sys, mlx.core as mx; print(sys.platform, mx.metal.is_available(), " \\
    "mx.fast.metal_kernel.__module__, sys.path[0] == '', 'mlx.nn' in sys.modules)"
print(subprocess.check_output([sys.executable, "-c", child], text=True), end="")
"""


@pytest.mark.parametrize(
    "options, expected",
    [
        ((), "linux False anymetal.kernel True False\n"),
        (("--pretend-gpu",), "linux True anymetal.kernel True False\n"),
        (("--pretend-mac",), "darwin True anymetal.kernel True False\n"),
    ],
)
def test_children_have_what_was_asked_for(tmp_path, options, expected):
    program = tmp_path / "program.py"
    program.write_text(SPAWNED)
    done = python("-m", "anymetal", "run", *options, str(program))
    assert (done.stdout, done.stderr) == (expected, "")


def test_a_child_without_mlx_stays_without():
    program = "import sys; print(sys.platform, 'mlx' in sys.modules, 'anymetal' in sys.modules)"
    variables = children.environment(["pretend_mac"])
    assert python("-c", program, **variables).stdout == "darwin False False\n"


def test_a_child_that_imports_anymetal_first():
    program = "import anymetal, mlx.core as mx; print(mx.metal.is_available())"
    variables = children.environment(["pretend_gpu"])
    assert python("-c", program, **variables).stdout == "True\n"


def test_the_next_sitecustomize_runs_too(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('the next one')\n")
    variables = children.environment(["pretend_gpu"])
    variables["PYTHONPATH"] += os.pathsep + str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", "import sitecustomize; print(sitecustomize.__file__)"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    printed = f"the next one\n{tmp_path / 'sitecustomize.py'}\n"
    assert (done.stdout, done.stderr) == (printed, "")


def test_the_environment_comes_back():
    before = dict(os.environ)
    anymetal.install(pretend_gpu=True, children_too=True)
    anymetal.install(clamp_indices=True, children_too=True)
    try:
        assert os.environ["ANYMETAL_INSTALL"] == "pretend_gpu,clamp_indices"
        done = python("-c", "import mlx.core as mx; print(mx.metal.is_available())",
                      PYTHONPATH=os.environ["PYTHONPATH"])  # fmt: skip
        assert done.stdout == "True\n"
    finally:
        anymetal.uninstall()
    assert dict(os.environ) == before
    assert not mx.metal.is_available()


def test_unknown_arguments_are_named():
    done = python("-c", "import anymetal", ANYMETAL_INSTALL="pretend_vax")
    assert "ValueError: ANYMETAL_INSTALL holds arguments of install" in done.stderr
    assert "pretend_vax" in done.stderr
