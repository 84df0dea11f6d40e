"""Runs of Clang: the IR that comes out, what the flags mean, and the precompiled header."""

from __future__ import annotations

import re

import mlx.core as mx
import pytest

from anymetal.errors import MetalCompileError, ToolchainError
from anymetal.frontend import clang, toolchain
from anymetal.runtime import disk_cache, zig
from tests.frontend.kernels import kernel_source


def ir_of(body: str, header: str = "", **options: object) -> str:
    return clang.compile_to_ir(kernel_source(body, header, **options))  # type: ignore[arg-type]


def kernel_ir(body: str, header: str = "", **options: object) -> str:
    """The lines of the generated function alone: our headers bring functions along."""
    return re.search(
        r"define internal void @\S*custom_kernel.*?^}", ir_of(body, header, **options), re.M | re.S
    )[0]  # type: ignore[index]


def test_only_inputs_are_free_of_aliases():
    """A barrier lets other threads write to an output, never to an input."""
    ir = ir_of("out[thread_position_in_grid.x] = a[0] * s;")
    signature = re.search(r"define dso_local void @__am_kernel\((.*)\)", ir)
    assert signature is not None
    parameters = signature[1].split(", ")
    assert [parameter.startswith("ptr noalias") for parameter in parameters] == [True, True, False]


def test_a_template_is_compiled_for_its_arguments():
    ir = ir_of("out[0] = T(a[0]) * N;", template=[("T", mx.float16), ("N", 3), ("B", False)])
    assert "fptrunc float" in ir


@pytest.mark.parametrize(
    ("body", "header"),
    [
        ("#include <metal_stdlib>\nusing namespace metal;\nout[0] = metal::exp(a[0]);", ""),
        (
            "out[0] = f(1);",
            "#include <metal_stdlib>\nusing namespace metal;\nfloat f(float x) { return x; }",
        ),
        ("out[0] = N;\n#undef N", "#define N 4"),
        ("#define M 3\nout[0] = M;\n#undef M", "// comment without end of line"),
        ("out[0] = 1; // \\", "#define Z \\"),
        ("#if 0\n#endif", "#pragma once"),
        ("if (s > *a_size || a_size < 3u) return; out[a_size - 1] = a_size[0];", ""),
        ("uint a_size = a_shape[0]; out[a_size] = 1;", ""),
        ("bfloat b = 1.5bf + .5BF * 2bf; half h = 1.5h - 2H; out[0] = float(b) + h;", ""),
    ],
)
def test_what_people_write_compiles(body, header):
    assert "@__am_kernel(" in ir_of(body, header)


def test_literals_are_float():
    assert "double" not in kernel_ir("out[0] = a[0] * 2.5 + 1.0 / 3;")


def test_half_rounds_after_each_operation():
    ir = kernel_ir("half h = a[0]; half g = h * h; out[0] = g - h;")
    assert "fmul half" in ir
    assert "fsub half" in ir


def test_endless_loops_stay():
    assert "mustprogress" not in ir_of("while (true) {}")


def test_lines_and_columns_stay():
    ir = ir_of("\n  out[0] = 1;\n")
    assert 'DIFile(filename: "k: source"' in ir
    assert re.search(r"DILocation\(line: 2, column: 10", ir)


PRODUCT = "float p = a[0] * a[1]; out[0] = p + s;"
CONTRACTED = "out[0] = a[0] * a[1] + s;"
UNCONTRACTED = "#pragma METAL fp contract(off)\nout[0] = a[0] * a[1] + s;"


def test_safe_mode_fuses_within_an_expression():
    assert "llvm.fmuladd" in kernel_ir(CONTRACTED)
    for body in (PRODUCT, UNCONTRACTED):
        ir = kernel_ir(body)
        assert "fmul float" in ir and "fadd float" in ir


@pytest.mark.parametrize("mode", ["relaxed", "fast"])
def test_other_modes_reassociate_and_fuse(mode):
    flags = "reassoc nsz arcp contract"
    ir = kernel_ir(PRODUCT, math_mode=mode)
    assert f"fmul {flags} float" in ir and f"fadd {flags} float" in ir
    assert "fadd reassoc nsz arcp float" in kernel_ir(UNCONTRACTED, math_mode=mode)


@pytest.mark.parametrize("mode", ["safe", "relaxed", "fast"])
def test_fast_math_macro(mode):
    body = "#ifdef __FAST_MATH__\nout[0] = 4;\n#endif"
    assert ("4.000000e+00" in kernel_ir(body, math_mode=mode)) == (mode == "fast")


def test_infinity_survives_in_every_mode():
    for mode in ("safe", "relaxed", "fast"):
        assert "ninf" not in kernel_ir("out[0] = max(-INFINITY, a[0]);", math_mode=mode)


def test_same_kernel_same_ir():
    assert ir_of(CONTRACTED) == ir_of(CONTRACTED)


def test_the_working_directory_does_not_matter(tmp_path, monkeypatch):
    (tmp_path / "mine.h").write_text("#define MINE 1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MetalCompileError, match=r"'mine.h' file not found"):
        ir_of("out[0] = MINE;", '#include "mine.h"')


class TestPrecompiledHeader:
    @pytest.fixture
    def empty_cache(self, tmp_path, monkeypatch):
        monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
        clang.precompiled_header.cache_clear()
        yield
        clang.precompiled_header.cache_clear()

    def test_is_made_once_per_math_mode(self, empty_cache):
        ir_of("out[0] = 1;")
        ir_of("out[0] = 2;")
        ir_of("out[0] = 1;", math_mode="fast")
        names = [entry.name for entry in disk_cache.entries()]
        assert sorted(names) == ["Metal's headers, fast maths", "Metal's headers, safe maths"]

    def test_a_damaged_one_is_made_again(self, empty_cache):
        ir_of("out[0] = 1;")
        ((path, *_),) = disk_cache.entries()
        whole = path.read_bytes()
        for damaged in (b"", whole[:1000], whole[: len(whole) // 2], bytes(len(whole))):
            path.write_bytes(damaged)
            clang.precompiled_header.cache_clear()
            assert "@__am_kernel" in ir_of("out[0] = 1;")
            assert disk_cache.verify() == (1, [], 0)

    def test_a_cleared_one_is_in_memory(self, empty_cache):
        ir_of("out[0] = 1;")
        disk_cache.clear()
        assert "@__am_kernel" in ir_of("out[0] = 1;")
        assert disk_cache.entries() == []

    def test_headers_that_do_not_compile(self, empty_cache, tmp_path, monkeypatch):
        bad = tmp_path / "umbrella.h"
        bad.write_text("int x = ;\n")
        monkeypatch.setitem(clang.UMBRELLAS, "mlx", bad)
        with pytest.raises(ToolchainError, match="do not compile"):
            ir_of("out[0] = 1;")


class TestToolchain:
    def test_clang_and_llvm_fit(self):
        toolchain.check_versions(toolchain.clang_version())

    def test_versions_that_differ(self):
        with pytest.raises(ToolchainError, match=r"Clang 21\.1\.0 .* differ .*reinstall"):
            toolchain.check_versions("21.1.0")

    def test_a_broken_executable(self, monkeypatch, tmp_path):
        broken = tmp_path / "zig"
        broken.write_text("#!/bin/sh\necho no clang\n")
        broken.chmod(0o755)
        monkeypatch.setattr(toolchain, "zig_path", lambda: broken)
        with pytest.raises(ToolchainError, match=r"says 'no clang\\n'.*force-reinstall"):
            toolchain.clang_version()


def test_a_small_kernel_is_one_run_of_clang_on_a_short_text(monkeypatch):
    """No header is read again; benchmarks/compile_time.py measures the time."""
    body = "uint i = thread_position_in_grid.x; out[i] = exp(a[i]);"
    ir_of(body)
    runs, real = [], zig.run
    monkeypatch.setattr(zig, "run", lambda *a, **more: runs.append((a, more)) or real(*a, **more))
    ir_of(body)
    ((arguments, more),) = runs
    assert "-include-pch" in arguments
    assert len(more["text"]) < 2000
