"""Kernels in imported files: what is found in them, and who may let them run."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal.errors import KernelRefusedError
from anymetal.permission import Permission, kernels_in

X = mx.arange(4, dtype=mx.float32)


def kernel(name: str, body: str):
    made = mx.fast.metal_kernel(name=name, input_names=["x"], output_names=["o"], source=body)
    return lambda x: made(
        inputs=[x],
        grid=(4, 1, 1),
        threadgroup=(4, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )[0]


DOUBLE = "uint i = thread_position_in_grid.x; o[i] = 2 * x[i]; // \x1b[2K hidden"


@pytest.fixture
def file(tmp_path: Path) -> str:
    """One kernel twice, and another."""
    path = str(tmp_path / "with.mlxfn")
    twice, zero = (
        kernel("double", DOUBLE),
        kernel("zero", "uint i = thread_position_in_grid.x; o[i] = x[i] - x[i];"),
    )
    mx.export_function(path, lambda x: twice(twice(x)) + zero(x), X)
    return path


@pytest.fixture
def plain(tmp_path: Path) -> str:
    path = str(tmp_path / "without.mlxfn")
    mx.export_function(path, lambda x: mx.sin(x), X)
    return path


def test_what_is_found(file: str, plain: str) -> None:
    found = kernels_in(Path(file).read_bytes())
    assert [one.name.split("_")[2] for one in found] == ["double", "zero"]
    assert DOUBLE in found[0].text
    assert kernels_in(Path(plain).read_bytes()) == []


@pytest.mark.parametrize("cut", (1, 40, 90, 300))
def test_files_that_end_too_early(file: str, cut: int) -> None:
    data = Path(file).read_bytes()
    start = data.index(b"CustomKernel") + len(b"CustomKernel")
    assert len(kernels_in(data[: start + cut])) == 1


def test_refuse(file: str, plain: str) -> None:
    with pytest.raises(KernelRefusedError, match=r"`custom_kernel_double.*`, `custom_kernel_zero"):
        anymetal.import_function(file, kernels="refuse")
    (found,) = anymetal.import_function(plain, kernels="refuse")(X)
    assert mx.allclose(found, mx.sin(X))


def test_a_kernel_that_was_not_found_in_the_file(plain: str) -> None:
    """Should MLX ever write kernels in another form, they do not run either."""
    with pytest.raises(KernelRefusedError, match="`other`"):
        Permission(plain, "refuse").check("other", "void other() {}")
    Permission(plain, "run").check("other", "void other() {}")


def test_ask_without_a_terminal(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(KernelRefusedError):
        anymetal.import_function(file, kernels="ask")


ASKING = """
import sys, mlx.core as mx, anymetal
print(anymetal.import_function(sys.argv[1], kernels="ask")(mx.arange(4, dtype=mx.float32)))
"""


@pytest.mark.parametrize(
    ("answers", "end"), (("y\nyes\n", "array([0, 4, 8, 12]"), ("y\n\n", "KernelRefusedError"))
)
def test_ask_on_a_terminal(file: str, answers: str, end: str) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, answers.encode())
    program = [sys.executable, "-c", ASKING, file]
    done = subprocess.run(
        program, stdin=theirs, stdout=-1, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    os.close(ours), os.close(theirs)
    assert end in done.stdout
    assert "2 * x[i]" in done.stdout and "\x1b[2K" not in done.stdout and r"\x1b[2K" in done.stdout


def test_a_policy_that_does_not_exist(plain: str) -> None:
    with pytest.raises(ValueError, match=r'"run", "ask" or "refuse", not \'never\''):
        anymetal.import_function(plain, kernels="never")  # type: ignore[arg-type]
