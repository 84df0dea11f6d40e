"""Several kernels in one run of Clang: each comes out as if it had been alone."""

from __future__ import annotations

import pytest

import anymetal
from anymetal.errors import AnyMetalError, UnsupportedFeatureError
from anymetal.frontend.batch import Raw, compile_batch
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.complaints import Complaint
from anymetal.source import LibrarySource
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.front_end_profile import profile_for
from anymetal.targets.cpu.variant import variant_for

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
TEXT = HEAD + (
    "constant int N [[function_constant(0)]];\n"
    "constant float table[4] = {1, 2, 3, 5};\n"
    "struct Pair { float a, b; };\n"
    "inline float helper(float x) { return x * table[uint(x) & 3]; }\n"
    "template <typename T, int W> kernel void f(device T* x, constant Pair& p [[buffer(1)]],\n"
    "threadgroup T* a [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]]) {\n"
    "threadgroup T own[W]; own[i % W] = x[i]; a[i] = x[i] + T(p.a) * N;\n"
    "threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = a[W - 1 - i] + own[i % W]; }\n"
    'template [[host_name("f_float")]] [[kernel]] decltype(f<float, 32>) f<float, 32>;\n'
    'template [[host_name("f_int")]] [[kernel]] decltype(f<int, 8>) f<int, 8>;\n'
    "namespace ns { kernel void g(device float4* x, uint i [[thread_position_in_grid]])\n"
    "{ x[i] = exp(x[i]) * helper(x[i].y) * N; } }\n"
    "kernel void number(device int* x) { *x = N; }\n"
)


def sources(text: str) -> list[LibrarySource]:
    library = anymetal.metal_library(text)
    constants = dict.fromkeys(library.function_constants, 2)
    return [
        library[name].source(constants, dict.fromkeys(library[name].threadgroup_memory, 256))
        for name in library.kernel_names
    ]


def test_machine_code_is_that_of_each_alone() -> None:
    profile, variant = profile_for(""), variant_for((256, 1, 1), (32, 1, 1))
    given = sources(TEXT)
    for source, raw in zip(given, compile_batch(given, profile), strict=True):
        assert isinstance(raw, Raw)
        alone = compile_to_ir(source, profile)
        assert compile_kernel(source, variant, None, raw.ir) == compile_kernel(
            source, variant, None, alone
        )


@pytest.mark.parametrize(
    ("text", "error", "place"),
    [
        ("x[i] = x[i].size;", anymetal.errors.MetalCompileError, r"metal_library:3:\d+: error: "),
        ("x[i] = again(i);", UnsupportedFeatureError, r"metal_library:\d+:\d+: recursion"),
    ],
)
def test_an_error_is_that_of_its_kernel(text: str, error: type[AnyMetalError], place: str) -> None:
    template = (
        "template <typename T> kernel void f(device T* x, uint i [[thread_position_in_grid]])"
    )
    again = "template <typename T> T again(T i) { return i < 2 ? 1 : again(i - 1) * again(i-2); }\n"
    made = 'template [[host_name("wrong")]] [[kernel]] decltype(f<float>) f<float>;\n'
    right = "kernel void right(device float* x) { x[0] = 1; }\n"
    head = HEAD if "size" in text else HEAD + again
    given = sources(f"{head}{template} {{ {text} }}\n{made}{right}")
    found = dict(zip([s.name for s in given], compile_batch(given, profile_for("")), strict=True))
    assert isinstance(found["right"], Raw)
    assert isinstance(found["wrong"], error)
    with pytest.raises(error, match=place):
        raise found["wrong"]


def test_complaints_are_those_of_each_alone() -> None:
    given = sources(
        HEAD + "template <typename T> T least(T a) { return min(a, uint(3)); }\n"
        "template <typename T> kernel void f(device T* x) { *x = least(*x); }\n"
        'template [[host_name("f_int")]] [[kernel]] decltype(f<int>) f<int>;\n'
        'template [[host_name("f_uint")]] [[kernel]] decltype(f<uint>) f<uint>;\n'
        'template [[host_name("f_long")]] [[kernel]] decltype(f<long>) f<long>;\n'
    )
    found = {}
    for source, raw in zip(given, compile_batch(given, profile_for("")), strict=True):
        assert isinstance(raw, Raw)
        alone: list[Complaint] = []
        assert raw.ir == compile_to_ir(source, profile_for(""), alone)
        assert raw.heard == alone
        found[source.name] = [one.rule for one in alone]
    assert found == {"f_int": ["ambiguous-call"], "f_uint": [], "f_long": ["ambiguous-call"]}
