"""The user's text as it may come: line ends, overloads by address space, places of errors."""

from __future__ import annotations

import mlx.core as mx
import pytest

from anymetal import MetalCompileError, UnsupportedFeatureError, metal_kernel
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.definitions import definition_at
from anymetal.frontend.metal_tokens import (
    closing,
    closings,
    offset_of,
    position,
    tokenize,
    unconditional,
)
from tests.frontend.kernels import kernel_source

HEADER = """float first(threadgroup float* p) { return *p; }
float first(device float* p) { return *p; }
#define ONE 1 // a comment"""
BODY = """uint t = thread_position_in_grid.x; // a comment \\
that goes on
#define ADD(a, b) \\
  ((a) + \\
   (b))
/* several
lines */
threadgroup float s[32];
s[t] = ADD(x[t], ONE);
#pragma unroll
for (int i = 0; i < 2; i++) { s[t] += i; }
#if 1
y[t] = first(&s[t]);
#endif // 1"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "last", ["", "\n", "  // end", "\n// end \\", "\n#undef ONE", "\n/* end */"]
)
def test_line_ends(end: str, last: str) -> None:
    kernel = metal_kernel(
        "line_ends", ["x"], ["y"], (BODY + last).replace("\n", end), HEADER.replace("\n", end)
    )
    x = mx.arange(32).astype(mx.float32)
    (y,) = kernel(
        inputs=[x],
        output_shapes=[(32,)],
        output_dtypes=[mx.float32],
        grid=(32, 1, 1),
        threadgroup=(32, 1, 1),
    )
    assert mx.array_equal(y, x + 2)


def error_of(body: str, header: str = "") -> str:
    with pytest.raises((MetalCompileError, UnsupportedFeatureError)) as caught:
        compile_to_ir(kernel_source(body, header))
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "header", "place"),
    [
        ("uint t = 0;\r\n\r\nout[t] = foo;\r\n", "", "source:3:10: error: use of undeclared"),
        ("uint t = 0;\r\rout[t] = foo;\r", "", "source:3:10: error: use of undeclared"),
        ("out[0] = 1; // \r}", "", "source:2:2: error: extraneous closing brace"),
        ("#define A \\\r 1\rlong long z = A;", "", "source:3:1: error: 'long long'"),
        ("out[0] = f();", "// a\rint f() { static int n; return n++; }", "header:2:22: error"),
        (
            "f(0);",
            "void f(int i [[threadgroup(\\\n0)]],\nint k) { foo; }",
            "header:3:10: error: use",
        ),
        ("foo;", "constant int n [[\nfunction_constant(\n0)]];\nint f() { bar; }", "header:4:11"),
        ("/* ü */ long long z = 1;", "", "source:1:9: error: 'long long'"),
        ("/* ü */ goto end; end: ;", "", "source:1:9: error: 'goto'"),
        ("out[0] = f();", "/* 🙂 */ int f() { static int n; return n++; }", "header:1:30: error"),
        ("out[0] = /* ü */ f(3);", "float f(float);", "source:1:18: error: function 'f' is"),
        ("out[0] = f(3);", "int f(int n) { /* ü */ return n - f(n); }", "header:1:35: recursion"),
        ("f();", "void f() { /* ü */ threadgroup int n; n = 1; }", "header:1:20: error: 'n'"),
    ],
)
def test_columns_count_characters(body: str, header: str, place: str) -> None:
    assert f"k: {place}" in error_of(body, header)


def test_carriage_returns_do_not_show() -> None:
    assert "\r" not in error_of("uint t = 0;\r\nlong long z;\r\n")


def test_other_characters_end_no_line() -> None:
    assert "error: a\fb\vc\n" in error_of("#error a\fb\vc")


SAME = [
    "float f({} float* p) {{ return *p; }}",
    "template <typename T, int N>\nT f({} T* p) {{\n  T v[N] = {{p[0]}};\n  return v[0];\n}}",
    "METAL_FUNC float f({} const float* p, int n = 0) {{ /* {} */ return p[n]; }}",
    "struct S {{ float v; S({} float* p) : v{{*p}} {{}} }}; ",
    "struct S {{ float v; float g() {} {{ return v; }} }}; ",
    "float f({0} float* p) {{ {0} float* q = p; return *q; }}",
]


@pytest.mark.parametrize("text", SAME, ids=range(len(SAME)))
def test_one_of_equal_overloads_goes(text: str) -> None:
    if text.startswith("struct"):
        start, member, end = text.rpartition(" }}")[0], "", " }};"
        name = "S(" if "S(" in text else "float g("
        fields, _, member = start.partition(name)
        header = fields.format() + "".join(
            (name + member).format(space) + "\n" for space in ("device", "thread", "threadgroup")
        )
        header += end.format()
    else:
        header = "\n".join(text.format(space, space) for space in ("device", "thread"))
    assert "@__am_kernel" in compile_to_ir(kernel_source("out[0] = 1;", header))


@pytest.mark.parametrize(
    "header",
    [
        "float f(device float* p) { return *p; } float f(threadgroup float* p) { return -*p; }",
        "int f(device int* p) { return *p; } long f(threadgroup int* p) { return *p; }",
        "template <class T> struct E; template <class T> struct E<device T*> { enum { a = 1 }; };"
        "template <class T> struct E<thread T*> { enum { a = 2 }; };",
    ],
)
def test_different_overloads_are_an_error_with_its_reason(header: str) -> None:
    text = error_of("out[0] = 1;", header)
    assert "these overloads differ in address spaces and in their bodies" in text
    assert "1 error generated" in text


@pytest.mark.parametrize(
    "header",
    [
        "float f(device float* p) { return *p; } float f(device float* p) { return *p; }",
        "struct S { int v; }; struct S { int v; };",
        "int f() { return 1; } int f() { return 1; }",
    ],
)
def test_what_metal_calls_a_redefinition_stays_one(header: str) -> None:
    text = error_of("out[0] = 1;", header)
    assert "redefinition of" in text and "address space" not in text


def test_functions_that_nothing_calls_may_call_what_they_like() -> None:
    header = """
        float later(float v);
        int forever(int n) { return forever(n); }
        float both() { return later(1) + forever(1); }
    """
    assert "@__am_kernel" in compile_to_ir(kernel_source("out[0] = 1;", header))


def test_tokens() -> None:
    text = "a->b /* c */ \"d // e\" 1.5e-3f // f\n  #define x \\\n y\n'g' 1'000 >>= &&"
    tokens = tokenize(text)
    assert [token.text for token in tokens] == [
        "a", "->", "b", '"d // e"', "1.5e-3f", "  #define x \\\n y", "'g'", "1'000",
        ">", ">=", "&&",
    ]  # fmt: skip
    assert all(text[token.start : token.end] == token.text for token in tokens)


def test_brackets_find_their_ends() -> None:
    for text in ("a(b[c]{d}) e", "((( [ ) ]", "]) ( }", ""):
        tokens = tokenize(text)
        ends = closings(tokens)
        assert len(ends) == len(tokens)
        for at, token in enumerate(tokens):
            if token.text in ("(", "[", "{"):
                assert ends[at] == closing(tokens, at)


def test_a_name_at_the_end_of_what_is_never_closed_has_no_definition() -> None:
    assert definition_at("int f(int a", 1, 5) is None


def test_unconditional_tokens() -> None:
    text = "a\n#if 1\nb\n# ifdef x\nc\n#endif\nd\n#else\ne\n#endif\nf\n#define g h\ni"
    assert [token.text for token in unconditional(text)] == ["a", "f", "i"]


def test_positions() -> None:
    text = "ab\ncd\n"
    for offset in range(len(text)):
        assert offset_of(text, *position(text, offset)) == offset
    assert offset_of(text, 9, 1) == -1
