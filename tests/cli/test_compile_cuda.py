"""`anymetal compile --target cuda`."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from anymetal.cli.app import app

_FILE = """
#include <metal_stdlib>
using namespace metal;
constant int amount [[function_constant(0)]];
kernel void add(device float* o [[buffer(0)]], constant uint& n [[buffer(2)]],
                uint i [[thread_position_in_grid]]) { if (i < n) o[i] += amount; }
"""


def test_ptx_and_llvm_ir(tmp_path: Path) -> None:
    (tmp_path / "f.metal").write_text(_FILE)
    command = ["compile", str(tmp_path / "f.metal"), "--target", "cuda", "--arch", "sm_90"]
    command += ["--constant", "amount=7", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "1 of 1 kernels for sm_90" in done.output
    ptx = (tmp_path / "out" / "add.ptx").read_text()
    assert ".target sm_90" in ptx and ptx.split(".entry")[1].split(")")[0].count(".param") == 5
    assert ".maxntid 256" in ptx
    assert "define ptx_kernel void @metal_add(" in (tmp_path / "out" / "add.ll").read_text()


def test_unknown_architecture(tmp_path: Path) -> None:
    (tmp_path / "f.metal").write_text(_FILE)
    command = ["compile", str(tmp_path / "f.metal"), "--target", "cuda", "--arch", "sm_1"]
    done = CliRunner().invoke(app, [*command, "--constant", "amount=7", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "'sm_1'" in done.output and "sm_90" in done.output


def test_unknown_target(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["compile", str(tmp_path), "--target", "rocm"])
    assert done.exit_code == 2 and "rocm" in done.output
