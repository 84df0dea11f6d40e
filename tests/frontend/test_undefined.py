"""What C++ leaves undefined takes nothing from a kernel: null, and variables nobody has set."""

from __future__ import annotations

import re

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.errors import KernelMemoryError, MetalCompileError
from anymetal.frontend import optimise
from anymetal.frontend.clang import compile_to_ir
from tests.frontend.kernels import kernel_source


def run(body: str) -> list[int]:
    """What the kernel leaves in `o`, of which every element is -1 before."""
    kernel = anymetal.metal_kernel(
        name="undefined",
        input_names=["x"],
        output_names=["o"],
        source="uint i = thread_position_in_grid.x;\n" + body,
    )
    (result,) = kernel(
        inputs=[mx.arange(64, dtype=mx.int32)], grid=(64, 1, 1), threadgroup=(32, 1, 1),
        output_shapes=[(64,)], output_dtypes=[mx.int32], init_value=-1,
    )  # fmt: skip
    mx.eval(result)
    return list(np.array(result).tolist())


@pytest.mark.parametrize(
    "body",
    [
        "device int* p = nullptr; *p = 3; o[i] = 1;",
        "device int* p = nullptr; p[i] = 3; o[i] = 1;",
        "device int* p = x[0] == 0 ? nullptr : o; p[i] = 3;",
        "device int* p = o; if (x[i] > 40) p = nullptr; p[i] = 3;",
        "if (x[i] >= 0) { device int* p = nullptr; p[i] = 3; } o[i] = 1;",
        "device int& r = *(device int*)nullptr; r = 5; o[i] = 1;",
        "device int* p = (device int*)(ulong)0; *p = 3; o[i] = 1;",
        "device int4* p = nullptr; p[i] = int4(3); o[i] = 1;",
        "struct S { int a, b; }; device S* p = nullptr; p->b = 3; o[i] = 1;",
        "thread int* p = nullptr; *p = 3; o[i] = *p;",
        "threadgroup int* p = nullptr; p[i] = 3; o[i] = p[i];",
        "device atomic_int* p = nullptr;\n"
        "atomic_fetch_add_explicit(p, 1, memory_order_relaxed); o[i] = 1;",
        "const device int* p = nullptr; o[i] = *p;",
        "const device int* p = nullptr; o[i] = p[i];",
        "const device int* p = x; if (x[i] > 40) p = nullptr; o[i] = p[i];",
        "struct S { int a[9]; }; thread S* p = nullptr; S s = *p; o[i] = s.a[x[i] & 7];",
    ],
)
def test_null_is_an_error(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_FAULTS", "raise")
    with pytest.raises(KernelMemoryError, match=r"null pointer|address 0x4"):
        run(body)


def test_addresses_of_arrays_are_not_null() -> None:
    assert run("o[i] = &o[i] == nullptr ? 1 : 2;") == [2] * 64


@pytest.mark.parametrize(
    ("body", "possible"),
    [
        ("int u; if (u > 3) o[i] = 1; else o[i] = 2;", {1, 2}),
        ("int u; switch (u) { case 0: o[i] = 1; break; case 1: o[i] = 2; break; "
         "default: o[i] = 3; }", {1, 2, 3}),
        ("o[i] = 1; int u; for (int k = 0; k < (u & 3); ++k) o[i] = 2;", {1, 2}),
        ("o[i] = 1; int u; o[i] = 7 / u * 0 + 3;", {3}),
        ("bool u; o[i] = 1; while (u) { o[i] = 2; u = false; }", {1, 2}),
        ("float u; o[i] = 1; if (int(u) == 3 && x[i] > 5) o[i] = 2;", {1, 2}),
        ("auto f = [](int a) -> int { if (a > 100) return a; }; o[i] = f(x[i]) * 0 + 3;", {3}),
    ],
)  # fmt: skip
def test_a_variable_that_nobody_has_set_has_some_value(body: str, possible: set[int]) -> None:
    assert set(run(body)) <= possible


@pytest.mark.parametrize("call", ["__builtin_trap()", "__builtin_debugtrap()"])
def test_traps_are_refused(call: str) -> None:
    with pytest.raises(MetalCompileError, match=r"k: source:1:\d+: error: a kernel cannot trap"):
        compile_to_ir(kernel_source(f"if (a[0] > 1) {call}; out[0] = 1;"))


# ------------------------------------------------------------- for those who look for such


def marked(body: str, header: str = "") -> str:
    """The program of one thread, in which variables without a value have one that says so."""
    raw = compile_to_ir(kernel_source("uint i = thread_position_in_grid.x;\n" + body, header))
    return optimise.optimise(raw, sanitized=True)


def undefined_calls(text: str) -> list[str]:
    return re.findall(r"%([\w.]+) = tail call \w+ @__am_undefined_\w+\(", text)


def test_a_variable_on_one_way_keeps_its_name() -> None:
    (name,) = undefined_calls(marked("float found; if (i > 3) found = a[i]; out[i] = found;"))
    assert name.startswith("found.undefined.")


def test_variables_with_values_and_components_that_nobody_uses_have_no_such() -> None:
    assert not undefined_calls(marked("float b = a[i]; float4 v; v.y = b; out[i] = v.y;"))
    assert not undefined_calls(marked("float3 v; v.x = v.y = v.z = a[i]; out[i] = dot(v, v);"))


def test_large_arrays_begin_as_a_whole() -> None:
    text = marked("float t[64]; t[i % 64] = a[i]; out[i] = t[i / 2 % 64];")
    assert re.search(r"call void @__am_begin\(ptr [^,]*%t[\w.]*, i64 256, i32 \d+\)", text)


def test_names_of_types_may_have_blanks() -> None:
    header = "template <typename A, typename B> struct Pair { A a; B b; };"
    assert (
        len(undefined_calls(marked("Pair<float, int> p; p.b = 1; out[i] = p.a + p.b;", header)))
        == 1
    )
