"""The extension `<input>_size`: when it is passed, and how it looks."""

from __future__ import annotations

import warnings

import mlx.core as mx
import pytest

import anymetal
from anymetal import AnyMetalWarning
from anymetal.signature import metal_text
from anymetal.size_extension import SIZE_CLASS
from anymetal.targets.apple import AppleTarget


def launch(target, source, header="", inputs=("inp", "b"), outputs=("out",), **call):
    kernel = anymetal.metal_kernel("k", inputs, outputs, source, header)
    kernel(
        inputs=[mx.ones((9,)), *[1] * (len(inputs) - 1)],
        output_shapes=[(4,)] * len(outputs),
        output_dtypes=[mx.float32] * len(outputs),
        grid=(4, 1, 1),
        threadgroup=(1, 1, 1),
        **call,
    )
    return target.launch


def sizes(*arguments, **keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnyMetalWarning)
        source = launch(*arguments, **keywords).source
    return [parameter.name for parameter in source.parameters if parameter.kind == "size"]


@pytest.mark.parametrize(
    "source",
    [
        "if (elem >= *inp_size) return;",
        "if (elem >= inp_size) return;",
        "uint n = inp_size;",
        "uint n = *inp_size;",
        "uint n = inp_size[0];",
        "f(inp, inp_size, 3);",
        "return inp_size;",
        "for (uint i = 0; i < inp_size; i++) {}",
        "for (uint i = 0; i * inp_size < n; i++) {}",
        "uint2 v = { a * inp_size, 3 };",
        "x = a * inp_size;",
        "x = a & inp_size;",
        "bool b = a > inp_size;",
        "bool b = inp_size == 3;",
        "bool b = a > inp_size != 3;",
        "#define N inp_size\nuint n = N;",
        "x = p.inp_size + inp_size;",
        "x = c ? 3 : inp_size;",
        "else inp_size;",
        'auto s = "\\"//"; x = inp_size;',
        "x = a[inp_size];",
        "x = /* int inp_size; */ inp_size;",
        "// int inp_size = 3;\nx = inp_size;",
    ],
)
def test_passed_where_used(target, source):
    assert sizes(target, source) == ["inp_size"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "// inp_size",
        "/* *inp_size */",
        'auto s = "inp_size";',
        "my_inp_size = inp_size2;",
        "x = p.inp_size;",
        "x = p->inp_size;",
        "x = space::inp_size;",
        "int inp_size = 3; x = inp_size;",
        "const auto inp_size = inp_shape[0]; x = inp_size;",
        "uint n = 3, inp_size = 4; x = inp_size;",
        "uint n, inp_size; inp_size = 4;",
        "uint inp_size; f(&inp_size);",
        "uint inp_size(3); x = inp_size;",
        "uint inp_size{3}; x = inp_size;",
        "vec<uint, 2> inp_size(3); x = inp_size.x;",
        "const device uint* inp_size; x = *inp_size;",
        "device uint &inp_size = a[0]; x = inp_size;",
        "#define inp_size 3\nx = inp_size;",
        "#define inp_size(a) a\nx = inp_size(3);",
        "struct S { uint inp_size; }; S s; x = s.inp_size;",
        "inp_size += 1;",
        "++inp_size;",
        "auto f = [](uint inp_size) { return inp_size; };",
    ],
)
def test_not_passed_where_the_body_has_its_own(target, source):
    assert sizes(target, source) == []


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("#define inp_size 3\n", []),
        ("constant uint inp_size = 3;\n", []),
        ("constant constexpr const int inp_size{3};", []),
        ("uint inp_size(uint n) { return n; }", []),
        ("enum { a, inp_size = 3 };", []),
        ("enum Sizes { a = 1, b, inp_size };", []),
        ("enum Sizes { inp_size, b };", []),
        ("#define N inp_size", ["inp_size"]),
        ("namespace n { constant int inp_size = 3; } using namespace n;", []),
        ("// inp_size\n", ["inp_size"]),
        ("float f(const device float* inp, uint inp_size) { return inp[inp_size]; }", ["inp_size"]),
        ("struct S { uint inp_size; };", ["inp_size"]),
        ("float f() { uint inp_size = 3; return inp_size; }", ["inp_size"]),
        ("#include <metal_stdlib>", ["inp_size"]),
    ],
)
def test_declared_in_the_header(target, header, expected):
    assert sizes(target, "x = inp_size;", header) == expected


def test_names_that_mean_something_else(target):
    assert sizes(target, "x = inp_size;", inputs=("inp", "inp_size")) == []
    assert sizes(target, "x = inp_size;", outputs=("inp_size",)) == []
    assert sizes(target, "x = grid_size.x;", inputs=("grid",)) == []
    assert sizes(target, "x = inp_size;", template=[("inp_size", 3)]) == []
    assert sizes(target, "x = inp_size;", template=[("n", 3)]) == ["inp_size"]
    assert sizes(target, "x = _size;", inputs=("",)) == ["_size"]
    assert sizes(target, "x = b_size * *inp_size;") == ["inp_size", "b_size"]


def test_parameter_and_text(target):
    with pytest.warns(AnyMetalWarning, match=r"Kernel `k` uses `inp_size`.*plain MLX has no"):
        source = launch(target, "out[0] = *inp_size;", "int f();", outputs=("out", "o")).source
    size = source.parameters[2]
    assert (size.name, size.kind, size.argument) == ("inp_size", "size", 0)
    assert size.declaration == "const constant uint32_t* __am_inp_size_buffer"
    assert metal_text(source) == (
        "int f();\n" + SIZE_CLASS + "[[kernel]] void "
        "custom_kernel_k_float_int32_ts_uint32_tc_float_float(\n"
        "  const device float* inp [[buffer(0)]],\n"
        "  const constant int32_t& b [[buffer(1)]],\n"
        "  const constant uint32_t* __am_inp_size_buffer [[buffer(2)]],\n"
        "  device float* out [[buffer(3)]],\n"
        "  device float* o [[buffer(4)]]) {\n"
        "const __am_size_of inp_size{*__am_inp_size_buffer};\n"
        "out[0] = *inp_size;\n"
        "}\n"
    )


def test_warns_once_per_kernel(target):
    with pytest.warns(AnyMetalWarning) as caught:
        for _ in range(3):
            launch(target, "x = 1 + inp_size;")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(AnyMetalWarning):
        launch(target, "x = 2 + inp_size;")


def apple_text(launch):
    """The text that MLX generates when the Apple target hands it this launch."""
    trace = []
    mx.export_function(trace.append, lambda: AppleTarget().run(launch))
    (kernel,) = [node for node in trace if node.get("name") == "CustomKernel"]
    return kernel["arguments"][1]


@pytest.mark.parametrize("template", [None, [("T", mx.float16), ("N", -3)]])
@pytest.mark.parametrize("source", ["x = *inp_size + b_size;", "inp_shape thread_position_in_grid"])
def test_apple_gpus_get_the_text_that_we_print(target, source, template):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnyMetalWarning)
        recorded = launch(target, source, "int f();", template=template)
    assert apple_text(recorded) == metal_text(recorded.source)


def test_apple_gpus_get_a_signature_closed_in_the_right_place(target):
    recorded = launch(target, "x = inp_shape[0];", outputs=("o", "p"))
    text = apple_text(recorded)
    assert text.count(") {\n") == 1
    attribute = "thread_index_in_threadgroup"
    text = text.replace(f"\n// {attribute}", "").replace(
        f",\n  uint {attribute} [[{attribute}]]", ""
    )
    assert text == metal_text(recorded.source)
