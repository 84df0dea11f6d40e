"""What Metal adds to C++ as a language, and how kernels in the wild are written."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.frontend import clang
from tests.frontend.header_harness import INTEGERS, METAL_TYPES, Expressions, messages, table
from tests.frontend.kernels import kernel_source

#: Text at program scope that must compile.
_PROGRAMS = {
    "address spaces": """
        struct P { threadgroup float* p; device const float* q; constant int& n; };
        threadgroup float* shift(threadgroup float* p, uint i) { return p + i; }
        inline float get(const device float4* p, constant int& n, thread float& out) {
          out = p[n].x;
          return ((device const float*)p)[1] + *reinterpret_cast<device const float*>(p);
        }
        struct M {
          float v;
          float read() const thread { return v; }
          float other() const device { return v; }
          void write(float x) thread { v = x; }
        };
        typedef threadgroup float* shared_t;
        template <typename T> T sum(const threadgroup T* p, int n) { return n ? *p : T(0); }
        void f(device float* d) {
          threadgroup float tile[32][33]; threadgroup float one; threadgroup atomic_uint a[4];
          thread float t = 1; volatile device float* v = d; shared_t s = tile[1];
          threadgroup float4* quads = (threadgroup float4*)&tile[0][0];
          one = sum(s, 2) + *shift(s, 1) + quads->y + *v + t;
        }""",
    "program scope": """
        constant float k = 2.0; constant constexpr int N = 8; static constant uint M = 3;
        constexpr constant float table[] = {1, 2.5, 3}; constant float4 v4 = float4(1, 2, 3, 4);
        constant half lut[2][2] = {{0.5h, 1.0h}, {2.0h, 1.h}};
        float f(int i) { float a[N * M]; a[0] = k; return a[0] + table[i] + v4.x + lut[1][0]; }""",
    "attributes": """
        [[kernel]] void k1(device float* a [[buffer(0)]], uint i [[thread_position_in_grid]],
                           uint3 g [[threadgroup_position_in_grid]]) { a[i] = g.x; }
        kernel void k2(constant float& s [[buffer(1)]]) {}
        [[max_total_threads_per_threadgroup(256)]] kernel void k3() {}
        void f() { [[unroll]] for (int i = 0; i < 4; ++i) {}
          _Pragma("clang loop unroll(full)") for (int i = 0; i < 4; ++i) {}
          #pragma unroll
          for (int i = 0; i < 4; ++i) {}
          MLX_MTL_PRAGMA_UNROLL for (int i = 0; i < 4; ++i) {} }
        #pragma METAL internals : enable""",
    "includes": """
        #include <metal_stdlib>
        #include <metal_math>
        using namespace metal;
        float f(float x) {
          #include <metal_simdgroup>
          #include <metal_simdgroup_matrix>
          #include <metal_atomic>
          using namespace metal;
          return metal::exp(x) + fast::sin(x) + metal::precise::cos(x) + precise::rsqrt(x);
        }""",
    "predefined": """
        #if !defined(__METAL__) || __METAL_VERSION__ < 310 || !__HAVE_BFLOAT__
        #error not Metal
        #endif
        static_assert(sizeof(1.0) == 4 && sizeof(1.0h) == 2 && sizeof(size_t) == 8);
        static_assert(is_same_v<int64_t, long> && is_same_v<int8_t, char>);
        float f() { return FLT_MAX + INFINITY + MAXFLOAT + M_PI_F + NAN; }
        float i() { return float(INT_MAX) + float(UINT_MAX); }
        half h() { return HALF_MAX + M_E_H + MAXHALF; }""",
    "templates": """
        template <typename T, int N> T total(thread T (&a)[N]) {
          T s = T(0);
          for (int i = 0; i < N; ++i) s += a[i];
          return s;
        }
        template <typename T, int N> vec<T, N> twice(vec<T, N> v) { return v + v; }
        template <typename T> struct Acc { using type = float; };
        template <> struct Acc<int> { using type = long; };
        template <typename T, typename = enable_if_t<is_floating_point_v<T>>>
        T only(T x) { return x; }
        METAL_FUNC float f(float4 v) {
          float a[3] = {1, 2, 3};
          auto g = [&](float x) { return x * v.x; };
          if constexpr (is_same_v<Acc<int>::type, long>) return g(total(a)) + twice(v.xy).y;
          return only(1.0h);
        }""",
    "own functions beside metal's": """
        template <typename T> T max(T a, T b) { return a; }
        template <typename T> T clamp(T a, T b, T c) { return a; }
        template <typename T> T rsqrt(T a) { return a; }
        float sigmoid(float x) { return 1 / (1 + metal::exp(-x)); }
        float erf(float x) { return x; }
        float mad(float a, float b, float c) { return a * b + c; }
        template <typename T> T swap(T a) { return a; }
        float f(float x, int i) {
          return max(x, 1.0f) + max(i, 2) + clamp(x, 0.0f, 1.0f) + rsqrt(x) + sigmoid(x) + swap(x);
        }""",
    "a struct with vectors": """
        struct Ray { float3 origin; packed_half3 colour; int4 ids[2]; float2x2 m; };
        Ray move(Ray r, float t) { r.origin.xy += t; r.ids[1].x = 3; return r; }
        float f(device Ray* rays, uint i) {
          threadgroup Ray shared[4];
          shared[i] = move(rays[i], 2);
          Ray r = shared[i];
          Ray q{float3(1), half3(2)};
          return r.origin.z + q.m[1].x + array<float, 2>{1, 2}[1];
        }""",
    "operators": """
        struct Pair { float a, b; Pair operator+(Pair o) const { return {a + o.a, b + o.b}; } };
        Pair operator*(float s, Pair p) { return {s * p.a, s * p.b}; }
        bool operator<(Pair x, Pair y) { return x.a < y.a; }
        enum Mode { off, on = 3 }; enum class Kind : uint { first = 1 };
        float f(float4 v, Mode m) {
          Pair p = 2.0f * Pair{1, 2} + Pair{v.x, v.y};
          uint n = uint(Kind::first) | m;
          if (p < p or not(v.x > 1) and m == on) n <<= 1;
          switch (n) { case 1: return v[n]; default: break; }
          return (v * m).x;
        }""",
    "components as operands": """
        struct S {
          float4 v; int2 k[2];
          float sum() const { return v.x + v.w; }
          void step() { v.x += 1; this->v.yz = float2(2); k[1].y++; }
        };
        float4 make() { return float4(1); }
        float f(S s, device S* p, float4 a, float4 b, bool c, int4 i, bool4 t) {
          float arr[4]; float2 pair[2] = {a.xy, b.zw};
          float2 m = c ? a.xy : b.xy; float n = c ? a.x : 0; float z{a.z}; float y(a.y);
          a.x = b.x = 1; a.xy = b.zw = m; a.x /= 2; i.xy %= 3; i.x <<= 2; --i.x; int k = i.y--;
          p->v.x = 3; p[1].v.xyz *= 2; (*p).v.w -= 1; p->k[0].x |= 1; s.step();
          const float& r = a.x; auto g = [=]() { return a.x + b.xy.y; };
          if (t.x && !t.y) arr[i.x] = 1;
          switch (i.x) { case 1: break; }
          for (float x = a.x; x < a.y; x += a.z) arr[i.y] += x;
          union { float4 v; float f[4]; uint4 u; } u; u.v = a;
          return s.sum() + make().zw.x + float(i.x) + (float)i.y + static_cast<float>(i.z) + r +
                 dot(a.xyz, b.zyx) + clamp(a.xy, 0.0f, 1.0f).x + pow(a.x, 2) + simd_sum(a.x) +
                 min(i.x, 3) + g() + pair[1].x + k + u.f[2] + sizeof(a.x) + m.x + n + z + y;
        }""",
    "components in templates": """
        template <typename V> auto f(V v) {
          v.x += v.y; v.x++; --v.y; v.xy *= 2; v.xy = v.yx; v.z = 1 + v.x * v.y; v.w = -v.x;
          V w = v * 2 + 1; w.x = max(v.x, v.y); w.yz += v.xy * 2; float s = 0; s += v.x;
          if (v.x < 1 && !v.y) return v;
          return v.x == v.y ? v : w;
        }
        template <typename T> void g(const device T* in, device T* out, uint3 tid, float4 v) {
          out[tid.x] = in[tid.y + 1] * T(v.x); tid.x += 1; v.xy *= 2; v.x += float(in[tid.z]);
          vec<T, 4> d = T(0); d.x = in[0]; d.y += in[1]; d.zw = d.xy * T(2); out[1] = d.x;
          packed_vec<T, 3> p = d.xyz; p.x += 1; p *= 2; out[2] = p.x * p[1];
          for (uint k = tid.x; k < tid.y; k += tid.z) out[k] = max(d.x, d.y);
        }
        void use(float4 a, half4 h, int4 i, float* x, bfloat* b) {
          f(a); f(h); f(i); g(x, x, uint3(1), a); g(b, b, uint3(1), a);
        }""",
    "threadgroup memory and lanes": """
        float f(device float* x, uint lane, uint group) {
          threadgroup float partial[32];
          float s = simd_sum(x[lane]);
          if (lane == 0) partial[group] = s;
          threadgroup_barrier(mem_flags::mem_threadgroup);
          s = simd_sum(lane < 8 ? partial[lane] : 0.0f);
          uint mask = (uint)(simd_vote::vote_t)simd_ballot(s > 0);
          return simd_broadcast(s, 0) + simd_shuffle_xor(s, ushort(1)) + popcount(mask);
        }""",
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_program(name: str) -> None:
    assert messages(_PROGRAMS[name]) == ""


_LIMITS = "max min lowest epsilon infinity denorm_min quiet_NaN".split()


def test_numeric_limits() -> None:
    kinds = [*INTEGERS, np.float16, np.float32]
    rows = [f"numeric_limits<{METAL_TYPES[t]}>::{what}()" for t in kinds for what in _LIMITS]
    rows += [f"numeric_limits<{METAL_TYPES[t]}>::digits" for t in kinds]
    run = Expressions(rows)
    for t in kinds:
        prefix = f"numeric_limits<{METAL_TYPES[t]}>::"
        if t in (np.float16, np.float32):
            info = np.finfo(t)
            wanted = [info.max, info.tiny, info.min, info.eps, np.inf, info.smallest_subnormal]
            assert np.isnan(run(f"{prefix}quiet_NaN()")[0])
            digits = info.nmant + 1
        else:
            limits = np.iinfo(t)
            wanted = [limits.max, limits.min, limits.min, 0, 0, 0]
            digits = limits.bits - (limits.min < 0)
        for what, value in zip(_LIMITS, wanted, strict=False):
            assert run(f"{prefix}{what}()") == [float(value)], (t, what)
        assert run(f"{prefix}digits") == [digits]


_CONSTANTS = table("""
M_PI_F => 3.1415927410125732
M_PI_H => 3.140625
M_PI_BF => 3.140625
MAXHALF => 65504
MAXBFLOAT => 3.3895313892515355e38
numeric_limits<bfloat>::epsilon() => 0.0078125
numeric_limits<bfloat>::max() => 3.3895313892515355e38
numeric_limits<bfloat>::min() => 1.1754943508222875e-38
numeric_limits<bool>::max() => 1
INT_MIN => -2147483648
sizeof(conditional_t<true, char, int>) + sizeof(make_unsigned_t<short>) => 3
""")


def test_constants() -> None:
    run = Expressions(list(_CONSTANTS))
    for row, value in _CONSTANTS.items():
        assert run(row) == [float(value)], row


def test_type_traits() -> None:
    checks = """
    is_same_v<remove_cvref_t<const float&>, float>; is_floating_point_v<half>; is_signed_v<bfloat>
    is_floating_point<bfloat>::value; is_integral_v<ulong>; !is_integral_v<half>; is_scalar_v<half>
    is_convertible_v<half, float>; !is_convertible_v<half, bfloat>; is_unsigned_v<uchar>
    is_same_v<enable_if_t<true, int>, int>; is_same_v<decltype(declval<int>() + 1L), long>
    conjunction<true_type, is_pointer<int*>>::value; negation<false_type>::value
    is_same_v<common_type_t<half, float>, float>; integral_constant<int, 3>::value == 3
    is_arithmetic_v<bool>; is_enum_v<memory_order>; is_same_v<decay_t<int[3]>, int*>
    """
    rows = [check.strip() for check in checks.replace("\n", ";").split(";") if check.strip()]
    assert messages("".join(f"static_assert({row});" for row in rows)) == ""


def test_functions_leave_no_trace_in_debug_information() -> None:
    """An instruction that comes out of our headers belongs to the user's line."""
    ir = clang.compile_to_ir(kernel_source("out[0] = max(exp(a[0]), 0.0f) + float4(1).x;"))
    files = [line for line in ir.splitlines() if "!DIFile(" in line]
    assert files
    assert not [line for line in files if "umbrella" in line or ".h" in line]


def test_vectors_vanish_into_registers() -> None:
    """After optimisation nothing is left of classes, properties and calls."""
    from anymetal.frontend import optimise

    body = """
    const device float4* v = (const device float4*)a;
    uint i = thread_position_in_grid.x;
    float4 x = v[i]; x.xy = x.wz * 2; float3 y = cross(x.xyz, float3(x.x, 1, 2));
    half2 h = as_type<half2>(as_type<uint>(y.z)); packed_float3 p = y; bool3 b = y < p * 2;
    float4x4 m(2); x = m * x;
    out[i] = dot(x, float4(y, h.x)) + (any(b) ? 1 : 0) + clamp(x, 0.0f, 1.0f).y + simd_sum(y.y);
    """
    source = kernel_source(body)
    text = str(optimise.optimise(clang.compile_to_ir(source)))
    function = text[text.index("@__am_kernel") :]
    assert "alloca" not in function
    assert "memcpy" not in function
    assert "double" not in function
