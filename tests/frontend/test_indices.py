"""Which unsigned indices count as signed, by the size of arrays and of what they count."""

from __future__ import annotations

import re

import pytest

from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.indices import with_signed_indices
from tests.frontend.kernels import kernel_source


@pytest.mark.parametrize(
    ("line", "signed"),
    [
        ("%idxprom = zext i32 %i to i64", "%idxprom = sext i32 %i to i64"),
        ("%idxprom.i5 = zext i32 %i to i64", "%idxprom.i5 = sext i32 %i to i64"),
        ("%idx.ext12 = zext i32 %i to i64", "%idx.ext12 = sext i32 %i to i64"),
        ("%idxprom = zext i16 %i to i64", "%idxprom = zext i16 %i to i64"),
        ("%conv = zext i32 %i to i64", "%conv = zext i32 %i to i64"),
    ],
)
def test_indices_are_signed_unless_arrays_are_large(line: str, signed: str) -> None:
    assert with_signed_indices(f"  {line}\n", large=0) == f"  {signed}\n"


#: Statements with one unsigned index each, and the bytes that it steps over.
_STEPS = [
    ("r = ((const device uchar*)a)[i];", 1),
    ("r = *((const device uchar*)a + i);", 1),
    ("r = *((const device uchar*)a - i);", 1),
    ("const device uchar* p = (const device uchar*)a; p += i; r = *p;", 1),
    ("r = ((const device half*)a)[i];", 2),
    ("r = a[i];", 4),
    ("((device char2*)out)[i] = char2(1);", 2),
    ("r = ((const device float2*)a)[i].x;", 8),
    ("r = ((const device packed_float3*)a)[i].x;", 12),
    ("struct S { float v[4]; uchar c; }; r = ((const device S*)a)[i].c;", 20),
    ("const device float (*rows)[16] = (const device float(*)[16])a; r = rows[i][2];", 64),
    ("const device float (*rows)[16] = (const device float(*)[16])a; r = rows[2][i];", 4),
]


@pytest.mark.parametrize(("body", "step"), _STEPS)
def test_an_index_is_unsigned_where_so_many_steps_stay_inside(body: str, step: int) -> None:
    text = compile_to_ir(kernel_source(f"uint i = uint(s); float r = 0; {body} out[0] = r;"))
    for large in (0, 1, 2, 3, 4, 11, 12, 64):
        functions = re.findall(r"^define .*?^}", with_signed_indices(text, large), re.M | re.S)
        (kernel,) = [f for f in functions if "custom_kernel" in f.split("(")[0]]
        extended = re.findall(r"%(?:idxprom|idx\.ext)[\w.]* = ([sz])ext i32", kernel)
        assert extended == ["z" if step <= large else "s"]
