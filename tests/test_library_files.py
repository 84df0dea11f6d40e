"""`metal_library` for code bases: included files, macros, preludes, and errors in all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

import anymetal
from anymetal.errors import MetalCompileError
from anymetal.runtime import disk_cache

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"

#: Kernels, instantiations and function constants in a header; the file itself has little.
FILES = {
    "main.metal": HEAD
    + '#include "kernels/scale.h"\n'
    + "make_kernel(scale_float, float)\nmake_kernel(scale_half, half)\n",
    "kernels/scale.h": '#pragma once\n#include "parts/constants.h"\n'
    "template <typename T>\n"
    "[[kernel]] void scale(device T* x [[buffer(0)]],\n"
    "    threadgroup T* scratch [[threadgroup(0)]],\n"
    "    constant T& by [[buffer(1), function_constant(HAS_FACTOR)]],\n"
    "    uint i [[thread_position_in_threadgroup]]) {\n"
    "  scratch[i] = x[i];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  x[i] = scratch[7 - i] * (HAS_FACTOR ? by : T(FACTOR));\n"
    "}\n"
    "kernel void ones(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }\n"
    "#define make_kernel(name, type) \\\n"
    "  template [[host_name(#name)]] [[kernel]] \\\n"
    "  decltype(scale<type>) scale<type>;\n",
    "kernels/parts/constants.h": "constant bool HAS_FACTOR [[function_constant(3)]];\n"
    "#ifndef FACTOR\n#define FACTOR 2\n#endif\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "main.metal"


def scaled(library: anymetal.MetalLibrary, *by: float) -> list[float]:
    x = mx.arange(8, dtype=mx.float32)
    options: dict[str, Any] = {"threadgroup_memory": {0: 32}, "constants": {"HAS_FACTOR": bool(by)}}
    (out,) = library.scale_float(x, *(by or (None,)), grid=8, threadgroup=8, **options)
    result: list[float] = out.tolist()
    return result


def test_what_only_metal_has_stands_in_headers(tmp_path: Path) -> None:
    library = anymetal.metal_library(write(tmp_path, FILES))
    assert library.kernel_names == ["ones", "scale_float", "scale_half"]
    assert library.function_constants == {"HAS_FACTOR": 3}
    assert scaled(library) == [14, 12, 10, 8, 6, 4, 2, 0]
    assert scaled(library, 3.0) == [21, 18, 15, 12, 9, 6, 3, 0]


def test_macros_from_outside(tmp_path: Path) -> None:
    main = write(tmp_path, FILES)
    assert scaled(anymetal.metal_library(main, defines={"FACTOR": 5}))[0] == 35
    assert scaled(anymetal.metal_library(main, defines={"FACTOR": "(2 + 2)"}))[0] == 28


def test_a_changed_header_is_seen(tmp_path: Path) -> None:
    main = write(tmp_path, FILES)
    assert scaled(anymetal.metal_library(main))[0] == 14
    header = tmp_path / "kernels/parts/constants.h"
    header.write_text(header.read_text().replace("FACTOR 2", "FACTOR 4"))
    assert scaled(anymetal.metal_library(main))[0] == 28


def test_another_place_finds_all_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path / "cache"))
    scaled(anymetal.metal_library(write(tmp_path / "one", FILES)))
    entries = len(disk_cache.entries())
    scaled(anymetal.metal_library(write(tmp_path / "two", FILES)))
    assert len(disk_cache.entries()) == entries > 0


def test_a_text_finds_files_in_folders_only(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    library = anymetal.metal_library(FILES["main.metal"], include_dirs=[tmp_path])
    assert scaled(library)[0] == 14
    with pytest.raises(
        MetalCompileError, match=r"'kernels/scale.h' file not found[\s\S]*hint: .*dirs"
    ):
        anymetal.metal_library(FILES["main.metal"])


ERRORS = {
    "syntax": ("kernels/scale.h", "  scratch[i] = x[i];", "  scratch[i] = ;", r"scale\.h:8:16: "),
    "in a template": ("kernels/scale.h", "x[i] = s", "x[i] = what + s", r"scale\.h:10:10: .*what"),
    "attribute": ("kernels/scale.h", "thread_position_in_grid", "thread_in_grid", r"e\.h:12:44: "),
    "below": ("kernels/parts/constants.h", "bool HAS", "boole HAS", r"parts/constants\.h:1:10: "),
    "forbidden": ("kernels/parts/constants.h", "#ifndef", "long long x();\n#ifndef", r"s\.h:2:1: "),
    "in the file": ("main.metal", "scale_half, half", "scale_half, halve", r"main\.metal:5:1: "),
    "two of a name": (
        "main.metal",
        "scale_half, half",
        "scale_float, half",
        r"metal:4:1: .*several",
    ),
    "a name of ours": ("kernels/scale.h", "make_kernel", "__am_kernel", r"scale\.h:13:9: .*__am_"),
    "threadgroup": ("kernels/scale.h", "#define", "threadgroup int t;\n#define", r"e\.h:13:17: "),
}


@pytest.mark.parametrize("case", ERRORS.values(), ids=ERRORS.keys())
def test_errors_name_the_file_and_the_line(case: tuple[str, str, str, str], tmp_path: Path) -> None:
    name, old, new, expected = case
    assert FILES[name].count(old) == 1 or old == "make_kernel"
    main = write(tmp_path, {**FILES, name: FILES[name].replace(old, new)})
    with pytest.raises(MetalCompileError, match=expected) as raised:
        anymetal.metal_library(main)
    message = str(raised.value)
    assert str(tmp_path) not in message
    assert "/library" not in message


def test_errors_in_a_kernel_of_a_header(tmp_path: Path) -> None:
    """What a launch brings to light."""
    wrong = FILES["kernels/scale.h"].replace("[7 - i]", "[T::size]")
    library = anymetal.metal_library(write(tmp_path, {**FILES, "kernels/scale.h": wrong}))
    with pytest.raises(MetalCompileError, match=r"scale\.h:10:\d+: error: type 'float'"):
        scaled(library)


OWN = {
    "names of MLX's": "typedef bfloat bfloat16_t; struct complex64_t { float a, b; };\n"
    "inline uint16_t bfloat16_to_uint16(bfloat16_t x) { return as_type<uint16_t>(x); }\n"
    "template <typename T> struct Limits { int here; };\n#define MTL_CONST constant\n"
    "template <int N> int elem_to_loc(int a) { return N * a; }\n",
    "functions of bfloat": "namespace metal { METAL_FUNC bfloat exp(bfloat x) {\n"
    "return static_cast<bfloat>(__metal_exp(static_cast<float>(x), __METAL_MAYBE_FAST_MATH__)); }\n"
    "METAL_FUNC bfloat abs(bfloat x) { return bfloat(fabs(float(x))); }\n"
    "METAL_FUNC bfloat max(bfloat x, bfloat y) { return x < y ? y : x; }\n"
    "METAL_FUNC bfloat simd_sum(bfloat x) { return bfloat(__metal_simd_sum(float(x))); }\n"
    "template <typename T> struct is_empty : bool_constant<__is_empty(T)> {};\n"
    "namespace fast { METAL_FUNC bfloat exp(bfloat x) { return metal::exp(x); } } }\n",
    "constructors by address space": "struct S { float v;\n"
    "S(float x) thread : v(x) {}\nS(float x) threadgroup : v(x) {}\nS(float x) constant : v(x) {}\n"
    "operator float() const thread { return v; }\noperator float() const device { return v; } };\n",
    "constructors by address space, made or empty": "struct S { float v;\n"
    "S() thread = default;\nS() device = default;\nS() constant = default;\n"
    "S(int) thread {}\nS(int) constant {}\nfloat S_of() constant { return v; } };\n",
    "a template of its own": "template <typename T> T simd_sum(T x, int) { return x; }\n",
}


@pytest.mark.parametrize("text", OWN.values(), ids=OWN.keys())
def test_no_names_of_others_are_in_the_way(text: str) -> None:
    kernel = "kernel void k(device bfloat* x) { x[0] = bfloat(exp(x[0])); }\n"
    library = anymetal.metal_library(HEAD + text + kernel)
    (out,) = library.k(mx.zeros(1, dtype=mx.bfloat16), grid=1, threadgroup=1)
    assert out.tolist() == [1]


def test_metal_opens_no_namespace_by_itself() -> None:
    text = "#include <metal_stdlib>\n{}float exp(float x) {{ return x + 1; }}\n" + (
        "kernel void k(device float4* x) {{ x[0] = exp(x[0].x) + metal::exp(0.0f); }}\n"
    )
    (out,) = anymetal.metal_library(text.format("")).k(mx.ones(4), grid=1, threadgroup=1)
    assert out.tolist() == [3] * 4
    for opened in (text.format("using namespace metal;\n"), text.format("").partition("\n")[2]):
        with pytest.raises(MetalCompileError, match="'exp' is ambiguous"):
            anymetal.metal_library(opened, prelude=None)


def test_what_is_missing_without_mlx_is_said() -> None:
    text = HEAD + "kernel void k(device complex64_t* x) { x[0] = x[1]; }\n"
    with pytest.raises(MetalCompileError, match=r'hint: complex64_t .* prelude="mlx"'):
        anymetal.metal_library(text)
    assert anymetal.metal_library(text, prelude="mlx").kernel_names == ["k"]


def test_bfloat_computes_in_float() -> None:
    """1 + 2^-8 is no bfloat: its square root, rounded before, would be 1."""
    text = HEAD + "kernel void k(device float* y, device const bfloat* x) { y[0] = sqrt(x[0]); }\n"
    x = mx.array([1 + 2**-7], dtype=mx.bfloat16)
    (out,) = anymetal.metal_library(text).k(((1,), mx.float32), x, grid=1, threadgroup=1)
    assert out.item() == pytest.approx((1 + 2**-7) ** 0.5, abs=1e-7)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"prelude": "cuda"}, ValueError, "prelude must be"),
        ({"include_dirs": "folder"}, TypeError, "list of folders"),
        ({"include_dirs": 3}, TypeError, "include_dirs"),
        ({"defines": {"1x": 2}}, ValueError, "'1x'.*no name of a macro"),
        ({"defines": {"X": [2]}}, TypeError, "macro X"),
        ({"defines": {"X": "1\n#error"}}, ValueError, "macro X"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        anymetal.metal_library(HEAD + "kernel void k() {}", **options)


def test_places_in_headers_are_told(tmp_path: Path) -> None:
    """By the sanitizer, of what a kernel does there."""
    wrong = FILES["kernels/scale.h"].replace("{ x[i] = 1; }", "{\n  x[i + 8] = 1;\n}")
    library = anymetal.metal_library(write(tmp_path, {**FILES, "kernels/scale.h": wrong}))
    with anymetal.sanitize("report") as report:
        library.ones(mx.zeros(8), grid=8, threadgroup=8)
    (finding,) = report.findings
    assert (finding.place.file, finding.place.line) == ("kernels/scale.h", 13)
    assert finding.place.text == "  x[i + 8] = 1;"
