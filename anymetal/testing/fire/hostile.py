"""Pieces of text that front ends stumble over, and texts that take long.

None is forbidden as such (forbidden.py has those): what counts is that each is compiled or refused
in the way that is promised.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

#: Letters, marks, what is no letter, what is invisible, and what is no text.
CHARACTERS = (
    *"aZ_09 \t\n\r\f\v\0\x01\x1a\x7f\"'\\/*#(){}[]<>;:,.?!$@`~^%&|+-=",
    *"äßλπ中文字😀\u00a0\u200b\u200e\u202e\u2028\ufeff\ufffd\U0010ffff\u0301²½Ⅷ\u037e",
)

NUMBERS = tuple(
    """0 1 -1 00 08 0x 0xg 0b2 1e 1e+ 1e999 1e-999 0x1p 0x1p5 1.0L 1.0l 1.0q 1.0hf 1.0H 1.0bf 1BF
    1.f 1.h .5 1..2 1'000 1''0 1' 0x1'p3 10u 10lu 10ull 10ul 10ll 10uz 10i 1.0i 1.0fi
    2147483647 2147483648 4294967295 4294967296 9223372036854775807 9223372036854775808
    18446744073709551615 18446744073709551616 99999999999999999999999999999999 0xffffffffffffffffff
    1.0f16 1.0bf16 1.0f128 1.0dd 12_x 12_b 1.0_b 0b11111111111111111111111111111111111111
    3.4028236e38f 1e-46f 0x1.fffffep127f 65520.0h 1e10h 1e40bf 1.7976931348623157e308""".split()
)

TYPES = tuple(
    """bool char uchar short ushort int uint long ulong half bfloat float double void size_t
    int8_t uint64_t float2 float3 float4 half4 bfloat2 int4 uint3 bool2 char3 packed_float3
    float2x2 float4x4 half3x3 simdgroup_float8x8 atomic_int atomic_uint atomic_float auto
    complex64_t float16_t bfloat16_t __fp16 _Float16 __bf16 __int128 __float128 _BitInt(7)
    _BitInt(200) _Atomic(int) _Complex wchar_t char16_t char32_t char8_t ptrdiff_t unsigned signed
    decltype(1.0) decltype(nullptr) __builtin_va_list __m128 texture2d<float> sampler array<int,3>
    vec<float,3> vec<float,5> vec<int,0> matrix<float,9,9> atomic<double> T U""".split()
)


def _lines(name: str) -> tuple[str, ...]:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return tuple(line for line in text.split("\n") if line)


#: Statements and expressions; `{n}` is a small number, so that names differ.
STATEMENTS = _lines("statements.txt")

#: Lines for the header, or for the body where the preprocessor reads them; `¶` ends a line.
DECLARATIONS = tuple(line.replace("¶", "\n") for line in _lines("declarations.txt"))


def statement(rng: random.Random) -> str:
    """A line for a body."""
    return rng.choice(STATEMENTS).replace("{n}", str(rng.randrange(10))) + "\n"


def declaration(rng: random.Random) -> str:
    """Lines for a header."""
    return rng.choice(DECLARATIONS) + "\n"


def large(rng: random.Random) -> str:
    """A statement that is long, deep or wide."""
    n = rng.choice((10, 100, 255, 256, 257, 1000, 3000, 20000))
    return rng.choice(_LARGE)(n) + "\n"


_LARGE: tuple[Callable[[int], str], ...] = (
    lambda n: "{" * n,
    lambda n: "}" * n,
    lambda n: "(" * n,
    lambda n: "[" * n + "1" + "]" * n,
    lambda n: "out[0] = " + "(" * n + "1" + ")" * n + ";",
    lambda n: "{" * n + "out[0] = 1;" + "}" * n,
    lambda n: "out[0] = " + "-" * n + "1;",
    lambda n: "out[0] = " + "- " * n + "1;",
    lambda n: "out[0] = " + "!" * n + "1;",
    lambda n: "out[0] = " + "1 + " * n + "1;",
    lambda n: "out[0] = " + "out[0] + " * min(n, 3000) + "1;",
    lambda n: "out[0] = " + "1 ? 2 : " * n + "1;",
    lambda n: "out[0] = " + "sin(" * min(n, 255) + "1" + ")" * min(n, 255) + ";",
    lambda n: "if (out[0] > 1) " * min(n, 1000) + "out[0] = 1;",
    lambda n: "if (out[0] > 1) ; else " * min(n, 1000) + "out[0] = 1;",
    lambda n: "while (out[0] < 1) " * min(n, 40) + "out[0] = 1;",
    lambda n: "for (int i = 0; i < 3; ++i) " * min(n, 30) + "out[0] += 1;",
    lambda n: "switch (int(out[0])) {" + "".join(f"case {i}: " for i in range(n)) + "; }",
    lambda n: (
        "switch (int(out[0])) {"
        + "".join(f"case {i}: out[0] = {i * i}; break; " for i in range(min(n, 1000)))
        + "}"
    ),
    lambda n: "int " + "*" * n + "p;",
    lambda n: "int p" + "[1]" * min(n, 1000) + ";",
    lambda n: "int " + "v" * n + " = 1;",
    lambda n: "out[0] = " + "9" * n + ";",
    lambda n: "out[0] = 0." + "1" * n + "f;",
    lambda n: "out[0] = 1e" + "9" * n + "f;",
    lambda n: "out[0] = 0x" + "f" * n + ";",
    lambda n: 'out[0] = sizeof("' + "x" * n + '");',
    lambda n: "// " + "x" * n * 10,
    lambda n: "/* " + "*" * n * 10,
    lambda n: "/*" * n,
    lambda n: " " * n * 20 + ";",
    lambda n: "\\\n" * n + ";",
    lambda n: "\n" * n + "nonsense",
    lambda n: ";" * n,
    lambda n: '"' * n,
    lambda n: "'" * n,
    lambda n: "#" * n,
    lambda n: "#if 1\n" * n,
    lambda n: "#endif\n" * n,
    lambda n: "#if 1\n" * n + "#endif\n" * n,
    lambda n: "#define F(" + ",".join(f"a{i}" for i in range(n)) + ")",
    lambda n: "".join(f"#define M{i} M{i + 1} " + "\n" for i in range(n)) + "M0;",
    lambda n: "vec<" * n + "float",
    lambda n: "vec<" * n + "float" + ",4>" * n + " v;",
    lambda n: "a::" * n + "b;",
    lambda n: "out" + ".x" * n + " = 1;",
    lambda n: "out[0] = float4(1)" + ".xyzw" * min(n, 500) + ".x;",
    lambda n: "f(" + "1, " * n + "1);",
    lambda n: "auto f = " + "[](auto v) { return " * min(n, 100) + "1" + "; }" * min(n, 100) + ";",
    lambda n: "int a[] = {" + "1, " * n + "}; out[0] = a[int(out[0])];",
    lambda n: "int a[] = " + "{" * n + "1" + "}" * n + ";",
    lambda n: "threadgroup " * n + "float x;",
    lambda n: "volatile " * n + "int x;",
    lambda n: "const " * n + "device float* p = out;",
    lambda n: "long " * n + "x;",
    lambda n: "unsigned " * n + "x;",
    lambda n: "namespace n { " * n + "}" * n,
    lambda n: "struct S { " * n + "int a; " + "};" * n,
    lambda n: (
        "int v0 = 1; "
        + "".join(f"int v{i + 1} = v{i} * 3; " for i in range(min(n, 3000)))
        + "out[0] = v0;"
    ),
    lambda n: "int v = int(out[0]); " + "v = v * 3 + 1; " * min(n, 3000) + "out[0] = v;",
    lambda n: (
        "float t[4]; "
        + "".join(f"t[{i % 4}] = out[{i}]; " for i in range(min(n, 1000)))
        + "out[0] = t[int(out[0]) & 3];"
    ),
    lambda n: "[[" * n + "x" + "]]" * n + ";",
    lambda n: "[[" + ", ".join("a" for _ in range(n)) + "]] int x;",
    lambda n: "out[0] = " + "<:" * n + ";",
    lambda n: ") const device" * n + ";",
    lambda n: "operator bool() const { return 1; }\n" * min(n, 300),
    lambda n: "[[threadgroup(" * n,
    lambda n: "[[function_constant(" * n + "0" + ")]]" * n + ";",
    lambda n: "static_cast<half>(" * n,
    lambda n: 'os_log_default.log("' + "%d " * min(n, 300) + '"' + ", 1" * min(n, 300) + ");",
    lambda n: "nonsense" + "; nonsense" * n + ";",
    lambda n: "x\\" * n,
    lambda n: "é" * n + ";",
)

#: Texts that take for ever, or for all memory, unless somebody stops the compiler.
BOMBS = (
    (
        "",
        "#define A0 out[0] += 1;\n"
        + "".join(f"#define A{i + 1} A{i} A{i}\n" for i in range(40))
        + "A40\n",
    ),
    (
        "template <int N, int M> struct F { static constexpr long v = F<N - 1, 2 * M>::v + "
        "F<N - 1, 2 * M + 1>::v; };\n"
        "template <int M> struct F<0, M> { static constexpr long v = M; };\n",
        "out[0] = F<28, 0>::v;\n",
    ),
    (
        "constexpr int slow(int n) { int s = 0; for (int i = 0; i < 1000000; ++i) s += i ^ n; "
        "return s; }\n",
        "".join(f"constexpr int c{i} = slow({i});\n" for i in range(1000)),
    ),
    (
        "template <typename A, typename B> struct P {};\n"
        "template <int N, typename V> struct D { using type = "
        "typename D<N - 1, P<V, P<V, V>>>::type; };\n"
        "template <typename V> struct D<0, V> { using type = V; };\n",
        "D<60, int>::type v = 1;\n",
    ),
)
