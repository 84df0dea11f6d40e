"""`metal_library`: calls, names, errors, and kernels that MLX ships."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.errors import (
    KernelLaunchError,
    KernelLoadError,
    KernelMemoryError,
    MetalCompileError,
)

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
FLOATS = ((8,), mx.float32)

ADD = HEAD + (
    "kernel void add(device const float* a [[buffer(0)]], device float* b [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { b[i] += a[i]; }\n"
    "kernel void texture(device const float* a, uint i [[thread_position_in_grid]]) {}\n"
)


def test_mlx_arrays_stay_as_they_are() -> None:
    library = anymetal.metal_library(ADD)
    a = mx.arange(6, dtype=mx.float32)
    b = mx.ones(6)
    alias = b
    (out,) = library.add(a, b, grid=6, threadgroup=32)
    assert out.tolist() == [1, 2, 3, 4, 5, 6]
    assert b.tolist() == alias.tolist() == [1] * 6
    (out,) = library.add(out, out, grid=6, threadgroup=32)
    assert out.tolist() == [2, 4, 6, 8, 10, 12]


def test_numpy_arrays_are_written_in_place() -> None:
    library = anymetal.metal_library(ADD)
    a, b = np.arange(6, dtype=np.float32), np.ones(6, np.float32)
    (out,) = library.add(a, b, grid=6, threadgroup=32)
    assert out is b
    assert b.tolist() == [1, 2, 3, 4, 5, 6]
    library.add(b, b, grid=6, threadgroup=32)
    assert b.tolist() == [2, 4, 6, 8, 10, 12]
    frozen = a[::-1].copy()
    frozen.flags.writeable = False
    library.add(frozen, b, grid=6, threadgroup=32)  # reading is fine
    library.add(np.arange(12, dtype=np.float32)[::2], b, grid=6, threadgroup=32)
    assert b.tolist() == [7, 10, 13, 16, 19, 22]
    for array in (frozen, np.zeros(12, np.float32)[::2]):
        with pytest.raises(KernelLaunchError, match=r"read only|not contiguous"):
            library.add(a, array, grid=6, threadgroup=32)


def test_torch_tensors_are_written_in_place() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.ones(4)
    anymetal.metal_library(ADD).add(torch.arange(4.0), tensor, grid=4, threadgroup=4)
    assert tensor.tolist() == [1, 2, 3, 4]


def test_empty_grid() -> None:
    (out,) = anymetal.metal_library(ADD).add(mx.ones(3), mx.zeros(3), grid=0, threadgroup=1)
    assert out.tolist() == [0, 0, 0]


def test_names() -> None:
    library = anymetal.metal_library(ADD, name="x.metal")
    assert library.kernel_names == ["add", "texture"]
    assert {"add", "texture", "kernel_names"} <= set(dir(library))
    assert repr(library) == "<metal_library x.metal: add, texture>"
    assert repr(library.add) == "<kernel add(a: const float32*, b: float32*) of x.metal>"
    with pytest.raises(AttributeError, match="no kernel 'sub'; it has: add, texture"):
        library.sub  # noqa: B018
    with pytest.raises(KeyError, match="no kernel 'sub'"):
        library["sub"]
    assert not hasattr(library, "_repr_html_")


def test_a_file(tmp_path: Any) -> None:
    path = tmp_path / "some kernels.metal"
    path.write_text(ADD)
    for source in (path, str(path)):
        library = anymetal.metal_library(source)
        assert library.kernel_names == ["add", "texture"]
    path.write_text(ADD.replace("+=", "+* "))
    with pytest.raises(MetalCompileError, match=r"some kernels\.metal:4:61: error"):
        anymetal.metal_library(path)


CALLS = {
    "missing buffer": (
        (mx.ones(3),),
        {},
        TypeError,
        r"2 buffers \(a: const float32\*, b: float32\*\), got 1",
    ),
    "wrong dtype": (
        (mx.arange(3), mx.ones(3)),
        {},
        TypeError,
        "`a` .* needs an array of float32, got int32",
    ),
    "wrong dtype, NumPy": (
        (np.ones(3), mx.ones(3)),
        {},
        TypeError,
        "float32, got float64",
    ),
    "wrong dtype, output": (
        (mx.ones(3), ((3,), mx.int32)),
        {},
        TypeError,
        "`b` .* float32, got int32",
    ),
    "number for an output": ((mx.ones(3), 3), {}, TypeError, r"pair \(shape, dtype\).*not int"),
    "None": ((mx.ones(3), None), {}, TypeError, "`b` is None"),
    "text": ((mx.ones(3), "abc"), {}, TypeError, "not str"),
    "too many threads": (
        (mx.ones(3), mx.ones(3)),
        {"threadgroup": 2048},
        KernelLaunchError,
        "greater than",
    ),
    "negative grid": (
        (mx.ones(3), mx.ones(3)),
        {"grid": -1},
        KernelLaunchError,
        "negative",
    ),
    "grid of four": ((mx.ones(3), mx.ones(3)), {"grid": (1, 1, 1, 1)}, TypeError, "three integers"),
    "threadgroup memory": (
        (mx.ones(3), mx.ones(3)),
        {"threadgroup_memory": {0: 16}},
        ValueError,
        r"no \[\[threadgroup\(0\)\]\]",
    ),
}


@pytest.mark.parametrize(("values", "options", "error", "match"), CALLS.values(), ids=CALLS.keys())
def test_calls_that_fail(values: Any, options: Any, error: Any, match: str) -> None:
    add = anymetal.metal_library(ADD).add
    with pytest.raises(error, match=match):
        add(*values, **({"grid": 3, "threadgroup": 32} | options))


@pytest.mark.parametrize(
    ("type_", "value", "match"),
    [
        ("uint&", -1, "cannot hold -1"),
        ("int&", 1.5, "cannot hold 1.5"),
        ("uchar&", 256, "cannot hold 256"),
        ("float2&", (1, 2, 3), "takes 2 numbers, got 3"),
        ("float&", "x", "cannot hold 'x'"),
        ("S&", 3, "needs the bytes of a struct"),
        ("S&", b"1234", "needs 8 bytes, got 4"),
    ],
)
def test_values_that_do_not_fit(type_: str, value: Any, match: str) -> None:
    text = f"struct S {{ int a, b; }};\nkernel void k(constant {type_} x, device int* o) {{}}"
    library = anymetal.metal_library(HEAD + text)
    with pytest.raises((TypeError, KernelLaunchError), match=match):
        library.k(value, ((1,), mx.int32), grid=1, threadgroup=1)


def test_threadgroup_memory_has_a_length_and_a_limit() -> None:
    library = anymetal.metal_library(
        "kernel void k(device float* o, threadgroup float* s [[threadgroup(2)]])"
        "{ s[0] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); o[0] = s[0]; }"
    )
    with pytest.raises(ValueError, match=r"`s` is missing. Pass threadgroup_memory=\{2: bytes\}"):
        library.k(FLOATS, grid=8, threadgroup=8)
    with pytest.raises(ValueError, match="bytes above 0, not -4"):
        library.k(FLOATS, grid=8, threadgroup=8, threadgroup_memory={2: -4})
    with pytest.raises(KernelLoadError, match=r"\(40000\) exceeds"):
        mx.eval(library.k(FLOATS, grid=8, threadgroup=8, threadgroup_memory={2: 40000}))


#: Text, error, and what it says; the place is that of the text without HEAD.
TEXTS = {
    "syntax": ("kernel void k(device float* o) {\n  o[0] = ;\n}", ":2:10: error: expected expr"),
    "unknown name": (
        "kernel void k(device float* o) {\n  float é = x; }",
        ":2:13: error: use of undeclared identifier 'x'",
    ),
    "open brace": ("kernel void k(device float* o)\n  { if (true) { o[0] = 1; }", ":2:3: error"),
    "brace too many": ("kernel void k(device float* o) { }\n }", ":2:2: error: extraneous"),
    "open namespace": ("namespace a {\nkernel void k(device float* o) { }", ":1:13: error"),
    "unknown attribute": (
        "kernel void k(device float* o,\n  uint i [[thread_position_in_gird]]) {}",
        ":2:12: error: unknown attribute 'thread_position_in_gird'.*'thread_position_in_grid'",
    ),
    "no attribute": (
        "kernel void k(device float* o,\n  uint index) {}",
        ":2:8: error: parameter 'index' has neither",
    ),
    "same buffer twice": (
        "kernel void k(device float* a [[buffer(1)]],\n  device float* b [[buffer(1)]]) {}",
        r"error: \[\[buffer\(1\)\]\] is given to several",
    ),
    "buffer out of range": ("kernel void k(device int* a [[buffer(31)]]) {}", "0 to 30"),
    "buffer by name": (
        "constant int X = sizeof(int);\nkernel void k(device int* a [[buffer(X)]]) {}",
        ":2:38: error: .*plain number",
    ),
    "buffer by value": (
        "kernel void k(constant int a [[buffer(0)]]) {}",
        ":1:28: error: .*pointer",
    ),
    "attribute type": (
        "kernel void k(device int* a,\n  float x [[thread_position_in_grid]]) {}",
        ":2:9: error: .*must be one of uint, uint2, uint3, ushort",
    ),
    "scalar attribute": (
        "kernel void k(device int* a, uint2 lane [[thread_index_in_simdgroup]]) {}",
        "must be one of uint, ushort",
    ),
    "result": ("kernel int k(device int* a) { return 1; }", "a kernel returns void"),
    "no kernel": ("void k(device int* a) {}", "no kernel found"),
    "unknown template": ('template [[host_name("x")]] [[kernel]] decltype(f<int>) f<int>;', "1:49"),
    "same name twice": (
        'kernel void k() {}\n  [[host_name("k")]] kernel void other() {}',
        "several kernels have the name 'k'",
    ),
    "words of ours are not shown": (
        "[[kernel]] void k(device flot* o, threadgroup int* s [[threadgroup(0)]]) {}",
        r"'flot'.*\n.*\| \[\[kernel\]\].*\[\[threadgroup\(0\)\]\]",
    ),
    "kernel among attributes": (
        "[[max_total_threads_per_threadgroup(32), kernel]] void k(device float* o) { x; }",
        "undeclared identifier 'x'",
    ),
    "helper of MLX's own": (
        "inline int ceildiv(int a) { return a; }\n[[kernel]] void k(device int* o) { y; }",
        "undeclared identifier 'y'",
    ),
    "carriage return": (
        "kernel void k(device int* a) {\r\r*a = 1; }\r}",
        ":4:1: error: extraneous",
    ),
    "declared only": ("kernel void k(device int* a);", "no kernel found"),
    "instantiated, but declared only": (
        "template <int N> kernel void f(device int* a);\n"
        'template [[host_name("x")]] [[kernel]] decltype(f<1>) f<1>;',
        ":2:49: error: kernel 'f' is declared, but the text does not define it",
    ),
    "missing include": ('#include "nothing.h"\n', ":1:10: error: 'nothing.h' file not found"),
    "wrong instantiation": (
        "template <int N> kernel void f(device int* a) {}\n"
        'template [[host_name("x")]] [[kernel]] decltype(f<float>) f<float>;',
        ":2:",
    ),
}


@pytest.mark.parametrize(("text", "match"), TEXTS.values(), ids=TEXTS.keys())
def test_texts_that_do_not_compile(text: str, match: str) -> None:
    with pytest.raises(MetalCompileError, match=match):
        anymetal.metal_library(text, name="x.metal")


def test_errors_in_templates_show_up_when_the_kernel_is_compiled() -> None:
    library = anymetal.metal_library(
        "template <typename T> kernel void f(device T* o) {\n  o[0] = T::nothing;\n}\n"
        'template [[host_name("k")]] [[kernel]] decltype(f<float>) f<float>;\n'
        "kernel void good(device int* o) { o[0] = 1; }",
        name="x.metal",
    )
    with pytest.raises(MetalCompileError, match=r"x\.metal:2:\d+: error: .*float"):
        mx.eval(library.k(FLOATS, grid=1, threadgroup=1))
    assert library.good(((1,), mx.int32), grid=1, threadgroup=1)[0].item() == 1


def mlx_header(name: str, instantiation: str) -> anymetal.MetalLibrary:
    """A library from a header that MLX ships."""
    folder = Path(mx.__file__).parent / "include" / "mlx" / "backend" / "metal" / "kernels"
    if not (folder / name).exists():
        pytest.skip(f"this MLX does not ship {name}")
    text = (folder / name).read_text() + instantiation
    return anymetal.metal_library(text, name=name, prelude="mlx")


def test_sorting_as_mlx_does() -> None:
    library = mlx_header(
        "sort.h",
        'template [[host_name("sort")]] [[kernel]] decltype(block_sort<float, float, false, 32, 4>)'
        " block_sort<float, float, false, 32, 4>;",
    )
    x = mx.random.normal((3, 128), key=mx.random.key(0))
    strides = (128, 1, 1, 128, 128)
    (out,) = library.sort(x, (x.shape, x.dtype), *strides, grid=(32, 3), threadgroup=32)
    assert mx.array_equal(out, mx.sort(x, -1))


def test_attention_as_mlx_does() -> None:
    """Function constants, and buffers that they switch off."""
    library = mlx_header(
        "sdpa_vector.h",
        'template [[host_name("sdpa")]] [[kernel]] decltype(sdpa_vector<float, 64>) '
        "sdpa_vector<float, 64>;",
    )
    keys = mx.random.split(mx.random.key(0), 3)
    q = mx.random.normal((1, 4, 1, 64), key=keys[0])
    k, v = (mx.random.normal((1, 2, 40, 64), key=key) for key in keys[1:])
    expected = mx.fast.scaled_dot_product_attention(q, k, v, scale=0.125)
    switched = ("has_mask", "query_transposed", "do_causal", "bool_mask", "float_mask", "has_sinks")
    (out,) = library.sdpa(
        *(q, k, v, ((4, 64), mx.float32), 2, 40, 40 * 64, 64, 40 * 64, 64, 0.125),
        *(None,) * 7,
        grid=4 * 1024,
        threadgroup=1024,
        constants=dict.fromkeys(switched, False),
    )
    assert mx.allclose(out, expected.reshape(4, 64), rtol=1e-5, atol=1e-6)


def test_a_second_process_starts_no_compiler() -> None:
    program = (
        "import sys, anymetal, mlx.core as mx\n"
        f"library = anymetal.metal_library({ADD!r})\n"
        "print(library.add(mx.ones(3), mx.ones(3), grid=3, threadgroup=32)[0].tolist())\n"
        "print(sorted({'llvmlite', 'numpy', 'subprocess'} & sys.modules.keys()))\n"
    )
    for _ in range(2):
        process = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
    assert process.stdout.splitlines() == ["[2.0, 2.0, 2.0]", "[]"]


def test_fast_math() -> None:
    text = "kernel void k(device int* o) {\n#ifdef __FAST_MATH__\no[0] = 1;\n#endif\n}"
    for mode, expected in (("fast", 1), ("safe", 0)):
        library = anymetal.metal_library(text, compile_options={"math_mode": mode})
        assert library.k(((1,), mx.int32), grid=1, threadgroup=1)[0].item() == expected


@pytest.mark.parametrize("mode", ["", "recover", "raise"])
def test_a_fault_is_an_error_that_names_the_place(mode: str, monkeypatch: Any) -> None:
    """Where it writes in place it does not run again: what it writes to has changed. Copies of that
    tell what strays."""
    monkeypatch.setenv("ANYMETAL_FAULTS", mode)
    library = anymetal.metal_library(
        HEAD + "kernel void spread(device const float* a, device float* b, constant long& far,\n"
        "                   uint2 p [[thread_position_in_grid]]) {\n"
        "  b[p.x] = b[p.x] + a[p.y == 1 && p.x == 3 ? far : p.x];\n"
        "}\n"
    )
    a, b = np.arange(6, dtype=np.float32), np.ones((2, 3), np.float32)
    text = (
        r"kernel `spread`: `a` has 6 elements; thread \(3, 1, 0\) of threadgroup \(0, 1, 0\) read "
        rf"element {1 << 43} at metal_library:5:\d+. In all, 1 read .*other arrays may be damaged"
    )
    for _ in range(2):
        with pytest.raises(KernelMemoryError, match=text):
            library.spread(a, b, 1 << 43, grid=(6, 2), threadgroup=(6, 1))
        library.spread(a, b, 0, grid=(6, 2), threadgroup=(6, 1))


def test_a_kernel_with_a_result_is_refused_at_its_line() -> None:
    text = "\n\n  kernel _Float16 k(device int* a) { return 1; }\n"
    with pytest.raises(MetalCompileError, match=r"^\S.*\nmetal_library:3:3: error: a kernel ret"):
        anymetal.metal_library(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "constant int N [[function_constant(0)]];\nkernel void k(device int* a) { *a = x N; }",
            "2:37: error: use of undeclared identifier 'x'",
        ),
        (
            "constant sampler N [[function_constant(0)]];",
            "1:18: error: a function constant cannot be of type 'sampler'\n"
            "    1 | constant sampler N [[function_constant(0)]];\n",
        ),
        (
            "uint3 where[[thread_position_in_grid]];)",
            "1:40: error: expected unqualified-id\n"
            "    1 | uint3 where[[thread_position_in_grid]];)\n"
            "      |                                        ^\n",
        ),
        (
            "const uint2 if [[ grid_size ]];",
            "1:13: error: expected unqualified-id\n    1 | const uint2 if   [[grid_size]];\n"
            "      |             ^\n",
        ),
        (
            'template <int N>\n#pragma clang diagnostic error "-Weverything"\n'
            "[[kernel]] void k(threadgroup int* a [[threadgroup(0)]]) {}",
            "unknown attribute 'threadgroup' ignored\n    3 | [[kernel]] void k(threadgroup int* a",
        ),
        (
            'template<>kernel]f(){\n#line 7 "e.metal"\n}template[[host_name("f")]]f',
            "e.metal:7:1: error: use of undeclared identifier 'f'\n",
        ),
        (
            "[[buffer(#METAL fp math_mode(relaxed)\n)]]",
            "1:38: error: expected ','\n    1 | [[buffer(#METAL fp math_mode(relaxed)\n",
        ),
        (
            "[[buffer(#METAL fp math_mode(fast)\n)]]",
            "1:35: error: expected ','\n    1 | [[buffer(#METAL fp math_mode(fast)\n"
            "      |                                   ^\n",
        ),
    ],
)
def test_names_of_ours_do_not_show_in_messages(text: str, shown: str) -> None:
    with pytest.raises(MetalCompileError) as caught:
        anymetal.metal_library(text)
    message = str(caught.value)
    assert shown in message, message
    assert not any(ours in message for ours in ("__am", "threadspace", "float_control"))


def test_kernels_may_be_declared_first() -> None:
    library = anymetal.metal_library(
        "kernel void other(device int* o);\nkernel void first(device int* o);\n"
        "namespace n { kernel void second(device int* o); }\n"
        "template <int N> kernel void third(device int* o);\n"
        "__attribute__((noinline)) kernel void first(device int* o) { o[0] = 1; }\n"
        "void n::second(device int* o) { o[0] = 2; }\n"
        "template <int N> kernel void third(device int* o) { o[0] = N; }\n"
        'template [[host_name("third")]] [[kernel]] decltype(third<3>) third<3>;\n'
    )
    assert library.kernel_names == ["first", "n::second", "third"]
    for number, name in enumerate(library.kernel_names, 1):
        (o,) = library[name](mx.zeros(1, mx.int32), grid=1, threadgroup=1)
        assert o.item() == number


def test_names_of_ours_are_refused() -> None:
    text = "kernel void k(device int* a) {\n  int __am_x = 1; *a = __am_x; }\n"
    with pytest.raises(MetalCompileError, match=r"metal_library:2:7: error: '__am_x': names that"):
        anymetal.metal_library(text)


def test_a_parameter_that_is_empty() -> None:
    with pytest.raises(
        MetalCompileError, match=r"metal_library:1:13: error: a parameter of 'k' is"
    ):
        anymetal.metal_library("kernel void k(device int* a [[buffer(0)]],) { *a = 1; }")


def test_a_macro_that_breaks_what_we_add_is_an_error_of_the_text() -> None:
    text = "kernel void k(device int* a) { *a = 1; }\n#define nullptr +\n"
    with pytest.raises(MetalCompileError, match=r"metal_library:2:\d+: error: .*changes words"):
        anymetal.metal_library(text)


_CONSTRUCTED = """
#include <metal_stdlib>
using namespace metal;
struct Sum {
  float value, count;
  constexpr Sum() thread : value(0), count(0) {}
  constexpr Sum() threadgroup : value(0), count(0) {}
};
constexpr thread Sum& operator+=(thread Sum& a, Sum b) {
  a.value += b.value;
  a.count += b.count;
  return a;
}
kernel void k(device const float* x [[buffer(0)]], device float2* y [[buffer(1)]],
              uint l [[thread_position_in_threadgroup]],
              uint group [[simdgroup_index_in_threadgroup]],
              uint lane [[thread_index_in_simdgroup]]) {
  threadgroup Sum sums[16];
  Sum sum;
  sum.value = x[l];
  sum.count = 1;
  threadgroup Sum* own = sums + group * 2;
  if (lane == 0) {
    own[0] = sum;
    threadgroup_barrier(mem_flags::mem_none);
    if (group == 0)
      for (int i = 1; i < 8; i++) sum += own[2 * i];
  }
  if (group == 0 && lane == 0) y[0] = float2(sum.value, sum.count);
}
"""


def test_constructors_do_not_overwrite_threadgroup_memory() -> None:
    x = np.arange(256, dtype=np.float32)
    library = anymetal.metal_library(_CONSTRUCTED)
    (y,) = library.k(mx.array(x), (2, mx.float32), grid=256, threadgroup=256)
    assert y.tolist() == [x[::32].sum(), 8]
