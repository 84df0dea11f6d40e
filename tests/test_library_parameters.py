"""`metal_library`: every form of a parameter, instantiations and function constants."""

from __future__ import annotations

import ctypes
import struct
from typing import Any, NamedTuple

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.frontend.code_base import code_base
from anymetal.frontend.library_text import read_library

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
FLOATS = ((8,), mx.float32)
UINTS = ((8,), mx.uint32)


class Case(NamedTuple):
    """A text, the call of its kernel `k`, and the first output."""

    text: str
    values: tuple[Any, ...]
    expected: Any
    options: dict[str, Any] = {}  # noqa: RUF012
    prelude: Any = "metal"


def run(case: Case) -> np.ndarray:
    library = anymetal.metal_library(HEAD + case.text, prelude=case.prelude)
    options = {"grid": 8, "threadgroup": 8} | case.options
    return np.array(library["k"](*case.values, **options)[0])


class Scale(ctypes.Structure):
    _fields_ = [("factor", ctypes.c_float), ("offset", ctypes.c_int32)]


PARAMETERS = {
    "keyword": Case(
        "kernel void k(device float* o [[buffer(0)]], uint i [[thread_position_in_grid]])"
        "{ o[i] = i; }",
        (FLOATS,),
        range(8),
    ),
    "attribute": Case(
        "[[kernel, max_total_threads_per_threadgroup(64)]] void\n"
        "k(device float *out [[buffer(0)]], const uint my_name [[thread_position_in_grid]])\n"
        "{ out[my_name] = 2 * my_name; }",
        (FLOATS,),
        range(0, 16, 2),
    ),
    "order of numbers": Case(
        "kernel void k(device const int* b [[buffer(5)]], device int* o [[ buffer( 2 ) ]],\n"
        "const device int* a [[buffer(0)]], uint i [[thread_position_in_grid]])"
        "{ o[i] = a[i] - b[i]; }",
        (mx.arange(8), ((8,), mx.int32), mx.full((8,), 3)),
        range(-3, 5),
    ),
    "numbers assigned": Case(
        "kernel void k(device const int* b, device int* o [[buffer(0)]], constant int& c,\n"
        "uint i [[thread_position_in_grid]]) { o[i] = b[i] * c; }",
        (((8,), mx.int32), mx.arange(8), 5),
        range(0, 40, 5),
    ),
    "scalar references": Case(
        "kernel void k(device float* o, constant float& f, constant uint& u, constant half& h,\n"
        "constant bfloat& b, constant bool& yes, constant long& l, constant uchar& c,\n"
        "uint i [[thread_position_in_grid]]) { o[i] = yes ? f + u + h + b + l + c : -1; }",
        (FLOATS, 0.5, 2**23, 1.5, 2.0, True, -(2**23), 200),
        [204] * 8,
    ),
    "vector references": Case(
        "kernel void k(device float* o, constant float3& v, constant packed_float3& p,\n"
        "constant uint2& u, uint i [[thread_position_in_grid]])\n"
        "{ o[i] = v.z * 100 + p.y * 10 + u.x; }",
        (FLOATS, (1, 2, 3), (4, 5, 6), [7, 8]),
        [357] * 8,
    ),
    "struct as ctypes": Case(
        "struct Scale { float factor; int offset; };\n"
        "kernel void k(device float* o, constant Scale& s, uint i [[thread_position_in_grid]])\n"
        "{ o[i] = i * s.factor + s.offset; }",
        (FLOATS, Scale(0.5, 10)),
        np.arange(8) / 2 + 10,
    ),
    "struct as bytes, pointer": Case(
        "struct Scale { float factor; int offset; };\n"
        "kernel void k(device float* o, constant Scale* s, uint i [[thread_position_in_grid]])\n"
        "{ o[i] = i * s[1].factor + s[1].offset; }",
        (FLOATS, bytes(Scale(1, 2)) + bytes(Scale(2, 3))),
        np.arange(8) * 2 + 3,
    ),
    "constant pointer from numbers": Case(
        "kernel void k(device float* o, constant float* c, uint i [[thread_position_in_grid]])\n"
        "{ o[i] = c[i % 2]; }",
        (FLOATS, [1.5, -2]),
        [1.5, -2] * 4,
    ),
    "scalars as arrays": Case(
        "kernel void k(device float* o, constant float& a, constant float& b,\n"
        "uint i [[thread_position_in_grid]]) { o[i] = a - b; }",
        (FLOATS, mx.array(3.0), np.float32(1)),
        [2] * 8,
    ),
    "vectors of floats": Case(
        "kernel void k(device float2* o, device const float2* a,\n"
        "uint i [[thread_position_in_grid]]) { o[i] = a[i].yx; }",
        (((4, 2), mx.float32), mx.arange(8, dtype=mx.float32)),
        [[1, 0], [3, 2], [5, 4], [7, 6]],
        {"grid": 4},
    ),
    "complex and bfloat": Case(
        "kernel void k(device complex64_t* o, device const bfloat* a, constant complex64_t& c,\n"
        "uint i [[thread_position_in_grid]]) { o[i] = c * complex64_t(float(a[i]), 0); }",
        (((8,), mx.complex64), mx.arange(8, dtype=mx.bfloat16), 1 + 2j),
        np.arange(8) * (1 + 2j),
        prelude="mlx",
    ),
    "void pointer": Case(
        "kernel void k(device float* o, device const void* a, uint i [[thread_position_in_grid]])"
        "{ o[i] = static_cast<device const int*>(a)[i]; }",
        (FLOATS, mx.arange(8)),
        range(8),
    ),
    "atomic": Case(
        "kernel void k(device atomic_uint* o, uint i [[thread_position_in_grid]])"
        "{ atomic_fetch_add_explicit(&o[i & 1], i, memory_order_relaxed); }",
        (mx.array([100, 200], dtype=mx.uint32),),
        [112, 216],
    ),
    "output reference": Case(
        "kernel void k(device float& o, uint i [[thread_position_in_grid]]) { if (!i) o = 7; }",
        (((1,), mx.float32),),
        [7],
    ),
    "old contents": Case(
        "kernel void k(device int* o, uint i [[thread_position_in_grid]]) { o[i] += 10; }",
        (mx.arange(16)[::2],),
        range(10, 26, 2),
    ),
    "no attributes": Case(
        "kernel void k(device float* o) { o[0] = 1; }", (((1,), mx.float32),), [1], {"grid": 1}
    ),
    "uint2 grid": Case(
        "kernel void k(device uint* o, uint2 p [[thread_position_in_grid]],\n"
        "uint2 size [[threads_per_grid]]) { o[p.y * size.x + p.x] = p.y * 10 + p.x; }",
        (((2, 3), mx.uint32),),
        [[0, 1, 2], [10, 11, 12]],
        {"grid": (3, 2), "threadgroup": (2, 2)},
    ),
    "uint3 grid": Case(
        "kernel void k(device uint* o, uint3 p [[thread_position_in_grid]],\n"
        "uint3 n [[threads_per_grid]]) { o[(p.z * n.y + p.y) * n.x + p.x] = p.z; }",
        (((2, 2, 2), mx.uint32),),
        [[[0, 0], [0, 0]], [[1, 1], [1, 1]]],
        {"grid": (2, 2, 2), "threadgroup": (2, 1, 1)},
    ),
    "ushort forms": Case(
        "kernel void k(device uint* o, ushort2 p [[thread_position_in_threadgroup]],\n"
        "ushort3 g [[threadgroup_position_in_grid]], ushort i [[thread_index_in_threadgroup]],\n"
        "ushort x [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]])\n"
        "{ o[x] = p.x + 10 * g.x + 100 * i + 1000 * lane; }",
        (UINTS,),
        [(i % 4) * 1101 + (i // 4) * 10 for i in range(8)],
        {"threadgroup": 4},
    ),
    "threadgroup pointer": Case(
        "kernel void k(device float* o [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],\n"
        "threadgroup uint2* t [[threadgroup(1)]], uint i [[thread_position_in_threadgroup]])\n"
        "{ s[i] = i; t[i] = uint2(i, 2 * i); threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        "o[i] = s[7 - i] + 100 * t[7 - i].y; }",
        (FLOATS,),
        [201 * i for i in range(7, -1, -1)],
        {"threadgroup_memory": {0: 32, 1: 64}},
    ),
    "threadgroup, many gangs": Case(
        "kernel void k(device float* o, threadgroup float* s, uint i [[thread_position_in_grid]],"
        "uint l [[thread_index_in_threadgroup]])\n"
        "{ s[l] = i; threadgroup_barrier(mem_flags::mem_threadgroup); o[i] = s[255 - l]; }",
        (((1024,), mx.float32),),
        np.arange(1024).reshape(4, 256)[:, ::-1].reshape(-1),
        {"grid": 1024, "threadgroup": 256, "threadgroup_memory": {0: 1024}},
    ),
    "threadgroup reference and variable": Case(
        "kernel void k(device int* o, threadgroup int& sum, uint i [[thread_position_in_grid]])\n"
        "{ threadgroup int first[1]; if (!i) { sum = 5; first[0] = 6; }\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup); o[i] = sum + first[0]; }",
        (((8,), mx.int32),),
        [11] * 8,
    ),
    "namespace": Case(
        "namespace a { namespace b { constant int c = 3; kernel void f(device int* o)"
        "{ o[0] = c; } } }\nnamespace a::b {\ntemplate <typename T> kernel void g(device T* o)\n"
        '{ o[0] = c + 1; }\ntemplate [[host_name("k")]] kernel void g<int>(device int* o); }',
        (((1,), mx.int32),),
        [4],
    ),
    "namespace with its own types": Case(
        "namespace a { namespace b { struct Twice { int operator()(int x) { return 2 * x; } };\n"
        "template <typename F> kernel void f(device int* o) { o[0] = F()(4); } }\n"
        'template [[host_name("k")]] [[kernel]] decltype(b::f<b::Twice>) b::f<b::Twice>; }',
        (((1,), mx.int32),),
        [8],
    ),
    "instantiation in a comment": Case(
        '// template [[host_name("x")]] makes kernels\n'
        "kernel void k(device int* o) { o[0] = 1; }\n"
        "/* template\n[[host_name(1)]] */ constant int x = 3;\n",
        (((1,), mx.int32),),
        [1],
    ),
    "types that sound like textures": Case(
        "struct depth_params { int a; }; struct sampler_config { int b; };\n"
        "kernel void k(device int* texture, constant depth_params& d, constant sampler_config* s)"
        "{ texture[0] = d.a + s->b; }",
        (((1,), mx.int32), struct.pack("i", 3), struct.pack("i", 4)),
        [7],
    ),
    "two function constants": Case(
        "#define INDEX 12\nconstant int A [[function_constant(11)]], B [[function_constant(3)]];\n"
        "constant half2 C [[function_constant(INDEX)]];\n"
        "constant int D [[function_constant(010)]];\n"
        "kernel void k(device int* o) { o[0] = 10000 * A + 100 * B + int(C.y) * D; }",
        (((1,), mx.int32),),
        [10203],
        {"constants": {"A": 1, 3: 2, 8: 1, 12: (4, 3)}},
    ),
    "numbers that are computed": Case(
        "#define FIRST 1200\nconstant int A [[function_constant(FIRST + 0)]];\n"
        "constant bool B [[function_constant((FIRST | 1) << 1)]];\n"
        "kernel void k(device int* o [[buffer(2 * (1 + 1))]], constant int& x [[buffer(4 - 1)]])\n"
        "{ o[0] = 10 * A + B + x; }",
        (500, ((1,), mx.int32)),
        [571],
        {"constants": {"A": 7, 2402: True}},
    ),
    "what the host reads of a launch": Case(
        "#include <metal_stdlib>\n#include <TargetConditionals.h>\nusing namespace metal;\n"
        "kernel void k(device MTLDispatchThreadgroupsIndirectArguments& a) {\n"
        "a.threadgroupsPerGrid[0] = TARGET_OS_OSX; a.threadgroupsPerGrid[1] = TARGET_OS_IOS;\n"
        "a.threadgroupsPerGrid[2] = sizeof(MTLDrawIndexedPrimitivesIndirectArguments); }",
        (((3,), mx.uint32),),
        [1, 0, 20],
    ),
    "numbers that have names": Case(
        "typedef enum Buffers { In = 0, Out = 2, Scale, More = Scale + 2, } Buffers;\n"
        "namespace n { constant constexpr int first = 11; static constant uint next = first + 1;\n"
        "enum : uint { T0, T1 }; void f() { enum { In = 7 }; } enum class S { In = 9 }; }\n"
        "constant int A [[function_constant(n::first)]];\n"
        "constant int B [[function_constant(2 * n::next)]];\n"
        "kernel void k(device const int* x [[buffer(In)]], device int* y [[buffer(Out)]],\n"
        "    constant int& s [[buffer(::Scale)]], constant int& m [[buffer(More + 0)]],\n"
        "    threadgroup int* t [[threadgroup(n::T1)]],\n"
        "    threadgroup int* u [[threadgroup(n::T0)]])\n"
        "{ t[0] = *x * s; u[3] = m; y[0] = 10000 * A + 1000 * B + 100 * t[0] + u[3]; }",
        (mx.array([1]), ((1,), mx.int32), 2, 3),
        [54203],
        {"constants": {"A": 5, "B": 4}, "threadgroup_memory": {0: 16, 1: 16}},
    ),
    "kernel as a word": Case(
        'constant char t[] = "a kernel"; // kernel\n'
        '#define FLAVOUR [[host_name("kernel x"), kernel]]\n'
        "FLAVOUR void f(device int* o) { o[0] = sizeof(t); }\n"
        '[[host_name("k")]] static kernel void g(device int* o) { o[0] = t[2]; }',
        (((1,), mx.int32),),
        [ord("k")],
    ),
    "macros": Case(
        "#define AT(n) [[buffer(n)]]\n#define POSITION uint i [[thread_position_in_grid]]\n"
        "#define MAKE(name) kernel void name(device int* o AT(0), POSITION) { o[i] = i; }\n"
        "MAKE(k)",
        (((8,), mx.int32),),
        range(8),
    ),
    "comments, conditions, prototypes": Case(
        "// kernel void k(texture2d<float> t [[texture(0)]])\n"
        "#if 0\nkernel void k(sampler s [[sampler(0)]]) {}\n#endif\n"
        'struct kernel_args { int x[2]; }; constant char text[] = "kernel void k(";\n'
        "kernel void k(device int* o, /* [[buffer(9)]] */ uint i [[thread_position_in_grid]]);\n"
        "kernel void k(device int* o, uint i [[thread_position_in_grid]]) { o[i] = text[i]; }",
        (((8,), mx.int32),),
        list(b"kernel v"),
    ),
    "extern C, lambdas, attributes": Case(
        'extern "C" {\nconstant auto twice = [](int x) { return 2 * x; };\n'
        "kernel void k(device int* o [[maybe_unused]], uint i [[thread_position_in_grid]])\n"
        "{ o[i] = twice(i); }\n}",
        (((8,), mx.int32),),
        range(0, 16, 2),
    ),
    "decltype instantiation": Case(
        "template <typename T, int N>\n[[kernel]] void f(device T* o [[buffer(0)]], uint i "
        "[[thread_position_in_grid]]) { o[i] = T(i) + N; }\n"
        'template [[host_name("k")]] [[kernel]] decltype(f<half, (2 > 1)>) f<half, (2 > 1)>;',
        (((8,), mx.float16),),
        range(1, 9),
    ),
    "instantiation by macro": Case(
        "template <typename T, int N>\n[[kernel]] void f(device T* o, uint i "
        "[[thread_position_in_grid]]) { o[i] = T(i) + N; }\n"
        "#define instantiate(name, ...)           \\\n"
        "  template [[host_name(                  \\\n"
        "      name)]] [[kernel]] decltype(f<__VA_ARGS__>) f<__VA_ARGS__>;\n"
        '#define both(n, N) instantiate("f" #n, float, N) instantiate(#n, uint, N)\n'
        "both(k, 4);",
        (UINTS,),
        range(4, 12),
    ),
    "instantiation by its parameters": Case(
        "template <typename T> kernel void f(device T* o [[buffer(0)]], constant T& a "
        "[[buffer(1)]], uint i [[thread_position_in_grid]]) { o[i] = T(i) / 2 + a; }\n"
        'template [[host_name("k")]] kernel void f(device float* o [[buffer(0)]], constant '
        "float& a [[buffer(1)]], uint i [[thread_position_in_grid]]);",
        (FLOATS, 1.0),
        [1 + i / 2 for i in range(8)],
    ),
    "host name of a plain kernel": Case(
        '[[host_name("k")]] kernel void other(device int* o) { o[0] = 9; }',
        (((1,), mx.int32),),
        [9],
    ),
    "math of Metal": Case(
        "kernel void k(device float* o, uint i [[thread_position_in_grid]])\n"
        "{ o[i] = simd_sum(fast::sqrt(float(i * i)) + 1.0bf + 0.5h); }",
        (FLOATS,),
        [40] * 8,
    ),
}


@pytest.mark.parametrize("case", PARAMETERS.values(), ids=PARAMETERS.keys())
def test_parameters(case: Case) -> None:
    np.testing.assert_array_equal(run(case), np.array(case.expected))


CONSTANTS = HEAD + (
    "constant int N [[function_constant(0)]];\n"
    "constant float3 V [[ function_constant(3) ]];\n"
    "constant bool B [[function_constant(7)]];\n"
    "constant int derived = is_function_constant_defined(B) ? (B ? 1000 : 2000) : 3000;\n"
    "template <int M> int times(int x) { return x * N * M; }\n"
    "kernel void k(device float* o) { o[0] = times<1>(1) + V.y + derived; }\n"
    "kernel void plain(device float* o) { o[0] = derived; }\n"
    "kernel void switched(device float* o, device const float* a [[buffer(1), "
    "function_constant(B)]], device float* b [[buffer(2)]] [[function_constant(B)]])\n"
    "{ o[0] = 1; if (B) { o[0] = a[0]; b[0] = a[0] + 1; } }\n"
)


@pytest.mark.parametrize(
    ("constants", "expected"),
    [
        ({"N": 3, "V": (0, 0.5, 0)}, 3003.5),
        ({0: -(2**31), 3: [0, 2.0, 0]}, 3002.0 - 2**31),
        ({"N": 1, 3: (1, 2, 3), "B": True}, 1003),
        ({"N": 1, 3: (1, 2, 3), "B": False}, 2003),
        ({"N": np.int32(1), "V": (0, float("inf"), 0)}, float("inf")),
    ],
)
def test_function_constants(constants: dict[Any, Any], expected: float) -> None:
    library = anymetal.metal_library(CONSTANTS)
    assert library.function_constants == {"N": 0, "V": 3, "B": 7}
    (out,) = library.k(((1,), mx.float32), grid=1, threadgroup=1, constants=constants)
    assert out.item() == np.float32(expected)


def test_a_kernel_needs_only_its_own_function_constants() -> None:
    library = anymetal.metal_library(CONSTANTS)
    (out,) = library.plain(((1,), mx.float32), grid=1, threadgroup=1)
    assert out.item() == 3000
    with pytest.raises(ValueError, match="without a value: N, V"):
        library.k(((1,), mx.float32), grid=1, threadgroup=1)
    with pytest.raises(ValueError, match=r"no function constant 'M'; the library has: N \(0\)"):
        library.k(((1,), mx.float32), grid=1, threadgroup=1, constants={"M": 1})


def test_constants_that_a_kernel_does_not_use_make_no_other_kernel() -> None:
    plain = anymetal.metal_library(CONSTANTS).plain
    given = {"N": 2, "V": (1, 2, 3)}
    assert plain.source({**given, "B": True}) == plain.source({"B": True})
    assert plain.source({"B": False}) != plain.source({"B": True})


def test_arguments_that_function_constants_switch() -> None:
    switched = anymetal.metal_library(CONSTANTS).switched
    one = ((1,), mx.float32)
    out, none = switched(one, None, None, grid=1, threadgroup=1, constants={"B": False})
    assert (out.item(), none) == (1, None)
    out, other = switched(one, mx.array([5.0]), one, grid=1, threadgroup=1, constants={"B": True})
    assert (out.item(), other.item()) == (5, 6)


@pytest.mark.parametrize("case", PARAMETERS.values(), ids=PARAMETERS.keys())
def test_what_is_overwritten_moves_nothing(case: Case) -> None:
    text = HEAD + case.text
    compiled = read_library(
        code_base(text, "metal_library", prelude=case.prelude), "safe"
    ).code.text
    assert [len(line) for line in compiled.split("\n")] == [len(x) for x in text.split("\n")]
