"""Finding kernels in text: what is one, what is none, and which names it leads to."""

from __future__ import annotations

import pytest

from anymetal.errors import MetalCompileError
from anymetal.frontend.expanded import SourceFile, tokens_of
from anymetal.frontend.scan import Found, scan


def found_in(text: str) -> Found:
    """As if the preprocessor had nothing to do."""
    tokens = list(tokens_of(f'# 1 "x.metal"\n{text}', "x.metal"))
    return scan(tokens, SourceFile("x.metal", {"x.metal": text}))


@pytest.mark.parametrize(
    ("text", "kernels"),
    [
        ("", []),
        ("void f(); int kernels(int kernel_size) { return kernel_size; }", []),
        ("kernel void f();", ["f"]),
        ("[[kernel]] void f() {}", ["f"]),
        ('[[host_name("a" "b"), kernel]] void f(int x [[buffer(0)]]) {}', ["f"]),
        ("static constant int a[2][3] = {{1, 2, 3}, {4, 5, 6}}; kernel void f() {}", ["f"]),
        ("struct S { int f(int a) { return a; } } s = {}, t; kernel void g() {}", ["g"]),
        ("struct S : B<(1 > 2)> { S() : x{1} {} int x; }; kernel void g() {}", ["g"]),
        ("enum class E : uint { a, b = 2 }; union U { int a; }; kernel void g() {}", ["g"]),
        ("template <int N, bool B = (N > 2)> struct S {}; kernel void g(S<(1 > 0)> s) {}", ["g"]),
        ("template <> struct S<1> { int x; }; kernel void g() {}", ["g"]),
        ("bool operator<(A a, B b) { return a.x < b.x; } kernel void g() {}", ["g"]),
        ("constant bool less = 1 < 2; kernel void g() {}", ["g"]),
        ("constant auto f = [](int x) { return x; }; kernel void g() {}", ["g"]),
        ("constant int3 v {1, 2, 3}; kernel void g() {}", ["g"]),
        ("auto f(int x) -> int { return x; } kernel void g() {}", ["g"]),
        (
            "using namespace metal; using A = B<int>; typedef void (*F)(int); kernel void g() {}",
            ["g"],
        ),
        ("namespace a = b::c; inline namespace d { kernel void g() {} }", ["d::g"]),
        (
            "namespace { kernel void f() {} } namespace a::b { kernel void g() {} }",
            ["f", "a::b::g"],
        ),
        ('extern "C" kernel void f() {} extern "C" { kernel void g() {} }', ["f", "g"]),
        ("__attribute__((always_inline)) int h() { return 1'000; } kernel void g() {}", ["g"]),
        ("kernel void f() { char c = '{'; auto s = \"}\"; int a[2]; a[a[0]] = 1; }", ["f"]),
        (";;; kernel void f() {};;", ["f"]),
    ],
)
def test_kernels(text: str, kernels: list[str]) -> None:
    assert list(found_in(text).functions) == kernels


def test_a_parameter() -> None:
    function = found_in(
        "kernel void f(const device metal::vec<float, 4>* __restrict a [[ buffer(0x2) ]] "
        '[[user_annotation("x, y")]], constant int (&b)[3], uint2 c [[attr, other(1, (2))]]) {}'
    ).functions["f"]
    a, b, c = function.parameters
    assert (a.name.text, b.name.text, c.name.text) == ("a", "b", "c")
    assert [x.name.text for x in a.attributes] == ["buffer", "user_annotation"]
    assert a.attributes[0].number(SourceFile("", "")) == 2
    assert [(x.name.text, len(x.arguments)) for x in c.attributes] == [("attr", 0), ("other", 5)]


@pytest.mark.parametrize(
    "text",
    [
        'template [[host_name("x")]] [[kernel]] decltype(f<float, 1>) f<float, 1>;',
        'template [[host_name("x")]] kernel void f<float, 1>(device float* a [[buffer(0)]]);',
        'template [[kernel, host_name("x")]] decltype(a::f<float, 1>) a::f<float, 1>;',
        'namespace a { template [[host_name("x")]] [[kernel]] decltype(f<float, 1>) f<float, 1>; }',
        'typedef void (t)(device float*); template [[host_name("x")]] kernel t f<float, 1>;',
        'template [[host_name("x")]] kernel a::t a::f<float, 1>;',
    ],
)
def test_instantiations(text: str) -> None:
    template = "template <typename T, int N> [[kernel]] void f(device T* a) {}\n"
    found = found_in(f"namespace a {{ {template} }}\nusing namespace a;\n{text}")
    (instantiation,) = found.instantiations
    assert instantiation.host_name == "x"
    assert instantiation.function.path == "a::f"
    assert instantiation.call.removeprefix("a::").replace(" ", "") == "f<float,1>"


def test_an_instantiation_whose_arguments_follow_from_its_parameters() -> None:
    found = found_in(
        "template <typename T> kernel void f(device T* a [[buffer(0)]], uint i [[position]]) {}\n"
        'template [[host_name("x")]] kernel void f(device int* a, uint i [[position]]);'
    )
    (instantiation,) = found.instantiations
    assert instantiation.call == "(*static_cast<void (*)(device int * a, uint i)>(f))"


def test_names_that_a_kernel_leads_to() -> None:
    found = found_in(
        "constant int A [[function_constant(0)]], B [[function_constant(1)]];\n"
        "constant int C [[function_constant(2)]]; constant int D [[function_constant(3)]];\n"
        "constant int E [[function_constant(4)]];\n"
        "template <typename T> __attribute__((x)) T helper(T x) { return x + C; }\n"
        "struct Op { int operator()() { return D; } };\n"
        "int operator+(Op a, Op b) { return 1; }\n"
        "template <typename F> kernel void f(device int* o) { o[0] = helper(1); }\n"
    )
    assert [(c.name, c.index) for c in found.constants] == [
        ("A", 0), ("B", 1), ("C", 2), ("D", 3), ("E", 4),
    ]  # fmt: skip
    reached = found.reach.of(["f", "Op"])
    assert {"helper", "C", "D"} <= reached
    assert "E" not in reached and "A" not in reached


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("kernel void f(int a {}", "1:14: error: this '(' is never closed|1:22: error: unexpected"),
        ("kernel void f(A<int a) {}", "1:16: error: this '<' is never closed"),
        ("void f() {\n  if (x) {\n}", "1:10: error: this '{' is never closed"),
        ("namespace a {\n}\n }", "3:2: error: extraneous"),
        ("void f() { (] }", "1:13: error: unexpected ']'"),
        ("constant int x [[function_constant(N)]];", "1:36: error"),
        ("constant int x [[function_constant(1 + N)]];", "1:40: error"),
        ("enum { N = 1 }; enum { N = 2 }; constant int x [[function_constant(N)]];", "1:8: error"),
        ('template [[host_name("x")]] decltype(f) f;', "1:38: error: no kernel 'f'"),
    ],
)
def test_errors_name_line_and_column(text: str, place: str) -> None:
    with pytest.raises(MetalCompileError) as caught:
        found_in(text)
    assert any(f"x.metal:{each}" in str(caught.value) for each in place.split("|"))
