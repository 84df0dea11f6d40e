"""`anymetal init`: Clang, as editors use it, reads bodies and whole Metal files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest

import anymetal
from anymetal.cli.init import files_of
from anymetal.frontend.clang import INCLUDE
from anymetal.source import ATTRIBUTES
from tests.cli.test_cli import anymetal_command
from tests.frontend.kernels import kernel_source

PROGRAM = """\
import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="chosen", input_names=["x", "order", "n"], output_names=["y"],
    header="template <typename U> U twice(U v) { return v + v; }",
    source='''
        uint i = thread_position_in_grid.x;
        threadgroup float shared[32];
        shared[thread_index_in_simdgroup] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i >= uint(n)) return;
        T sum = OFFSET;
        for (int k = 0; k < order_shape[0]; k++)
            sum += twice(x[order[k]]) * 0.5;
        float4 v = float4(1, 2, 3, 4).wzyx;
        y[i] = simd_sum(sum) + T(v.x) + metal::fast::exp(0.0f) + shared[0];
    ''',
)
mx.eval(kernel(
    inputs=[mx.arange(64.0), mx.array([3, 1, 2, 0]), 50],
    template=[("T", mx.float16), ("OFFSET", 2)], grid=(64, 1, 1), threadgroup=(32, 1, 1),
    output_shapes=[(64,)], output_dtypes=[mx.float32],
))
"""
WHOLE = """\
#include <metal_stdlib>
#include <metal_atomic>
using namespace metal;
constant float table[3] = {1, 2, 3};
struct Parameters { float4 scale; uint n; };

[[max_total_threads_per_threadgroup(256)]]
kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant Parameters& p [[buffer(2)]],
                  device atomic_uint* count [[buffer(3)]],
                  threadgroup float* given [[threadgroup(0)]],
                  uint3 at [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float own[32];
  own[lane] = x[at.x] * p.scale.x + table[at.x % 3] + given[lane];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (at.x < p.n) y[at.x] = simd_sum(own[31 - lane]) + 1.5h;
  atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
}

template <typename T>
kernel void copy(device const T* x [[buffer(0)]], device T* y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  y[i] = x[i];
}

fragment float4 shade() { return float4(0); }
"""


def clang(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ziglang", "clang", "@compile_flags.txt", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def checked(folder: Path, file: str) -> str:
    """What Clang says of a file, warnings included."""
    done = clang(folder, "-fsyntax-only", file)
    assert bool(done.returncode) == ("error:" in done.stderr), done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("project")
    (here / "program.py").write_text(PROGRAM)
    done = anymetal_command("init", "--folder", str(here / "metal"), str(here / "program.py"))
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (here / "metal").iterdir()}
    assert names == {".clangd", "compile_flags.txt", "chosen.metal", "chosen.header.metal"}
    return here / "metal"


def test_a_body_and_its_header(folder: Path) -> None:
    assert checked(folder, "chosen.metal") == ""
    assert checked(folder, "chosen.header.metal") == ""
    text = (folder / "chosen.metal").read_text()
    assert "using T = float16_t;\nconstexpr int OFFSET = 2;\n" in text


def test_a_whole_file(folder: Path) -> None:
    (folder / "whole.metal").write_text(WHOLE)
    assert checked(folder, "whole.metal") == ""


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        ("simd_sum(sum)", "simd_sum(summ)", "error: use of undeclared identifier 'summ'"),
        (".wzyx", ".wzyq", "no member named 'wzyq'"),
        ("shared[0];", "shared[0]", "expected ';' after expression"),
        ("uint i = ", "uint i = nothing + ", "undeclared identifier 'nothing'"),
        ("T sum = OFFSET", "int j = 1.5; T sum = OFFSET", "warning: implicit conversion"),
    ],
)
def test_mistakes_in_a_body_are_shown_at_their_lines(
    folder: Path, before: str, after: str, error: str
) -> None:
    text = (folder / "chosen.metal").read_text()
    assert before in text
    (folder / "wrong.metal").write_text(text.replace(before, after))
    told = checked(folder, "wrong.metal")
    assert error in told
    line = next(n for n, one in enumerate(text.split("\n"), 1) if before in one)
    assert f"wrong.metal:{line}:" in told


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("simd_", "simd_prefix_inclusive_sum"),
        ("thread_pos", "thread_position_in_grid"),
        ("v.", "x"),
    ],
)
def test_words_are_completed(folder: Path, typed: str, offered: str) -> None:
    text = (folder / "chosen.metal").read_text()
    line = "        y[i] = simd_sum"
    assert line in text
    (folder / "typed.metal").write_text(text.replace(line, f"        {typed}\n{line}"))
    number = text[: text.index(line)].count("\n") + 1
    column = 9 + len(typed.rpartition(".")[0]) + ("." in typed)
    place = f"typed.metal:{number}:{column}"
    words = ["-fsyntax-only", "-Xclang", f"-code-completion-at={place}", "typed.metal"]
    assert f"COMPLETION: {offered} " in clang(folder, *words).stdout


def test_a_body_for_editors_is_one_for_kernels(folder: Path) -> None:
    kernel = anymetal.metal_kernel(
        "chosen",
        ["x", "order", "n"],
        ["y"],
        (folder / "chosen.metal").read_text(),
        (folder / "chosen.header.metal").read_text(),
    )
    (y,) = kernel(
        inputs=[mx.arange(64.0), mx.array([3, 1, 2, 0]), 50],
        template=[("T", mx.float16), ("OFFSET", 2)],
        grid=(64, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[(64,)],
        output_dtypes=[mx.float32],
        init_value=0,
    )
    first = 32 * (2 + 6) + 4 + 1
    assert y.tolist() == [first] * 32 + [18 * (2 + 6) + 4 + 1 + 32] * 18 + [0] * 14


def test_what_editors_know_of_threads_is_all_that_there_is() -> None:
    text = (INCLUDE / "anymetal" / "editor.h").read_text()
    text = text[text.index("__VA_OPT__") :]
    assert {name: type_ for type_, name in re.findall(r"(uint3?) (\w+)", text)} == ATTRIBUTES


def test_sizes_are_numbers() -> None:
    source = kernel_source("out[0] = a_size;", inputs={"a": mx.zeros(3)}, name="sizes")
    if not any(one.kind == "size" for one in source.parameters):
        pytest.skip("a_size is no parameter here")
    assert "uint a_size" in files_of(source)["sizes.metal"]


def test_files_that_are_there_stay(tmp_path: Path) -> None:
    (tmp_path / ".clangd").write_text("mine")
    done = anymetal_command("init", "--folder", str(tmp_path))
    assert done.returncode == 1 and ".clangd is there already; --force replaces it" in done.stderr
    assert (tmp_path / ".clangd").read_text() == "mine"
    assert (tmp_path / "compile_flags.txt").exists()
    assert anymetal_command("init", "--folder", str(tmp_path), "--force").returncode == 0
    assert "PathMatch: .*\\.metal\n" in (tmp_path / ".clangd").read_text()
    assert anymetal_command("init", "--folder", str(tmp_path)).returncode == 0  # nothing new
    done = anymetal_command("init", "--folder", str(tmp_path / ".clangd" / "x"))
    assert done.returncode == 1 and done.stderr.startswith("anymetal init: ")
