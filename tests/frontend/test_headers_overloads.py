"""The type of a call: mixed arguments find the overload that Metal means, or the common type."""

from __future__ import annotations

from tests.frontend.header_harness import messages, table

_VARIABLES = """
float f = 1; half h = 1; bfloat b = 1; int i = 1; uint u = 1; long l = 1; ulong ul = 1; short s = 1;
char c = 1; uchar uc = 1; signed char sc = 1; bool yes = true;
float4 v4; float3 v3; half3 hv; int4 iv; uchar4 uv; bool4 bv; packed_float3 pv; float3x4 m34;
complex64_t z; const int shape[2] = {2, 3}; const long strides[2] = {3, 1};
"""

#: A call and the type of its result.
_CALLS = table("""
max(f, 0.0f) => float
max(f, 0) => float
max(0, f) => float
max(f, u) => float
min(u, i) => uint
min(u, 3) => uint
min(i, 3) => int
min(l, i) => long
min(u, ul) => ulong
max(h, h) => half
max(h, 0.0f) => float
max(h, 0) => half
max(h, 0.0h) => half
max(b, b) => bfloat
max(b, 0) => bfloat
max(b, f) => float
max(h, b) => float
max(c, c) => char
max(uc, uc) => uchar
max(s, s) => short
clamp(h, f, f) => float
clamp(f, 0, 1) => float
clamp(u, 0, 255) => uint
clamp(i, 0.5f, 1) => float
clamp(v4, 0.0f, 1.0f) => float4
min(v4, 1) => float4
max(iv, 0) => int4
fma(h, f, f) => float
fma(f, 2, 1) => float
pow(f, 2) => float
pow(h, 2) => half
pow(2, f) => float
exp(h) => half
exp(b) => bfloat
exp(i) => float
sqrt(u) => float
floor(f) => float
abs(i) => int
abs(h) => half
abs(u) => uint
abs(l) => long
abs(sc) => char
fabs(i) => float
mix(f, f, 0.5) => float
mix(v4, v4, 0.5f) => float4
step(0.5, f) => float
select(f, 0, true) => float
select(ul, u, true) => ulong
select(v4, v4, bv) => float4
select(v4, 0.0f, bv) => float4
isnan(v4) => bool4
isnan(f) => bool
isfinite(h) => bool
sign(f) => float
dot(v4, v4) => float
length(hv) => half
normalize(hv) => half3
cross(hv, hv) => half3
exp(v4) => float4
exp(hv) => half3
exp(pv) => float3
dot(pv, pv) => float
dot(pv, v3) => float
absdiff(i, i) => uint
clz(uc) => uchar
popcount(i) => int
ldexp(f, i) => float
ldexp(f, u) => float
atan2(f, 1) => float
fmod(f, 2) => float
fast::exp(f) => float
precise::exp(h) => half
metal::exp(b) => bfloat
fast::max(f, 0) => float
metal::precise::rsqrt(f) => float
copysign(h, f) => float
ilogb(v4) => int4
v4 * 2 => float4
2 * v4 => float4
v4 < 0 => bool4
uv + 1 => uchar4
iv << 1 => int4
pv + pv => float3
pv * 2 => float3
v3 + pv => float3
-pv => float3
!bv => bool4
bv && bv => bool4
~iv => int4
iv == iv => bool4
h * 2 => half
h * 2.0 => float
b * f => float
uc + uc => int
v4.x => float
v4.xy => float2
hv.zyx => half3
as_type<uint>(f) => uint
as_type<half2>(u) => half2
as_type<uint2>(ul) => uint2
as_type<float3>(v4) => float3
as_type<uchar4>(u) => uchar4
as_type<int4>(v4) => int4
simd_sum(f) => float
simd_sum(h) => half
simd_sum(uc) => uchar
simd_max(v4) => float4
simd_sum(b) => bfloat
simd_shuffle_down(l, 1) => long
simd_shuffle(yes, 1) => bool
simd_shuffle_down(f, 1) => float
quad_sum(ul) => ulong
simd_shuffle_xor(hv, 1) => half3
simd_shuffle_up(z, 1) => complex64_t
simd_prefix_inclusive_sum(s) => short
z * z => complex64_t
z + 1.0f => complex64_t
2.0f / z => complex64_t
z < z => bool
log1p(h) => float
log1p(b) => bfloat
ceildiv(i, 32u) => int
elem_to_loc(u, shape, strides, 2) => uint
m34 * v3 => float4
v4 * m34 => float3
m34 * 2 => float3x4
transpose(m34) => float4x3
1.0 => float
1.0h => half
sin(1.0) => float
saturate(v4) => float4
yes ? v4 : 0.0f => float4
yes ? h : 0 => half
max3(f, 0, 1) => float
median3(i, 2, 3u) => uint
""")


def test_the_type_of_every_call() -> None:
    """One translation unit; a wrong type is an error that names the row."""
    checks = "\n".join(
        f'static_assert(is_same_v<remove_cvref_t<decltype({call})>, {kind}>, "{call}: {kind}");'
        f" (void)({call});"
        for call, kind in _CALLS.items()
    )
    assert messages(f"void f() {{ {_VARIABLES} {checks} }}") == ""
