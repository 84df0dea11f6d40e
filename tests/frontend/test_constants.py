"""Operations that C++ leaves undefined have one meaning, whoever computes them: Clang, LLVM, lanes.

Each expression is written with literals, template values, constants of a function and of the
program, with a function that Clang may evaluate, and with variables. Python's integers say what all
of them must give.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.errors import MetalCompileError
from anymetal.frontend import constants
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.dialect import as_written
from tests.frontend.kernels import kernel_source

#: Bits and sign of Metal's integers; an operation on narrower ones than int is one of int.
_TYPES = {
    "char": (8, True), "uchar": (8, False), "short": (16, True), "ushort": (16, False),
    "int": (32, True), "uint": (32, False), "long": (64, True), "ulong": (64, False),
}  # fmt: skip


def wrapped(number: int, type_: str) -> int:
    bits, signed = _TYPES[type_]
    number %= 1 << bits
    return number - (1 << bits) if signed and number >> (bits - 1) else number


def promoted(*types: str) -> str:
    widest = max(types, key=lambda t: (_TYPES[t][0], not _TYPES[t][1]))
    return widest if _TYPES[widest][0] >= 32 else "int"


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def saturated(number: float, type_: str) -> int:
    bits, signed = _TYPES[type_]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if math.isnan(number):
        return 0
    return max(low, min(high, int(number) if math.isfinite(number) else (low, high)[number > 0]))


class Case(NamedTuple):
    """An expression of `a` and `b`, which have these types and values, and its value as a long."""

    text: str
    types: tuple[str, str]
    values: tuple[float, float]
    result: int


def _shifts() -> Iterator[Case]:
    counts = {"int": (0, 5, 31, 32, 33, 40, 64, -1, -33), "uint": (32, 63, 2**32 - 1)}
    for type_, value in (
        ("int", 1), ("int", -7), ("uint", 0x9E3779B9), ("long", -(2**40) - 3), ("ulong", 2**63 + 5),
        ("char", -3), ("uchar", 200), ("short", -12345), ("ushort", 54321),
    ):  # fmt: skip
        result, (bits, _) = promoted(type_), _TYPES[promoted(type_)]
        for count_type, count in ((t, n) for t, numbers in counts.items() for n in numbers):
            types, values = (type_, count_type), (value, count)
            yield Case("a << b", types, values, wrapped(value << count % bits, result))
            yield Case("a >> b", types, values, wrapped(value >> count % bits, result))
    yield Case("(a << b) - 1u", ("uint", "uint"), (1, 32), 0)
    yield Case("a << b << 2 >> b", ("uint", "int"), (3, 33), 12)
    yield Case("~(a << b)", ("uint", "int"), (1, 34), 2**32 - 5)
    yield Case("(int)(a << (b + 33))", ("uint", "int"), (2**32 - 1, 2**31 - 1), -1)
    yield Case("a >> (b * 2)", ("uint", "int"), (8, 2**31 - 1), 0)


def _divisions() -> Iterator[Case]:
    """Who divides by 0 gets what a division by 1 gives; the smallest number has no opposite."""
    for type_ in ("int", "uint", "long", "ulong", "char", "ushort"):
        smallest = wrapped(1 << (_TYPES[type_][0] - 1), type_)
        for a, b in itertools.product((7, 0, smallest), (0, 1, -1, -3)):
            result, by = promoted(type_), wrapped(b, type_) or 1
            quotient = truncated(a, by)
            types, values = (type_, type_), (a, wrapped(b, type_))
            yield Case("a / b", types, values, wrapped(quotient, result))
            yield Case("a % b", types, values, wrapped(a - quotient * by, result))


def _overflows() -> Iterator[Case]:
    low, high = -(2**31), 2**31 - 1
    for text, value in (
        ("a + 1", low), ("a - -2", low + 1), ("a * 2", -2), ("a * a", 1), ("-b", low),
        ("b - 1", high), ("abs(b)", low), ("-(b - 1)", -high), ("a + b", -1),
        ("absdiff(a, b)", 2**32 - 1), ("addsat(a, 1)", high), ("subsat(b, 1)", low),
        ("mulhi(b, b)", 2**30), ("hadd(a, b)", -1),
    ):  # fmt: skip
        yield Case(text, ("int", "int"), (high, low), value)
    yield Case("clz(a) + ctz(b)", ("int", "uint"), (0, 0), 64)
    yield Case("clz(a) + ctz(b)", ("ulong", "long"), (0, 0), 128)
    yield Case("rotate(a, b)", ("uint", "uint"), (0x80000001, 33), 3)
    yield Case("rotate(a, b)", ("uchar", "uchar"), (0x81, 9), 3)
    yield Case("extract_bits(a, 3, b)", ("int", "uint"), (-1, 40), -1)
    yield Case("extract_bits(a, b, 4)", ("uint", "uint"), (0xABCD1234, 36), 3)
    yield Case("insert_bits(a, 15u, b, 4)", ("uint", "uint"), (0, 36), 0xF0)
    yield Case("popcount(a) + b", ("long", "int"), (-1, 0), 64)
    yield Case("as_type<int>(a) << b", ("uint", "int"), (2**32 - 1, 35), -8)


def _conversions() -> Iterator[Case]:
    numbers = (3e9, -3e9, 5e9, 1e30, math.inf, -math.inf, math.nan, 300.0, -5.0, -1.9, 40000.0)
    for type_, number in itertools.product(_TYPES, numbers):
        value = float(np.float32(number))
        expected = wrapped(saturated(value, type_), "long")
        yield Case(f"({type_})a", ("float", "int"), (value, 0), expected)
    for text, expected in (
        ("int(half(a))", 2**31 - 1), ("short(half(a))", 2**15 - 1), ("char(bfloat(a))", 127),
        ("long(bfloat(-a))", -(2**63)), ("int4(a).y", 2**31 - 1), ("uchar2(float2(-a)).x", 0),
        ("static_cast<ushort>(a)", 65535), ("(int)a + 1", -(2**31)),
        ("short3(half3(-a)).z", -(2**15)),
    ):  # fmt: skip
        yield Case(text, ("float", "int"), (float(np.float32(1e30)), 0), expected)


def _literal(type_: str, value: float) -> str:
    if type_ == "float":
        sign = "-" if value < 0 else ""
        special = "NAN" if math.isnan(value) else "INFINITY"
        return f"{value!r}f" if math.isfinite(value) else f"({sign}{special})"
    if value == -(2**63):
        return f"(-{2**63 - 1}l - 1)"
    plain = {"uint": "u", "long": "l", "ulong": "ul"}.get(type_, "")
    number = f"{value}{plain}"
    if value == -(2**31) and type_ == "int":
        number = "-2147483647 - 1"
    return f"{type_}({number})" if plain == "" and type_ != "int" else f"({number})"


def _with(text: str, a: str, b: str) -> str:
    """The expression with other operands."""
    return re.sub(r"\b[ab]\b", lambda match: {"a": a, "b": b}[match[0]], text)


def _form(form: str, index: int, case: Case) -> tuple[str, str]:
    """Text for the header and for the body, in which `r` becomes the result."""
    (one, two), text = case.types, case.text
    a, b = (_literal(t, v) for t, v in zip(case.types, case.values, strict=True))
    if form == "literals":
        return "", f"r = {_with(text, a, b)};"
    if form == "constants":
        return "", f"const {one} a = {a}; const {two} b = {b}; const auto c = {text}; r = c;"
    if form == "constexpr":
        return "", f"constexpr {one} a = {a}; constexpr {two} b = {b}; r = {text};"
    if form == "template":
        return (
            f"template <{one} a, {two} b> long f{index}() {{ return {text}; }}",
            f"r = f{index}<{a}, {b}>();",
        )
    if form == "program":
        return f"constant {one} a{index} = {a}; constant {two} b{index} = {b};" + (
            f"constant long c{index} = {_with(text, f'a{index}', f'b{index}')};"
        ), f"r = c{index};"
    if form == "function":
        return (
            f"constexpr long f{index}({one} a, {two} b) {{ return {text}; }}",
            f"const long c = f{index}({a}, {b}); r = c;",
        )
    if form == "member":
        return (
            f"struct s{index} {{ {one} a = {a}; long c = {_with(text, a, b)}; }};",
            f"s{index} s; r = s.c;",
        )
    given = "f" if one == "float" else "n"
    return (
        "",
        f"{one} a = {one}({given}[{2 * index}]); {two} b = {two}(n[{2 * index + 1}]); r = {text};",
    )


_CASES = {
    "shifts": list(_shifts()),
    "divisions": list(_divisions()),
    "overflows": list(_overflows()),
    "conversions": list(_conversions()),
}
_FORMS = (
    "literals", "constants", "constexpr", "template", "program", "function", "member", "variables",
)  # fmt: skip


def _operations() -> Iterator[Any]:
    """All forms of shifts; of the other kinds every second one by default."""
    for number, kind in enumerate(_CASES):
        for index, form in enumerate(_FORMS):
            quick = not number or (number + index) % 2
            yield pytest.param(kind, form, marks=[] if quick else pytest.mark.slow)


@pytest.mark.parametrize(("kind", "form"), list(_operations()))
def test_operations(kind: str, form: str) -> None:
    cases = _CASES[kind]
    if form == "program":  # a component of a vector out of range is an error there, see below
        cases = [case for case in cases if "." not in case.text]
    if kind == "conversions" and form == "template":
        pytest.skip("C++ has no template parameters of type float")
    texts = [_form(form, index, case) for index, case in enumerate(cases)]
    body = "\n".join(
        f"{{ long r; {text} o[{index}] = r; }}" for index, (_, text) in enumerate(texts)
    )
    kernel = anymetal.metal_kernel(
        name=f"constants_{kind}_{form}",
        input_names=["n", "f"],
        output_names=["o"],
        source=body,
        header="\n".join(text for text, _ in texts),
    )
    numbers = [0 if isinstance(v, float) else wrapped(v, "long") for c in cases for v in c.values]
    given = [mx.array(numbers, mx.int64), mx.array([float(v) for c in cases for v in c.values])]
    (result,) = kernel(
        inputs=given, grid=(1, 1, 1), threadgroup=(1, 1, 1),
        output_shapes=[(len(cases),)], output_dtypes=[mx.int64],
    )  # fmt: skip
    wrong = [
        (case, got)
        for case, got in zip(cases, np.array(result).tolist(), strict=True)
        if got != wrapped(case.result, "long")
    ]
    assert not wrong


# ------------------------------------------------------------------------------ where they stand


def marked(text: str) -> list[str]:
    """What the markers stand behind, with the next character."""
    source = constants.in_functions(kernel_source("", header=text))
    assert as_written(source.header) == text
    return re.findall(r"(\S+) *(?:<<|>>)=?__am_defined(?:<<|>>|=)", source.header)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("constexpr uint f(uint n) { return a << n; }", ["a"]),
        ("constexpr uint f(uint n) { return a << 3 | b >> 31u | c >> 32; }", ["c"]),
        ("template <class T> static constexpr T f(T n) noexcept { n <<= n; x>>y; }", ["n", "x"]),
        ("constexpr auto operator<<(S a, int n) { return a.v << n; }", ["a.v"]),
        ("struct S { constexpr S(int n) : v(q >> n) { v = w << n; } };", ["v(q", "w"]),
        ("constexpr int f() { return g<vec<int>>(1) + (i < n ? p >> q : 0); }", ["p"]),
        ("constexpr int f(int n) { using T = A<B<int>>; return h<B<int>>() + (k<B<int>>); }", []),
        ("auto l = [=](uint n) { return a << n; };", ["a"]),
        ("auto l = [&] { return a << n; };", []),
        ("constexpr uint m = a << n; uint f(uint n) { return b << n; }", []),
        ("#define F(n) (a << (n))\nconstexpr int f(int n) { return F(n); }", ["(a"]),
        ("#if 1 << N\n#endif\nconstexpr int f() { if constexpr (k) { x[a << n]; } }", ["x[a"]),
        ("uint f(uint n) { return a << n; }", []),
        ("uint f(uint n) { const uint b = n ? a << n : 3; return c << n; }", ["a"]),
        ("template <class T, A<(N > 0), B<T>>> int f() { const int b = n ? a >> n : 3; }", ["a"]),
    ],
)  # fmt: skip
def test_functions_that_clang_may_evaluate(text: str, expected: list[str]) -> None:
    assert marked(text) == expected


def _error(body: str, header: str = "") -> str:
    with pytest.raises(MetalCompileError) as caught:
        compile_to_ir(kernel_source(body, header))
    return str(caught.value)


def test_errors_beside_them_show_what_the_user_wrote() -> None:
    body = "uint x = 1u << 33; x = nothing;"
    text = _error(body)
    assert "k: source:1:24: error: use of undeclared identifier 'nothing'" in text
    assert body in text
    header = "constexpr uint f(uint n) { return 1u << n + nothing; }"
    text = _error("", header)
    assert "k: header:1:45: error: use of undeclared identifier 'nothing'" in text
    assert header in text


def test_a_warning_is_no_part_of_an_error() -> None:
    text = _error("float y = nothing; uint x = 1u << 33; int z = missing;")
    assert "warning" not in text
    assert "shift" not in text


@pytest.mark.parametrize("body", ["constexpr int x = int(3e9f);", "enum { A = (int)1e30f };"])
def test_numbers_that_are_too_large_are_no_constant_expressions(body: str) -> None:
    assert "outside the range of representable values of type 'int'" in _error(body)


def test_what_has_no_value_is_refused() -> None:
    """A shift that no marker can stand behind: the operator is in no text."""
    text = _error("#define JOIN(a, b) a##b\nint n = 1;\nout[0] = n + (1 JOIN(<,<) 33);")
    assert "k: source:3:12: error: the value of a constant expression here is undefined" in text


_MACROS = """\
#define SHIFTED(a, b) ((a) << (b))
#define ALSO_SHIFTED(a, b) SHIFTED(a, b)
#define WRAPPED (2147483647 + 6)
#define BY <<
#define HALF (EIGHT / 2)
#define EIGHT (17 % 9)
#if HALF != 4
#error
#endif
"""
#: What stands behind them if a body has this word.
_DECLARED = {
    "six_more": "constexpr int six_more(int n) { return n + 6; }",
    "GLOBAL": "constant int GLOBAL = (1 <<\n WRAPPED) + 7 /\n (2147483647 + 1 + 2147483647 + 1);",
    "Box": """
        struct Box {
          int v;
          Box operator/(int n) const { return {v - n}; }
          thread Box& operator/=(int n) { v += n; return *this; }
        };
        inline thread Box& operator<<(thread Box& box, int n) { box.v += n; return box; }
        template <typename T, enable_if_t<(sizeof(T) > 1) && is_same_v<T, vec<int, 2>>>* = nullptr>
        T same(T v) { return v; }""",
}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Clang does not say that this count, which wraps, is negative.
        ("uint v = 1u << (N + 9);", 256),
        ("uint v = SHIFTED(1u, (N + 9));", 256),
        # What has no value there is an operand of the division.
        ("uint v = (uint)SHIFTED(SHIFTED(1u, M), 3) / (uint)2;", 1 << 17),
        ("switch (2) { case 2: v = SHIFTED(SHIFTED(3u, M), 3) % (uint)7; }", (3 << 18) % 7),
        ("uint v = (1u << (N + 1)) / 1u + (8u >> (N + 2)) % 5u;", 1 + 4),
        # A wrapped count in the initialiser of a constant, and the operator in another line, in a
        # macro, or in front of a call.
        ("const uint v = SHIFTED(1, N + 6);", 32),
        ("const uint v = ALSO_SHIFTED(1, WRAPPED);", 32),
        ("const uint v = 1 BY WRAPPED;", 32),
        ("const uint v = 1 <<\n (N + 6);", 32),
        ("const uint v = 64 >> // ;\n (N + 6);", 2),
        ("const int v = -1\n <<\n -(-2147483647 - 1);", 2**32 - 1),
        ("const uint v = uint(1 <<\n int{N + 6});", 32),
        ("const uint v = 3 << six_more(N);", 96),
        ("const uint v = 1 <<\n [](int n) { return n + 6; }\n(N);", 32),
        ("const int2 pair = int2(1 <<\n (N + 6), 3); uint v = pair.x;", 32),
        ("const int pair[2] = {1 <<\n (N + 6), 3}; uint v = pair[0];", 32),
        ("const float f = 2.0 * (1 <<\n (N + 6)); uint v = f;", 64),
        ("uint v = 0; switch (1 <<\n (N + 6)) { case 32: v = 7; }", 7),
        ("uint v = 0; switch (8 /\n (N + 1 + N + 1)) { case 8: v = 7; }", 7),
        ("uint v = GLOBAL;", 32 + 7),
        # Clang does not say that something overflows there.
        ("const uint v = M ? 1 << (N + 6) : 5;", 32),
        ("const uint v = SHIFTED(1, N + 6) == 32 ? 4 : 5;", 4),
        # Divisions in macros that the preprocessor computes, too.
        ("const uint v = (1 <<\n (N + 6)) + HALF;", 36),
        # Operators of the user's change their operands.
        ("auto l = [](thread Box& b, int n) { b << n; }; Box b{1}; l(b, M); uint v = b.v;", 48),
        ("const int c = 1 <<\n (N + 6); Box b{c}; b << M << M; b /= 2; uint v = (b / M).v;", 81),
    ],
)
def test_what_follows_from_a_shift_has_a_value_too(body: str, expected: int) -> None:
    declared = "uint v = 0; " if body.startswith("switch") else ""
    text = f"{declared}{body} out[0] = v;"
    header = _MACROS + "\n".join(shown for name, shown in _DECLARED.items() if name in body)
    kernel = anymetal.metal_kernel("k", [], ["out"], text, header=header)
    (out,) = kernel(
        inputs=[],
        output_shapes=[(1,)],
        output_dtypes=[mx.uint32],
        grid=(1, 1, 1),
        threadgroup=(1, 1, 1),
        template=[("N", 2**31 - 1), ("M", 47)],
    )
    assert out.item() == expected
