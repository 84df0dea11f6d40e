"""The text that Clang gets: what stands where, and under which line numbers."""

from __future__ import annotations

import re

import mlx.core as mx
import pytest

from anymetal.errors import MetalCompileError
from anymetal.frontend.unit import part_name, translation_unit
from tests.frontend.kernels import kernel_source


def lines_of(text: str, file: str) -> dict[int, str]:
    """The lines of a unit that a diagnostic would attribute to `file`, by line number."""
    found: dict[int, str] = {}
    current, number = "", 0
    for line in text.split("\n"):
        if match := re.fullmatch(r'#line (\d+) "(.*)"', line):
            current, number = match[2], int(match[1])
            continue
        if current == file:
            found[number] = line
        number += 1
    return found


@pytest.mark.parametrize(
    "body", ["out[0] = 1;", "\n  out[0] = 1;\n", "#define A 1\nout[0] = A;\n#undef A"]
)
@pytest.mark.parametrize(
    "header", ["", "int f();", "int f();\n", "#define X 1\n// no newline", "#define Y \\"]
)
@pytest.mark.parametrize("template", [[], [("T", mx.float16), ("N", -3), ("B", True)]])
def test_user_text_keeps_its_line_numbers(body, header, template):
    source = kernel_source(body, header, template=template)
    unit = translation_unit(source)
    for text, part in ((source.body, "source"), (source.header, "header")):
        found = lines_of(unit, part_name(source, part))
        for number, line in enumerate(text.split("\n"), 1):
            if text:
                assert found[number] == line


def test_parameters_and_attributes():
    source = kernel_source(
        "out[thread_position_in_grid.x] = a[threads_per_grid.x] * s + a_shape[0];",
        template=[("T", mx.float32)],
    )
    unit = translation_unit(source)
    assert "template <typename T>\n" in unit
    assert "  const device float* a,\n  const constant int* a_shape,\n" in unit
    assert "  uint3 thread_position_in_grid,\n  uint3 threads_per_grid) {\n#pragma" in unit
    wrapper = lines_of(unit, "k: wrapper")
    assert wrapper[4] == (
        'extern "C" void __am_kernel(const device float* __restrict a, '
        "const constant int* __restrict a_shape, const constant float& __restrict s, "
        "device float* out) "
        f"{{ {source.entry}<float>(a, a_shape, s, out, __am_attr_thread_position_in_grid(), "
        "__am_attr_threads_per_grid()); }"
    )


def test_wrapper_stands_before_the_body():
    """Macros of the body cannot reach it."""
    unit = translation_unit(kernel_source("#define a broken(\nout[0] = 1;"))
    assert unit.index("__am_kernel") < unit.index("#define a broken(")


def test_input_sizes_are_constants_of_the_function():
    source = kernel_source("if (s > *a_size) return; out[0] = a_size;")
    unit = translation_unit(source)
    assert "struct __am_size_of" in unit
    assert "  const __am_size_of a_size) {" in unit
    assert "__am_size_of{*__am_a_size_buffer});" in unit
    assert "const constant uint32_t* __restrict __am_a_size_buffer" in unit
    assert "__am_size_of" not in translation_unit(kernel_source("out[0] = 1;"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("#pragma METAL fp contract(off)", "#pragma clang fp contract(off)"),
        ('_Pragma("METAL  fp contract(fast)")', '_Pragma("clang  fp contract(fast)")'),
        ("#pragma METAL fp math_mode(relaxed)", "#pragma float_control(precise, off)"),
        ("#pragma METAL fp reassociate(on)", "#pragma clang fp reassociate(on)"),
        ("#pragma METAL internals : enable", "#pragma METAL internals : enable"),
        (
            "void f(threadgroup int* p [[threadgroup(0)]]);",
            f"void f(threadgroup int* p {' ' * 18});",
        ),
        ("x = 1.0bf + .5BF - 1e-3bf * 2bf;", "x = 1.0_b + .5_b - 1e-3_b * 2_b;"),
        ("x = 1.0H + 2H - 3.h;", "x = 1.0h + 2h - 3.h;"),
        ("x = 0x1bf + a1bf + H;", "x = 0x1bf + a1bf + H;"),
    ],
)
def test_words_with_another_name_in_clang(written, read):
    assert len(written) == len(read)
    assert lines_of(translation_unit(kernel_source(written)), "k: source")[1] == read
    assert lines_of(translation_unit(kernel_source("", written)), "k: header")[1] == read


@pytest.mark.parametrize("name", ["a-b", "two words", 'quo"te', "new\nline", "back\\slash"])
def test_kernel_name_must_be_an_identifier(name):
    with pytest.raises(MetalCompileError, match="is not an identifier") as caught:
        translation_unit(kernel_source("out[0] = 1;", name=name))
    assert repr(name) in str(caught.value)
