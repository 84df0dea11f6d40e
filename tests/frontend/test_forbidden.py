"""What Metal forbids is refused where it stands, also in text that leaves no code behind and behind
macros; what only looks like it is not."""

from __future__ import annotations

import pytest

from anymetal.errors import MetalCompileError
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.forbidden import find_forbidden, may_hide
from tests.frontend.kernels import kernel_source

_STATIC = "static variable 's' must reside in constant address space"
_GLOBAL = "program scope variable 's' must reside in constant address space"
_IN_HELPER = "'s': variables in the threadgroup address space can only be declared in a kernel"


def place_and_text(body: str, header: str) -> str:
    """The first error of Metal that this raises."""
    with pytest.raises(MetalCompileError) as caught:
        compile_to_ir(kernel_source(body, header))
    return str(caught.value).split("\n")[1]


@pytest.mark.parametrize(
    ("header", "place", "text"),
    [
        ("inline int f() { static int s = 0; return s++; }", "1:29", _STATIC),
        ("template <typename V> V f(V v) { static V s = v; return s; }", "1:43", _STATIC),
        ("struct S { int f() { static int s[2]; return s[0]; } };", "1:33", _STATIC),
        ("struct S { static int s; };", "1:23", _STATIC),
        ("namespace n { inline void f() { if (1) { static float4 s; } } }", "1:56", _STATIC),
        ("static int s = 0;", "1:12", _GLOBAL),
        ("inline metal::float4 s;", "1:22", _GLOBAL),
        ("namespace {\nnamespace n { static uint s[3] = {1, 2, 3}; }\n}", "2:27", _GLOBAL),
        ("template <typename V> V s = V(0);", "1:25", _GLOBAL),
        ("auto s = [](int v) { return v; };", "1:6", _GLOBAL),
        ("extern int s;", "1:12", _GLOBAL),
        ("struct S { int a; } s;", "1:21", _GLOBAL),
        ("#define D int s = 3;\nD", "2:1", _GLOBAL),
        ("inline int f() { threadgroup int s; s = 1; return s; }", "1:34", _IN_HELPER),
        ("template <typename V> void f(V v) { threadgroup V s[2]; s[0] = v; }", "1:51", _IN_HELPER),
        ("#define TG threadgroup\ninline void f() { TG int s; }", "2:26", _IN_HELPER),
        ("inline void f() { device float s; }", "1:32", "cannot be in the device address space"),
        ("int main() { return 0; }", "1:5", "a function cannot be called 'main' in Metal"),
        ("kernel int k2() { return 1; }", "1:8", "a kernel returns void"),
        ("[[kernel]] half k2() { return 1; }", "1:12", "a kernel returns void"),
        ("inline void f(device int* p) { delete p; }", "1:32", "'delete' is not supported"),
        ("#define LL long long\ninline LL f() { return 1; }", "2:1", "'long long' is not"),
        ("#define LD long double\ninline LD f() { return 1; }", "2:1", "'long double' is not"),
        ("#define P(a, b) a##b\ninline int f() { P(go, to) e; e: return 1; }", "2:1", "'goto'"),
        ('instantiate_kernel("f", f, 5)\nstatic metal::float4 s;', "2:22", _GLOBAL),
    ],
)
def test_in_text_that_nobody_uses(header: str, place: str, text: str) -> None:
    error = place_and_text("out[0] = 1;", header)
    assert error.startswith(f"k: header:{place}: error: "), error
    assert text in error


@pytest.mark.parametrize(
    ("body", "place", "text"),
    [
        ("register int r = 1;", "1:1", "'register' is not supported in Metal"),
        ("__thread int t;", "1:1", "'__thread' is not supported in Metal"),
        ("__float128 q = 1;", "1:1", "'__float128' is not supported in Metal"),
        ("_Complex float z = 1;", "1:1", "'_Complex' is not supported in Metal"),
        ("out[0] = 1.0L;", "1:10", "'1.0L': 'long double' is not supported in Metal"),
        ("out[0] = 1e3l;", "1:10", "'1e3l': 'long double' is not supported in Metal"),
        ("out[0] = 0x1p3L;", "1:10", "'0x1p3L': 'long double' is not supported in Metal"),
        ("out[0] = 1.0q;", "1:10", "'1.0q': '__float128' is not supported in Metal"),
        ("#if 1\nout[0] = 1.0L;\n#endif", "2:10", "'1.0L': 'long double' is not supported"),
        ("#define ALL try { } catch (...) { }\nALL", "2:1", "'try' is not supported in Metal"),
        ('#line 7 "a.metal"\nint* p = new int;', "", "a.metal:7:10: error: 'new' is not supported"),
        ("long unsigned int long v = 1;", "1:1", "'long long' is not supported in Metal"),
        ("threadgroup int t{3};", "1:17", "cannot be initialized"),
        ("threadgroup int t(3);", "1:17", "cannot be initialized"),
        ("device float d = 1;", "1:14", "'d': a local variable cannot be in the device"),
        ("float* p = (float*)__builtin_alloca(int(a[0])); p[0] = 1;", "1:20", "fixed size"),
        ("void* p = &&end; end: out[0] = p != nullptr;", "1:7", "address of a label"),
        ("#pragma clang __debug crash", "1:15", "'__debug' is not supported in Metal"),
        ('_Pragma("clang __debug parser_crash")', "1:16", "'__debug' is not supported in Metal"),
        ("int __am_x = 1;", "1:5", "'__am_x': names that begin with __am_ belong to AnyMetal"),
        ("#define __am_kernel f", "1:9", "'__am_kernel': names that begin with __am_"),
        ("int K$ = 1;", "1:5", "'K$': AnyMetal writes this name for the number 4."),
        ("// $5\n#define H$5 1", "2:9", "'H$5': AnyMetal writes this name for the number 1.5"),
        ("#pragma STDC FENV_ACCESS ON\nout[0] = a[0] + s;", "2:15", "floating-point environment"),
    ],
)
def test_in_the_body(body: str, place: str, text: str) -> None:
    error = place_and_text(body, "")
    assert error.startswith(f"k: source:{place}: error: " if place else text), error
    assert text in error


@pytest.mark.parametrize(
    "header",
    [
        "static inline int f() { return 1; }",
        "static int f(int a);\nstatic int f(int a) { return a; }",
        "constant float g = 1; static constant int h[2] = {1, 2}; constexpr constant int i = 3;",
        "struct S { static constexpr constant int n = 3; int main() { return n; } };",
        "struct S { S(const thread S&) = delete; S() = default; };",
        "#define CONST static constant\nCONST int g = 3;",
        "#define TYPED(T) static inline T f_##T(T v) { return v; }\nTYPED(int) TYPED(float)",
        "kernel void k2(device float* o) { threadgroup float t[4]; t[0] = o[0]; o[1] = t[0]; }",
        "template <typename V> [[kernel]] void k2(device V* o) { threadgroup V t; t = o[0]; }",
        "inline int f(threadgroup float* p, device int* q) { return int(p[0]) + q[0]; }",
        "inline int f() { long a = 1l, b = 0xFFL; return int(a + b + 'L'); }",
        "enum E { a, b }; union U { int i; float f; }; typedef int T3[3];",
        "// static int s; goto delete long long 1.0L __debug\n#if 0\nint s;\n#endif",
    ],
)
def test_what_only_looks_like_it(header: str) -> None:
    compile_to_ir(kernel_source("out[0] = 1;", header))


def test_a_pointer_to_a_member_is_no_array_of_variable_size() -> None:
    header = "struct P { int a; int f() const { return a; } };"
    body = "P p = {1}; int (P::*m)() const = &P::f; out[0] = (p.*m)();"
    compile_to_ir(kernel_source(body, header))


def test_the_preprocessor_runs_only_if_macros_may_hide_something() -> None:
    assert not may_hide(kernel_source("out[0] = N;", "#define N 3\n#define M(x) (2 * (x))\n"))
    assert may_hide(kernel_source("LL v = 1;", "#define LL \\\n  long long\n"))
    assert may_hide(kernel_source("#ifdef N\nlong long v;\n#endif"))
    compile_to_ir(kernel_source("out[0] = 1;\n#if 0\nlong long v = 1.0L;\n#endif"))


def test_many_errors_are_cut_and_long_lines_too() -> None:
    source = kernel_source("long long v; " * 5000)
    assert len(find_forbidden(source)) == 5000
    with pytest.raises(MetalCompileError) as caught:
        compile_to_ir(source)
    assert len(str(caught.value)) < 30_000 and "There are more" in str(caught.value)
