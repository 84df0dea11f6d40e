"""What debuggers and profilers find in machine code: names of kernels, lines, and the text."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anymetal.runtime.disk_cache import cache_directory
from anymetal.targets.cpu import compiler
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.variant import gang_width, variant_for
from tests.frontend.kernels import kernel_source
from tests.targets.cpu.elf import sections, symbols

_HEADER = "inline float twice(float v) {\n  return v * v;\n}\n"
_BODY = """
uint i = thread_position_in_grid.x;
float sum = 0;
for (uint j = 0; j < uint(a[0]); ++j)
  sum += twice(a[i + j]) + exp(a[j]);
out[i] = sum;
"""
_BARRIER = """
uint l = thread_index_in_threadgroup;
threadgroup float t[64];
t[l] = a[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
out[l] = t[63 - l];
"""
_PROGRAM = f"""
import mlx.core as mx
from anymetal import metal_kernel

kernel = metal_kernel("steps", ["a"], ["out"], {_BODY!r}, {_HEADER!r})
made, = kernel(inputs=[mx.ones(256)], output_shapes=[(64,)], output_dtypes=[mx.float32],
               grid=(64, 1, 1), threadgroup=(64, 1, 1))
mx.eval(made)
"""
_BUILDS = [
    (_BODY, (256, 1, 1), 32),
    (_BODY, (250, 1, 1), 32),
    (_BARRIER, (256, 1, 1), 32),
    (_BARRIER, (256, 1, 1), 1),
]


def built(body: str, grid: tuple[int, int, int], width: int) -> bytes:
    with gang_width(width):
        variant = variant_for(grid, (64, 1, 1))
    return compile_kernel(kernel_source(body, _HEADER, name="steps"), variant)


@pytest.mark.parametrize(("body", "grid", "width"), _BUILDS)
def test_line_tables_change_no_instruction(
    body: str, grid: tuple[int, int, int], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_lines = built(body, grid, width)
    monkeypatch.setattr(compiler, "line_table", lambda *_: None)
    without = built(body, grid, width)
    texts = [sections(code)[".text"] for code in (with_lines, without)]
    if platform.machine() == "aarch64":  # there LLVM orders some instructions otherwise
        assert len(texts[0]) == len(texts[1])
    else:
        assert texts[0] == texts[1]
    assert ".debug_line" in sections(with_lines) and ".debug_line" not in sections(without)
    # Also gangs that wait have the kernel's name: functions of their own, which are resumed.
    names = symbols(with_lines).functions
    assert "steps.kernel" in names
    assert all(name.startswith(("steps.kernel", "am_entry")) for name in names), names


def test_a_name_may_be_that_of_a_function_which_is_called() -> None:
    source = kernel_source("out[0] = fmod(a[0], 2.0f) + pow(a[1], a[0]);", name="powf")
    found = symbols(compile_kernel(source, variant_for((1, 1, 1), (1, 1, 1))))
    assert "powf.kernel" in found.functions and "powf" not in found.exported


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_stops_at_lines_and_shows_them(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    commands = [
        "set breakpoint pending on",
        "set debuginfod enabled off",
        "break steps.metal:5",
        "run",
        "backtrace 2",
        "info source",
        "list 6,6",
        "delete",
        "break steps.header.metal:2",
        "continue",
        "list 2,2",
    ]
    options = [word for command in commands for word in ("-ex", command)]
    told = subprocess.run(
        ["gdb", "-nx", "-q", "-batch", *options, "--args", sys.executable, str(program)],
        env=os.environ | {"ANYMETAL_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    ).stdout
    if "ptrace" in told:
        pytest.skip("this system lets nobody debug")
    assert re.search(r"hit Breakpoint 1, steps \(\) at steps\.metal:5\n5\t  sum \+= twice", told), (
        told
    )
    assert re.search(r"^#0  steps \(\) .*\n#1 .* in take_part\(", told, re.M), told
    assert "6\tout[i] = sum;" in told
    assert re.search(
        rf"Located in {re.escape(str(cache_directory()))}/texts/\w+/steps\.metal", told
    ), told
    assert re.search(r"hit Breakpoint 2, .*steps\.header\.metal:2", told), told
    assert "2\t  return v * v;" in told
