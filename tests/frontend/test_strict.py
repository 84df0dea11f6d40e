"""Strict mode: kernels that run here and that Metal refuses."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import mlx
import mlx.core as mx
import pytest

import anymetal
from anymetal import AnyMetalWarning, MetalCompileError, SuspiciousTextWarning
from anymetal.frontend import address_spaces, strict
from anymetal.frontend.forbidden import find_forbidden
from anymetal.testing.metal_case import parse
from tests.frontend.kernels import kernel_source

KERNELS = Path(__file__).parents[1] / "kernels"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict, "_checked", set())
    monkeypatch.setattr(strict, "_warned", set())
    monkeypatch.delenv("ANYMETAL_STRICT", raising=False)


def found(body: str, header: str = "") -> list[str]:
    """`header:1:8 pointer` for each finding."""
    result = []
    for one in address_spaces.complaints_about(kernel_source(body, header)):
        part = one.file.partition(": ")[2]
        result.append(f"{part}:{one.line}:{one.column} {one.text.split()[0]}")
    return result


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("float* p = out;", 6),
        ("const float *p = a;", 13),
        ("float const* p = a;", 12),
        ("float4* p = (device float4*)out;", 7),
        ("unsigned int* p;", 13),
        ("metal::float4* p;", 14),
        ("vec<float, 4>* p;", 14),
        ("metal::vec<half, 2> const* p;", 26),
        ("auto p = (float*)out;", 16),
        ("auto p = reinterpret_cast<const uint*>(a);", 37),
        ("float v = *(float*)a;", 18),
        ("for (float* p = out; p; ) {}", 11),
        ("atomic_uint* p;", 12),
        ("atomic<int>* p = 0;", 12),
        ("struct S { int v; }; S* p;", 23),
        ("void* p = 0;", 5),
    ],
)
def test_pointers_without_address_space(text: str, column: int) -> None:
    assert found(text) == [f"source:1:{column} pointer"]


@pytest.mark.parametrize(
    ("header", "column", "kind"),
    [
        ("void f(float& v) { v = 1; }", 13, "reference"),
        ("void f(const float4& v);", 20, "reference"),
        ("float f(float* p, int n) { return p[n]; }", 14, "pointer"),
        ("float* f(device float* p);", 6, "pointer"),
        ("struct S { float* p; };", 17, "pointer"),
        ("struct S { float v; }; void f(S& s) { s.v = 1; }", 32, "reference"),
        ("struct S { S operator+(const S& o) const; };", 31, "reference"),
        ("template <int N> struct B { int v; }; void f(B<2>& b);", 50, "reference"),
        ("void f(float (&t)[32]);", 15, "reference"),
        ("void f(complex64_t& z);", 19, "reference"),
        ("namespace n { int f(int* p) { return *p; } }", 24, "pointer"),
    ],
)
def test_declarations_in_the_header(header: str, column: int, kind: str) -> None:
    assert found("out[0] = 1;", header) == [f"header:1:{column} {kind}"]


@pytest.mark.parametrize(
    "header",
    [
        "const float pi = 3.14;",
        "constexpr int pi = 3;",
        "static constexpr uint pi[2] = {1, 2};",
        "namespace n { const int pi{3}; }",
    ],
)
def test_constants_at_program_scope(header: str) -> None:
    assert found("out[0] = 1;", header) == [f"header:1:{header.index('pi') + 1} program"]


@pytest.mark.parametrize(
    ("body", "header"),
    [
        ("device float* p = out; const device float* q = a;", ""),
        ("thread float& r = v; float thread* s; float device const* t;", ""),
        ("device float* thread* w; device float** z; const device float*& r = w;", ""),
        ("threadgroup float (&t)[32] = slots;", ""),
        ("float v = a[0] * s; int n = 3; n &= 1; v *= 2; bool b = n && v;", ""),
        ("float S = 2, v = S * a[0]; int M = 3 & n;", ""),
        ("float v = float(a[0]) * float(2); v = sizeof(float) * 3;", ""),
        ("auto& r = out[0]; auto* p = out; auto&& q = r;", ""),
        ("auto f = [&](float v) { return v; }; auto g = [&, n](int i) { return i & n; };", ""),
        ("uint mask = 3; uint x = mask & uint(7); x = T(2) * x;", ""),
        ("SPACE float* p = out; PTR q = out;", "#define SPACE device\n#define PTR device float*"),
        ("", "#define CAST(p) ((float*)(p))\n"),
        ("", "#if 0\nvoid f(float* p);\n#endif\n// float* p\n/* float& r */"),
        ("", "#ifdef __METAL__\nvoid f(SPACE float* p);\n#else\nvoid f(float* p);\n#endif"),
        ("", "template <typename T> struct E {}; template <typename T> struct E<thread T*> {};"),
        ("", "typedef float (*unary)(float); float f(float (*g)(float)) { return g(1); }"),
        ("", "struct S { thread float& at(int i) thread; S operator*(S o) const; };"),
        ("", "struct S { float v; float operator&(float o); operator float() const; };"),
        ("", "constant float pi = 3; static constant int n = 2; constant constexpr int k = 1;"),
        ("", "constexpr int f(int n) { return n; } const float g(float x) { return x; }"),
        ("", "struct S { static constexpr int size = 4; const int v = 2; enum { A = 1 }; };"),
        ("", "template <int N> constexpr constant int twice = 2 * N;"),
        ("const float pi = 3; constexpr int n = 2; static_assert(n > 1);", ""),
        ("if (i < n && j > m) {} bool b = x < float(3) && y > 2;", ""),
        ("int vec = 2, array = 3; int n = vec * array & vec;", ""),
    ],
)
def test_correct_text_is_left_alone(body: str, header: str) -> None:
    assert found(body, header) == []


@pytest.mark.parametrize("path", sorted(KERNELS.rglob("*.metal")), ids=lambda path: path.stem)
def test_no_case_that_must_run_is_suspected(path: Path) -> None:
    case = parse(path)
    if not case.all("error"):
        assert found(case.body, case.header) == []


def test_the_headers_of_mlx_are_not_suspected() -> None:
    folder = Path(next(iter(mlx.__path__)), "include", "mlx", "backend", "metal", "kernels")
    headers = sorted(folder.rglob("*.h"))
    if not headers:
        pytest.skip("this MLX comes without its Metal headers")
    for header in headers:
        text = header.read_text()
        assert found("", text) == [], header
        assert find_forbidden(kernel_source("", text)) == [], header


@pytest.mark.parametrize(
    ("body", "column"),
    [
        ("const device float* p = a;", 25),
        ("const device float* p = &a[1];", 26),
        ("const device float *p = a + 1;", 25),
        ("auto p = (const device int*)a;", 29),
        ("auto p = reinterpret_cast<const device int*>(a);", 46),
        ("auto p = a; const constant float* q = a; const device float* r = out;", 0),
        ("float v = a[0]; device float* p = out + int(a[0]); p = (device float*)(out);", 0),
        ("float w = *(device float*)out + a[0] * a[1];", 0),
        ("{ const device float* a = out; const device float* p = a; }", 0),
    ],
)
def test_small_inputs_are_constant(body: str, column: int) -> None:
    source = kernel_source(body, inputs={"a": mx.zeros(4)})
    places = [(one.file, one.column) for one in address_spaces.complaints_about(source)]
    assert places == ([("k: source", column)] if column else [])
    large = kernel_source(body, inputs={"a": mx.zeros(8)})
    assert address_spaces.complaints_about(large) == []


_COUNT = iter(range(1000))


def run_kernel(body: str, header: str = "") -> None:
    kernel = anymetal.metal_kernel(
        name=f"strict_{next(_COUNT)}",
        input_names=[],
        output_names=["out"],
        source=body,
        header=header,
    )
    for grid in (1, 40):  # two compiled variants
        (out,) = kernel(
            inputs=[],
            output_shapes=[(40,)],
            output_dtypes=[mx.float32],
            grid=(grid, 1, 1),
            threadgroup=(32, 1, 1),
        )
        assert out[0].item() == 1


LAX = "float* p = out; *p = 1;"


def test_a_warning_once_per_kernel_at_the_callers_line() -> None:
    with pytest.warns(AnyMetalWarning) as caught:
        run_kernel(LAX)
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert re.match(r"Kernel `strict_\d+` runs here, but Metal may refuse it", text)
    assert "  source:1:6: pointer type must have explicit address space qualifier\n" in text
    assert "ANYMETAL_STRICT=0" in text


def test_many_findings_are_counted() -> None:
    with pytest.warns(AnyMetalWarning, match=r"source:5:6.*\n  and 3 more\n"):
        run_kernel("\n".join(f"float* p{i} = out;" for i in range(8)) + "\nout[0] = 1;")


def test_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_STRICT", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_kernel(LAX)


def test_error_even_if_the_kernel_is_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_STRICT", "error")
    for _ in range(2):
        with pytest.raises(MetalCompileError) as error:
            run_kernel("uint i = 0;\nconst float* p = out;\nout[i] = 1;")
        assert re.search(
            r"strict_\d+: source:2:12: error: pointer type must have explicit address space "
            r"qualifier\n    2 \| const float\* p = out;\n      \|            \^\n",
            str(error.value),
        )


MIXED = "out[0] = 1;\n  out[0] = max(out[0], 0);"
WRONG = "out[0] = 1;\n  int i = 0;\n  if (i = 3) out[0] = 1;"


def test_ambiguous_calls_are_warned_of_at_their_place() -> None:
    with pytest.warns(AnyMetalWarning) as caught:
        run_kernel(MIXED)
    (warning,) = caught
    assert warning.filename == __file__ and warning.category is AnyMetalWarning
    text = str(warning.message)
    assert "\n  source:2:12: call to 'max' is ambiguous in Metal: no function fits" in text
    assert " max(float, int) best: give them one type\n" in text and "address space" not in text


def test_ambiguous_calls_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_STRICT", "error")
    with pytest.raises(MetalCompileError, match=r"source:2:12: error: call to 'max' is ambiguous"):
        run_kernel(MIXED)


@pytest.mark.parametrize("mode", ["1", "error"])
def test_what_clang_finds_suspicious_is_a_warning(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYMETAL_STRICT", mode)
    with pytest.warns(SuspiciousTextWarning) as caught:
        run_kernel(WRONG)
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert "  source:3:9: using the result of an assignment as a condition" in text
    assert "[-Wparentheses]\n" in text and 'ignored "-Wparentheses"` in the text' in text


def test_a_text_can_silence_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_kernel(f'#pragma clang diagnostic ignored "-Wparentheses"\n{WRONG}')


PROGRAM = """
import mlx.core as mx
import anymetal
kernel = anymetal.metal_kernel(name="kept", input_names=[], output_names=["out"], source={!r})
(out,) = kernel(inputs=[], output_shapes=[(1,)], output_dtypes=[mx.float32], grid=(1, 1, 1),
                threadgroup=(1, 1, 1))
mx.eval(out)
"""


def test_a_kernel_of_the_disk_cache_is_warned_of_in_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("ANYMETAL_BRIDGE", "0")  # it would be built anew
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(WRONG.replace("1;", "max(2.0f, 1);", 1))],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "source:1:10: call to 'max' is ambiguous" in run.stderr
        assert "source:3:9: using the result of an assignment" in run.stderr


def test_unknown_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_STRICT", "yes")
    with pytest.raises(ValueError, match="ANYMETAL_STRICT must be 0, 1 or error, not 'yes'"):
        run_kernel("out[0] = 1;")
