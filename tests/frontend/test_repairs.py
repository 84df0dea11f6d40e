"""Metal that Clang refuses, written anew: what the text becomes, and that messages hide it."""

from __future__ import annotations

import mlx.core as mx
import pytest

import anymetal
from anymetal.errors import MetalCompileError
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.dialect import as_written, header_for_clang
from anymetal.frontend.repairs import repaired
from tests.frontend.kernels import kernel_source

_HALF_TO_BFLOAT = "from 'half' (aka '_Float16') to 'bfloat' (aka '__bf16') is not allowed"


def repair(body: str, *errors: str) -> str:
    """The body after a repair for these errors, each `line:column: text`."""
    messages = "".join(f"k: source:{error}\n" for error in errors)
    result = repaired(kernel_source(body), messages)
    return result.body if result else ""


@pytest.mark.parametrize(
    ("body", "column", "how", "expected"),
    [
        ("b = bfloat(h + g);", 5, "functional-style cast", "b = bfloat(__am_wide=h + g);"),
        ("b = (bfloat)h;", 5, "C-style cast", "b = (bfloat)(__am_any)h;"),
        ("b = static_cast<T>(h);", 5, "static_cast", "b = static_cast<T>(__am_wide=h);"),
        ("«», bfloat(h);", 7, "functional-style cast", "«», bfloat(__am_wide=h);"),
    ],
)
def test_casts(body: str, column: int, how: str, expected: str) -> None:
    """The column counts bytes."""
    text = f"1:{column}: error: {how} {_HALF_TO_BFLOAT}"
    assert repair(body, text, text) == expected
    assert repair(expected, text) == ""
    assert as_written(expected) == body


def test_casts_in_macros() -> None:
    body = "#define TO(v) (bfloat)(v)\n#define SAME(v) v\nb = TO(h) + SAME((bfloat)h);"
    uses = (
        f"3:5: error: C-style cast {_HALF_TO_BFLOAT}",
        "1:15: note: expanded from macro 'TO'",
        f"3:18: error: C-style cast {_HALF_TO_BFLOAT}",
        "2:17: note: expanded from macro 'SAME'",
    )
    expected = body.replace("(bfloat)", "(bfloat)(__am_any)")
    assert repair(body, *uses) == expected


def test_casts_between_other_types_stay() -> None:
    assert not repair("b = int(p);", "1:5: error: C-style cast from 'A' to 'int' is not allowed")
    assert not repair("b = half(x);", "1:5: error: expected expression")


@pytest.mark.parametrize(
    ("body", "column", "expected"),
    [
        ("v.xy * 2", 6, "v.get_xy() * 2"),
        ("a[i].rg * b.c.zw", 9, "a[i].get_xy() * b.c.get_zw()"),
        ("2 * f(v)[1].x", 3, "2 * f(v)[1].get_x()"),
        ("-v.xy", 1, "-v.get_xy()"),
        ("v.get_xy() * 2", 12, ""),
    ],
)
def test_components_beside_operators(body: str, column: int, expected: str) -> None:
    error = f"1:{column}: error: invalid operands to binary expression ('vec<float, 2>' and 'int')"
    assert repair(body, error) == expected
    if "rg" not in body:
        assert as_written(expected) == (body if expected else "")


@pytest.mark.parametrize(
    ("body", "column", "expected"),
    [
        ("v.x += 2", 5, "v.ref_x() += 2"),
        ("p->a <<= 2", 6, "p->ref_w() <<= 2"),
        ("v.y + 2", 5, "v.get_y() + 2"),
        ("v.xy += 2", 6, ""),
    ],
)
def test_components_that_change_in_place(body: str, column: int, expected: str) -> None:
    error = f"1:{column}: error: invalid operands to binary expression ('<pseudo-object type>' and"
    assert repair(body, error) == expected
    if "p->" not in body:
        assert as_written(expected) == (body if expected else "")


@pytest.mark.parametrize(
    ("body", "column", "type_", "expected"),
    [
        ("uint4 v = {f(1, 2), 3};", 7, "uint4", "uint4 v = {f(1, 2), 3,__am_zero,__am_zero};"),
        ("vec<T, 3> v{1, 2};", 11, "const vec<float, 3>", "vec<T, 3> v{1, 2,__am_zero};"),
        ("uint4 v(1, 2);", 7, "uint4", ""),
        ("uint2 v = {1, 2, 3};", 7, "uint2", ""),
    ],
)
def test_too_few_numbers(body: str, column: int, type_: str, expected: str) -> None:
    error = f"1:{column}: error: no matching constructor for initialization of '{type_}'"
    assert repair(body, error) == expected
    assert as_written(expected) == (body if expected else "")


def test_copies_of_unions() -> None:
    body = "union rows { int a; uint2 v; }; rows b = a;"
    note = "1:27: note: copy constructor of 'rows' is implicitly deleted because variant field 'v'"
    expected = "union rows {__am_copied(rows) int a; uint2 v; }; rows b = a;"
    assert repair(body, note) == expected
    assert as_written(expected) == body


def test_messages_show_what_the_user_wrote() -> None:
    body = "half h = 1;\nbfloat b = bfloat(h); out[0] = b.nothing;"
    with pytest.raises(MetalCompileError) as caught:
        compile_to_ir(kernel_source(body))
    text = str(caught.value)
    line = body.split("\n")[1]
    start = line.index("b.nothing")
    assert f"k: source:2:{start + 2}: error: " in text and "__am_" not in text
    assert f"    2 | {line}\n      | {' ' * start}~^" in text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (
            "uint3 gid [[thread_position_in_grid]];\nint f();",
            "__am_in<uint3,13> gid{              };\nint f();",
        ),
        (
            "namespace n { const ushort l [[thread_index_in_simdgroup]]; }",
            "namespace n { const __am_in<ushort,11> l{                }; }",
        ),
        ("constant int n [[function_constant(3)]];", "constant int n =__am_fc<3>{}           ;"),
        ("struct S { uint l [[thread_index_in_simdgroup]]; };", ""),
        ("void f(uint l [[thread_index_in_simdgroup]]);", ""),
        ("int f() { uint l [[thread_index_in_simdgroup]]; }", ""),
    ],
)
def test_variables_at_program_scope(written: str, read: str) -> None:
    assert header_for_clang(written) == (read or written)
    assert as_written(read or written).rstrip() == written


def test_metal_files_go_the_same_way() -> None:
    library = anymetal.metal_library(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "uint3 gid [[thread_position_in_grid]];\n"
        "kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]]) {\n"
        "#pragma METAL fp contract(off)\n"
        "  const half h = x[gid.x];\n"
        "  y[gid.x] = float(bfloat(h)) + gid.x;\n}\n"
    )
    (result,) = library.k(mx.arange(40.0), mx.zeros(40), grid=(40, 1, 1), threadgroup=(32, 1, 1))
    assert result.tolist() == [2.0 * i for i in range(40)]
