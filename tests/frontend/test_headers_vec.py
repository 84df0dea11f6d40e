"""Vectors, packed vectors and matrices: layout, components, operators, conversions."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.frontend.header_harness import Expressions, messages, table

_VARIABLES = """
float4 a(1, 2, 3, 4), b(-1, 0.5, 8, 2); float3 c(1, 2, 3), d(3, -1, 2); float2 e(5, 6);
half4 h(1, 2, 3, 4); int4 i(7, -7, 100, 3); int4 j(2, 2, -3, 5); uchar4 u(250, 1, 128, 255);
uint2 w(1, 0x80000000); bool4 t(true, false, true, true); packed_float3 p(1, 2, 3);
packed_half2 q(0.5h, 2); char3 s(-128, 1, 5); long2 l(1l << 40, -1); float x = 2; int n = 3;
float2x3 m(c, d); float3x3 k(float3(2, 0, 1), float3(0, 3, 0), float3(1, 1, 4));
float4x4 f(2); f[1][2] = 5; f[3].xy = e;
"""

_VALUES = table("""
# components
a.x => 1
a.w => 4
a.zy => 3 2
a.bgra => 3 2 1 4
a.xxyw => 1 1 2 4
c.zzz => 3 3 3
e.yxyx => 6 5 6 5
a[2] => 3
a[n] => 4
a.x = 9; a => 9 2 3 4
a.wx = e; a => 6 2 3 5
a.xy = a.yx; a => 2 1 3 4
a.yz += 10; a => 1 12 13 4
a.w *= 2; a => 1 2 3 8
a.z++; a => 1 2 4 4
a[1] = 7; a => 1 7 3 4
a[n] = 7; a => 1 2 3 7
c.rgb = float3(7); c => 7 7 7
auto v = a.zw; v.x = 1; v => 1 4
# constructors and conversions
float4(2) => 2 2 2 2
float4(e, 1, 2) => 5 6 1 2
float4(1, e, 2) => 1 5 6 2
float4(c, 9) => 1 2 3 9
float4(9, c) => 9 1 2 3
float3(e, a.w) => 5 6 4
float4(e, e) => 5 6 5 6
float4 v = {1, e, 2}; v => 1 5 6 2
float4 v = {}; v => 0 0 0 0
float4 v = 3; v => 3 3 3 3
int4(float4(1.9, -1.9, 0.5, 7)) => 1 -1 0 7
float2(w) => 1 2147483648
uchar4(i) => 7 249 100 3
half4(a) => 1 2 3 4
float4(h) + 0.5 => 1.5 2.5 3.5 4.5
bool4(i - 3) => 1 1 1 0
int4(t) => 1 0 1 1
float4(t) => 1 0 1 1
bfloat4(1, 2, 257, 0.5) => 1 2 256 0.5
half2(bfloat2(1.5, 3)) => 1.5 3
short4 v = 100000; v => -31072 -31072 -31072 -31072
# arithmetic in the element type
a + b => 0 2.5 11 6
a - b => 2 1.5 -5 2
a * x => 2 4 6 8
x * a => 2 4 6 8
2 * a - 1 => 1 3 5 7
a / b => -1 4 0.375 2
-c => -1 -2 -3
u + u => 244 2 0 254
u + 10 => 4 11 138 9
u * u => 36 1 0 1
s - 1 => 127 0 4
i / j => 3 -3 -33 0
i % j => 1 -1 1 3
i & 6 => 6 0 4 2
i | j => 7 -5 -3 7
i ^ i => 0 0 0 0
~j => -3 -3 2 -6
i << 33 => 14 -14 200 6
i >> 1 => 3 -4 50 1
w >> 31 => 0 1
u << 9 => 244 2 0 254
h * 2 => 2 4 6 8
h + 2048 => 2048 2050 2052 2052
l + 1 => 1099511627777 0
a += b; a => 0 2.5 11 6
a *= 2; a => 2 4 6 8
i <<= 1; i => 14 -14 200 6
++i; i => 8 -6 101 4
i++; i => 8 -6 101 4
i++ => 7 -7 100 3
# comparison and logic
a < b => 0 0 1 0
a >= b => 1 1 0 1
a == float4(1, 0, 3, 0) => 1 0 1 0
a != 2 => 1 0 1 1
t && !t => 0 0 0 0
t || bool4(false, true, false, false) => 1 1 1 1
!t => 0 1 0 0
not(t) => 0 1 0 0
t == true => 1 0 1 1
any(t) => 1
all(t) => 0
all(bool3(true)) => 1
any(c > 3) => 0
select(a, b, t) => -1 2 8 2
select(a, b, false) => 1 2 3 4
select(1, 2, true) => 2
select(i, j, i > j) => 2 -7 -3 3
isnan(float3(1, NAN, INFINITY)) => 0 1 0
isfinite(float3(1, NAN, INFINITY)) => 1 0 0
isinf(half2(-HUGE_VALH, 1)) => 1 0
isnormal(float2(1e-40, 1)) => 0 1
signbit(float2(-0.0, 0.0)) => 1 0
isunordered(1.0f, NAN) => 1
# common and maths by components
max(a, b) => 1 2 8 4
min(i, 3) => 3 -7 3 3
clamp(a, 1.5, 3) => 1.5 2 3 3
abs(i) => 7 7 100 3
floor(a * 0.5) => 0 1 1 2
mix(c, d, 0.5) => 2 0.5 2.5
step(2, a) => 0 1 1 1
sign(b) => -1 1 1 1
sqrt(float2(4, 9)) => 2 3
fma(a, b, 1) => 0 2 25 9
saturate(b) => 0 0.5 1 1
popcount(i) => 3 30 3 2
clz(u) => 0 7 0 0
addsat(u, 10) => 255 11 138 255
absdiff(i, j) => 5 9 103 2
rotate(u, 1) => 245 2 1 255
extract_bits(u, 1, 3) => 5 0 0 7
# geometric
dot(c, d) => 7
dot(h, h) => 30
cross(c, d) => 7 7 -7
cross(float3(1, 0, 0), float3(0, 1, 0)) => 0 0 1
length(float2(3, 4)) => 5
length_squared(c) => 14
distance(float2(1, 1), float2(4, 5)) => 5
distance_squared(c, d) => 14
normalize(float2(3, 4)) => 0.6 0.8
normalize(half2(3, 4)) => 0.60009765625 0.7998046875
faceforward(c, d, d) => -1 -2 -3
reflect(float2(1, -1), float2(0, 1)) => 1 1
refract(float2(0, -1), float2(0, 1), 0.5f) => 0 -1
refract(normalize(float2(1, -0.1)), float2(0, 1), 2.0f) => 0 0
dot(p, c) => 14
# packed
p + p => 2 4 6
p * 2 => 2 4 6
float3(p) => 1 2 3
p.zx => 3 1
p.y = 5; p => 1 5 3
p.xz = e; p => 5 2 6
p[1] = 9; p => 1 9 3
p = c * 2; p => 2 4 6
p += c; p => 2 4 6
packed_float3 v = d; v => 3 -1 2
q.x => 0.5
half2(q) * 2 => 1 4
packed_uchar4(1, 2, 3, 300) => 1 2 3 44
p == c => 1 1 1
exp2(p) => 2 4 8
# as_type
as_type<uint>(1.0f) => 1065353216
as_type<float>(0x40000000) => 2
as_type<uchar4>(0x04030201u) => 1 2 3 4
as_type<uint>(uchar4(1, 2, 3, 4)) => 67305985
as_type<half2>(0x40003c00u) => 1 2
as_type<uint2>(0x200000001ul) => 1 2
as_type<ulong>(uint2(1, 2)) => 8589934593
as_type<int4>(a).x => 1065353216
as_type<float3>(a) => 1 2 3
as_type<char>(uchar(200)) => -56
as_type<ushort>(1.0h) => 15360
as_type<bfloat>(ushort(0x4040)) => 3
# matrices
m[1] => 3 -1 2
m[1][2] => 2
m[1].zy => 2 -1
m => 1 2 3 3 -1 2
float2x2(1, 2, 3, 4)[1] => 3 4
float2x2(3) => 3 0 0 3
float3x2(2) => 2 0 0 2 0 0
half2x2(float2x2(1, 2, 3, 4)) => 1 2 3 4
m + m => 2 4 6 6 -2 4
m - m * 2 => -1 -2 -3 -3 1 -2
-m => -1 -2 -3 -3 1 -2
2 * m => 2 4 6 6 -2 4
m * float2(1, 2) => 7 0 7
c * m => 14 7
k * c => 5 9 13
k * k => 5 1 6 0 9 0 6 7 17
transpose(m) => 1 3 2 -1 3 2
determinant(float2x2(1, 2, 3, 4)) => -2
determinant(k) => 21
determinant(f) => 16
f[3] => 5 6 0 2
f * a => 22 28 16 8
m += m; m => 2 4 6 6 -2 4
k *= 2; k[0] => 4 0 2
float3x3 v = k; v[2] = c; v[2] => 1 2 3
m == m => 1
m != m => 0
""")


@pytest.fixture(scope="module")
def values() -> Expressions:
    return Expressions(list(_VALUES), _VARIABLES)


@pytest.mark.parametrize("row", _VALUES)
def test_value(values: Expressions, row: str) -> None:
    assert values(row) == pytest.approx([float(v) for v in _VALUES[row].split()], rel=3e-7)


def test_layout() -> None:
    checks = []
    for size, names in {
        1: "bool char uchar",
        2: "short ushort half bfloat",
        4: "int uint float",
        8: "long ulong",
    }.items():
        for name in names.split():
            for n in (2, 3, 4):
                stored = size * (4 if n == 3 else n)
                checks.append(f"sizeof({name}{n}) == {stored} && alignof({name}{n}) == {stored}")
                if name != "bool":
                    packed = f"packed_{name}{n}"
                    checks.append(f"sizeof({packed}) == {size * n} && alignof({packed}) == {size}")
    for columns in (2, 3, 4):
        for rows in (2, 3, 4):
            stored = 4 if rows == 3 else rows
            checks.append(f"sizeof(float{columns}x{rows}) == {4 * columns * stored}")
            checks.append(f"sizeof(half{columns}x{rows}) == {2 * columns * stored}")
    # Threadgroup arrays must not be initialised by each thread that declares them.
    checks += [
        f"__is_trivially_constructible({t})" for t in ("float3", "packed_half3", "half4x4", "bool2")
    ]
    assert messages("".join(f"static_assert({check});\n" for check in checks)) == ""


def test_constant_expressions() -> None:
    text = """
    constexpr float4 a(1, float2(2, 3), 4);
    static_assert(a.z == 3 && a.wx[0] == 4 && (a * 2 + 1).y == 5);
    static_assert(all(a == float4(1, 2, 3, 4)) && any(a > 3));
    constant int3 table[2] = {int3(1, 2, 3), {4, 5, 6}};
    static_assert(max(3, 4) == 4 && clamp(7, 0, 5) == 5 && as_type<uint>(1.0f) == 0x3f800000);
    static_assert(numeric_limits<half>::max() == 65504 && popcount(7u) == 3);
    """
    assert messages(text) == ""


_ERRORS = [
    "float4 v = int4(1);",
    "float4 v = float2(1);",
    "float v = float4(1);",
    "auto v = float4(1) + int4(1);",
    "float4 v(1, 2, 3);",
    "float4 v(1, 2, 3, 4, 5);",
    "float4 v(float3(1), float2(1));",
    "float2 v; v.z = 1;",
    "float2 v; float z = v.z;",
    "float4 v; v.xx = float2(1);",
    "float4 v; float2 z = v.xg;",
    "float4 v; float* z = &v.x;",
    "float4 v = float4(1) % 2;",
    "float4 v = float4(1) & 2;",
    "bool4 v = bool4(true) + bool4(true);",
    "float4 v; if (v) {}",
    "auto v = dot(int3(1), int3(1));",
    "bfloat b = half(1);",
    "float4 v; v.xy[0] = 1;",
    "auto v = as_type<uint>(half(1));",
    "simd_sum(1l);",
    "metal::simd_shuffle(1l, 0);",
    "threadgroup_barrier();",
    "atomic<half> h;",
    "atomic_uint x; atomic_uint y = x;",
    "atomic_float x; atomic_fetch_max_explicit(&x, 1, memory_order_relaxed);",
    "complex64_t z; bool b = z != z;",
]


@pytest.mark.parametrize("statement", _ERRORS)
def test_error(statement: str) -> None:
    """What Metal refuses, we refuse, and Clang's error points at the user's line."""
    said = messages(f'#line 1 "user"\nvoid f() {{ {statement} }}')
    assert "user:1:" in said
    assert "error:" in said


def test_a_component_in_memory_is_accessed_alone() -> None:
    """Threads that write different components of one vector must not overwrite each other's."""
    library = Expressions([], preamble=_MEMORY).library
    memory = np.zeros(64, np.float32)
    start = -memory.ctypes.data % 16 // 4
    vector = memory[start : start + 8]
    vector[:] = range(8)
    library.writes(vector.ctypes.data_as(ctypes.c_void_p))
    assert vector.tolist() == [0, 10, 2, 3, 4, 20, 30, 7]


_MEMORY = """
extern "C" void writes(device float4* p) { p[0].y = 10; p[1].yz = float2(20, 30); }
"""
