"""Arrays that one pointer may lead into become one."""

from __future__ import annotations

import pytest

from anymetal.ir.spec import Stage
from anymetal.passes import join_private_arrays
from tests.passes.semantics import assert_same

_PASS = [(join_private_arrays.run, Stage.SCALAR)]
_ARRAYS = """
    %x = alloca [4 x i32], align 4
    %y = alloca [3 x i16], align 2
    %z = alloca [2 x i64], align 8
    call void @llvm.memset.p0.i64(ptr %x, i8 1, i64 16, i1 false)
    call void @llvm.memset.p0.i64(ptr %y, i8 2, i64 6, i1 false)
    call void @llvm.memset.p0.i64(ptr %z, i8 3, i64 16, i1 false)
    %n = load i32, ptr %a
    %c = icmp slt i32 %n, 100
"""
_COPIES = """
    %to.y = getelementptr i8, ptr %out, i64 16
    %to.z = getelementptr i8, ptr %out, i64 32
    call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %x, i64 16, i1 false)
    call void @llvm.memcpy.p0.p0.i64(ptr %to.y, ptr %y, i64 6, i1 false)
    call void @llvm.memcpy.p0.p0.i64(ptr %to.z, ptr %z, i64 16, i1 false)
    ret void
"""


@pytest.mark.parametrize(
    ("middle", "arrays"),
    [
        ("", [16, 6, 16]),
        ("%p = select i1 %c, ptr %x, ptr %y\nstore i16 7, ptr %p", [22, 16]),
        (
            """
            %p = select i1 %c, ptr %x, ptr %z
            %q = getelementptr i8, ptr %y, i64 2
            %r = select i1 %c, ptr %p, ptr %q
            store i16 7, ptr %r
            """,
            [40],
        ),
        (
            """
            br i1 %c, label %one, label %other
            one:
            br label %other
            other:
            %p = phi ptr [ %y, %one ], [ %z, %entry ]
            store i16 7, ptr %p
            """,
            [16, 24],
        ),
        ("%p = select i1 %c, ptr %x, ptr %out\nstore i16 7, ptr %p", [16, 6, 16]),
    ],
    ids=["apart", "two", "all", "phi", "with another"],
)
def test_arrays_that_meet(middle: str, arrays: list[int]) -> None:
    after = assert_same(f"{_ARRAYS}{middle}{_COPIES}", _PASS)
    assert sorted(one.arg[0].size for one in after.private_arrays) == sorted(arrays)
