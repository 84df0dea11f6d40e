"""`anymetal.trace`: the lines of one thread and what they assign, worked out by hand."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.errors import KernelLaunchError

Steps = list[tuple[str, str]]


def steps(told: str, text: str) -> Steps:
    """The number of each line of the text that a thread came to, and what it assigned there."""
    lines = [line.strip() for line in text.split("\n")]
    found = []
    for line in filter(None, told.split("\n")[1:]):
        where, rest = line.split(maxsplit=1)
        code = max((one for one in lines if rest.startswith(one)), key=len)
        assert lines[int(where.split(":")[-1]) - 1] == code or ":" in where
        found.append((where, rest[len(code) :].strip()))
    return found


def traced(
    body: str,
    inputs: Sequence[Any],
    thread: Sequence[int] = (0,),
    header: str = "",
    grid: tuple[int, int, int] = (32, 1, 1),
    threadgroup: tuple[int, int, int] = (32, 1, 1),
    dtype: mx.Dtype = mx.float32,
) -> tuple[str, mx.array]:
    kernel = anymetal.metal_kernel(
        "told", [f"x{i}" for i in range(len(inputs))], ["y"], body, header
    )
    out = io.StringIO()
    size = int(np.prod(grid))
    (y,) = anymetal.trace(kernel, thread, file=out)(
        inputs=inputs,
        grid=grid,
        threadgroup=threadgroup,
        output_shapes=[(size,)],
        output_dtypes=[dtype],
    )
    return out.getvalue(), y


def test_a_loop_with_a_branch() -> None:
    body = """
    uint i = thread_position_in_grid.x;
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        if (k != 1)
            sum += x0[i] * k;
    }
    y[i] = sum;
    """
    told, y = traced(body, [mx.arange(32.0)], (5,))
    lines = told.split("\n")
    assert lines[0] == "thread (5, 0, 0) of told"
    assert lines[1] == "    2  uint i = thread_position_in_grid.x;  i = 5"
    assert lines[5] == "    6          sum += x0[i] * k;            sum = 0"
    assert steps(told, body) == [
        ("2", "i = 5"),
        ("3", "sum = 0"),
        ("4", "k = 0, true"),
        ("5", "true"),
        ("6", "sum = 0"),
        ("4", "k = 1, true"),
        ("5", "false"),
        ("4", "k = 2, true"),
        ("5", "true"),
        ("6", "sum = 10"),
        ("4", "k = 3, false"),
        ("8", "y[5] = 10"),
    ]
    assert mx.array_equal(y, 2 * mx.arange(32.0))  # all threads have run


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("int a = -3;", "a = -3"),
        ("uint a = -3;", "a = 4294967293"),
        ("char a = -3;", "a = -3"),
        ("uchar a = -3;", "a = 253"),
        ("ushort a = 65535;", "a = 65535"),
        ("long a = -1l << 40;", "a = -1099511627776"),
        ("ulong a = 1ul << 63;", "a = 9223372036854775808"),
        ("bool a = v > 1;", "a = true"),
        ("float a = 0.1f;", "a = 0.1"),
        ("float a = v / 3;", "a = 0.8333333"),
        ("float a = 1e20f;", "a = 1e+20"),
        ("float a = -INFINITY;", "a = -inf"),
        ("half a = 0.1h;", "a = 0.1"),
        ("bfloat a = bfloat(1.25f);", "a = 1.25"),
        ("float3 a = float3(1, 2, v);", "a = (1, 2, 2.5)"),
        ("uint2 a = uint2(7, 8);", "a = (7, 8)"),
        ("half4 a = half4(v);", "a = (2.5, 2.5, 2.5, 2.5)"),
        ("float a[3] = {1, v, 2};", "a = {1, 2.5, 2}"),
        ("auto a = v * 2;", "a = 5"),
        ("const float a = v;", "a = 2.5"),
        ("float2 a(1, 2); a.y = v;", "a = (1, 2.5)"),
        ("float2 a(1, 2); a *= v;", "a = (2.5, 5)"),
        ("float2 a(1, 2); a[1] = v;", "a[1] = 2.5"),
        ("float a[2][2] = {}; a[1][n] = v;", "a[1][1] = 2.5"),
        ("float c; float a = sincos(v * 0, c);", "c = 1, a = 0"),
        ("thread float& r = v; r = 4;", "r = 4"),
        ("thread float* p = &v; *p = 4;", "*p = 4"),
        ("Pair a = {n, {1, v}};", "a = {.n 1, .v.x 1, .v.y 2.5}"),
        ("Pair a = {n, {1, v}}; a.n = 9;", "a.n = 9"),
        ("Pair a = {n, {1, v}}; a.v.y += 1;", "a = {.n 1, .v.x 1, .v.y 3.5}"),
        ("Colour a = green;", "a = 5"),
        ("v++;", "v = 3.5"),
        ("v = n ? 7 : 8;", "v = 7"),
        ("y[n] = v;", "y[1] = 2.5"),
        ("device float* p = y + n; p[1] = v;", "p[1] = 2.5"),
        ("shared[n + 2] = v;", "shared[3] = 2.5"),
    ],
)
def test_values_of_all_kinds(statement: str, told: str) -> None:
    header = "struct Pair { int n; float2 v; };\nenum Colour { red, green = 5 };\n"
    body = f"threadgroup float shared[8];\nfloat v = x0[0];\nint n = x1;\n{statement}\n"
    text, _ = traced(body, [mx.array([2.5]), 1], header=header, grid=(1, 1, 1))
    (last,) = (values for where, values in steps(text, body + header) if where.endswith("4"))
    assert last == told or last.endswith(f", {told}")


def test_functions_of_the_header_have_lines_of_their_own() -> None:
    header = "inline float twice(float a) {\n  float b = a + a;\n  return b;\n}\n"
    body = "float v = x0[0];\ny[0] = twice(v);"
    text, _ = traced(body, [mx.array([1.5])], header=header)
    assert steps(text, body + "\n" + header) == [
        ("source:1", "v = 1.5"),
        ("source:2", ""),
        ("header:1", "a = 1.5"),
        ("header:2", "b = 3"),
        ("header:3", ""),
        ("source:2", "y[0] = 3"),
    ]


def test_threads_that_wait_for_each_other() -> None:
    body = """threadgroup float t[64];
uint l = thread_index_in_threadgroup;
t[l] = x0[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
float other = t[63 - l];
float all = simd_sum(other);
y[l] = all;
"""
    x = mx.arange(64.0)
    text, y = traced(body, [x], (40,), grid=(64, 1, 1), threadgroup=(64, 1, 1))
    assert ("5", "other = 23") in steps(text, body)
    assert ("6", f"all = {sum(range(32))}") in steps(text, body)
    assert y.tolist() == [sum(range(32, 64))] * 32 + [sum(range(32))] * 32


def test_one_of_many_threads_in_three_dimensions() -> None:
    body = (
        "uint3 at = thread_position_in_grid;\nuint g = threadgroup_position_in_grid.y;\ny[0] = g;"
    )
    text, _ = traced(body, [], (3, 5, 1), grid=(7, 6, 2), threadgroup=(4, 2, 2))
    assert steps(text, body)[:2] == [("1", "at = (3, 5, 1)"), ("2", "g = 2")]


def test_results_are_those_of_an_ordinary_launch() -> None:
    rng = np.random.default_rng(7)
    x = mx.array(rng.normal(size=1000).astype(np.float32))
    kernel = anymetal.metal_kernel(
        "mixed",
        ["x"],
        ["y", "z"],
        """uint i = thread_position_in_grid.x;
        float v = x[i];
        for (uint k = 0; k < i % 7; ++k) v = v < 0 ? v + exp(v) : sin(v);
        y[i] = v;
        z[i] = T(v * 100);""",
    )
    call = {
        "inputs": [x],
        "template": [("T", mx.int16)],
        "grid": (1000, 1, 1),
        "threadgroup": (128, 1, 1),
        "output_shapes": [(1000,), (1000,)],
        "output_dtypes": [mx.float32, mx.int16],
    }
    expected = kernel(**call)
    for actual, one in zip(
        anymetal.trace(kernel, file=io.StringIO())(**call), expected, strict=True
    ):
        assert mx.allclose(actual, one, rtol=1e-5, atol=1e-6).item()


def test_a_kernel_of_a_metal_file() -> None:
    text = """#include <metal_stdlib>
using namespace metal;
static void halve(thread float& v) {
  v /= 2;
}
kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant float& by [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  float v = x[i] * by;
  halve(v);
  y[i] = v;
}
"""
    library = anymetal.metal_library(text)
    out = io.StringIO()
    (y,) = anymetal.trace(library["scale"], (2,), file=out)(
        mx.arange(4.0), mx.zeros(4), 3.0, grid=4, threadgroup=4
    )
    assert y.tolist() == [0, 1.5, 3, 4.5]
    assert steps(out.getvalue(), text) == [
        ("7", "i = 2"),
        ("8", "v = 6"),
        ("9", ""),
        ("4", "v = 3"),
        ("9", "v = 3"),
        ("10", "y[2] = 3"),
    ]


def test_a_function_that_calls_kernels() -> None:
    names = ("first", "second")
    kernels = [anymetal.metal_kernel(name, ["x"], ["y"], "y[0] = x[0] + 1;") for name in names]

    def both(x: mx.array) -> mx.array:
        for kernel in kernels:
            (x,) = kernel(
                inputs=[x],
                grid=(1, 1, 1),
                threadgroup=(1, 1, 1),
                output_shapes=[(1,)],
                output_dtypes=[mx.float32],
            )
        return x

    out = io.StringIO()
    assert anymetal.trace(both, file=out)(mx.zeros(1)).item() == 2
    assert out.getvalue() == (
        "thread (0, 0, 0) of first\n    1  y[0] = x[0] + 1;  y[0] = 1\n"
        "thread (0, 0, 0) of second\n    1  y[0] = x[0] + 1;  y[0] = 2\n"
    )
    before = out.getvalue()
    mx.eval(both(mx.zeros(1)))
    assert out.getvalue() == before  # it is over with the call


def test_inside_of_the_sanitizer() -> None:
    kernel = anymetal.metal_kernel("told", ["x"], ["y"], "y[0] = x[1];")
    call = {
        "inputs": [mx.zeros(1)],
        "grid": (1, 1, 1),
        "threadgroup": (1, 1, 1),
        "output_shapes": [(1,)],
        "output_dtypes": [mx.float32],
    }
    with anymetal.sanitize(action="report") as found:
        anymetal.trace(
            anymetal.metal_kernel("fine", ["x"], ["y"], "y[0] = x[0];"), file=io.StringIO()
        )(**call)
        assert not found.findings
        kernel(**call)  # is observed again
    assert [one.code for one in found.findings] == ["bounds-read"]


def test_a_thread_that_leaves_early() -> None:
    body = "uint i = thread_position_in_grid.x;\nif (i > 3)\n  return;\ny[i] = i;"
    assert steps(traced(body, [], (9,))[0], body) == [("1", "i = 9"), ("2", "true"), ("3", "")]


def test_what_is_refused() -> None:
    kernel = anymetal.metal_kernel("told", ["x"], ["y"], "y[0] = x[0];")
    call = {
        "inputs": [mx.zeros(1)],
        "grid": (4, 2, 1),
        "threadgroup": (4, 1, 1),
        "output_shapes": [(1,)],
        "output_dtypes": [mx.float32],
    }
    with pytest.raises(KernelLaunchError, match=r"`told`: thread=\(1, 2, 0\) is not in the grid"):
        anymetal.trace(kernel, (1, 2))(**call)
    for thread in ((), (1, 2, 3, 4), (-1,)):
        with pytest.raises(ValueError, match="one to three numbers"):
            anymetal.trace(kernel, thread)

    def step(x: mx.array) -> mx.array:
        return anymetal.trace(kernel)(**{**call, "inputs": [x]})[0]

    with pytest.raises(ValueError, match="`told` runs at once here and needs the values"):
        mx.compile(step)(mx.zeros(1))
    broken = anymetal.metal_kernel("told", ["x"], ["y"], "y[0] = x[0] +;")
    with pytest.raises(anymetal.MetalCompileError, match="expected expression"):
        anymetal.trace(broken)(**call)


def test_endless_output_is_counted() -> None:
    from anymetal.targets.cpu import traced as module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_VALUES", 100)
        text, y = traced("int n = 0;\nfor (int k = 0; k < 1000; k++) n += k;\ny[0] = n;", [])
    assert y[0].item() == 499500
    assert text.rstrip().split("\n")[-1].startswith("… and ")
