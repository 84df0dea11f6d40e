"""Where MLX, or its back end, is missing or another: what the package and the command say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest

from anymetal import targets
from anymetal_start import back_end

ROOT = Path(__file__).parents[2]
COMMAND = "import sys; from anymetal_start.command import main; sys.exit(main(sys.argv[1:]))"
#: What the loader says on Linux where `mlx` is installed without `mlx-cpu` or `mlx-cuda`.
NO_LIBRARY = "libmlx.so: cannot open shared object file: No such file or directory"


@pytest.fixture
def python(tmp_path):
    """A run of Python that finds another MLX, whose `mlx.core` consists of these lines."""

    def run(core: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "mlx").mkdir()
        (tmp_path / "mlx" / "__init__.py").touch()
        if core is not None:
            (tmp_path / "mlx" / "core.py").write_text(core)
        path = os.pathsep.join([str(tmp_path), str(ROOT)])
        return subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "300"},
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


def test_import_without_a_back_end(python):
    done = python(f"raise ImportError({NO_LIBRARY!r})", "-c", "import anymetal")
    last = done.stderr.splitlines()[-1]
    assert f"which this Python has without a back end ({NO_LIBRARY})" in last
    assert "python -m pip install 'anymetal[cpu]'" in last
    assert done.stderr.count("Traceback") == 1


def test_import_without_mlx(python):
    done = python(None, "-c", "import anymetal")
    assert "BackEndError: AnyMetal runs on MLX, which this Python does not have." in done.stderr


def test_commands_without_a_back_end(python):
    done = python(f"raise ImportError({NO_LIBRARY!r})", "-c", COMMAND, "cache", "list")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("anymetal: AnyMetal runs on MLX, which this Python has without")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_doctor_without_a_back_end(python, options):
    done = python(f"raise ImportError({NO_LIBRARY!r})", "-c", COMMAND, "doctor", *options)
    assert (done.returncode, done.stderr) == (1, "")
    assert "pip install 'anymetal[cpu]'" in done.stdout
    if options:
        found = json.loads(done.stdout)
        assert found["works"] is False
        assert [one["state"] for one in found["findings"]] == ["good", "good", "broken"]


def test_a_back_end_that_does_not_load(python):
    done = python("raise ImportError('libcuda.so.1: no such file')", "-c", "import anymetal")
    assert "whose back end does not load here: libcuda.so.1: no such file" in done.stderr


@pytest.mark.skipif(targets.HAS_METAL, reason="there MLX itself runs the kernels")
@pytest.mark.parametrize(
    "version, tried",
    [
        ("0.32.4", True),
        ("0.32.5.dev20261124+abc", True),
        ("0.32.10", True),
        ("0.32.3", False),
        ("0.31.9", False),
        ("0.33.0", False),
        ("1.0", False),
        ("", False),
    ],
)
def test_versions(monkeypatch, version, tried):
    monkeypatch.setattr(mx, "__version__", version)
    if tried:
        back_end.check()
        return
    with pytest.raises(back_end.BackEndError, match=r"was tried with MLX 0\.32\.4 and later"):
        back_end.check()
    monkeypatch.setenv("ANYMETAL_MLX", "any")
    back_end.check()
