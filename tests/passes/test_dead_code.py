"""Dead code goes, effects stay."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.passes import dead_code
from tests.ir.programs import named, ops, program


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ("%x = load i32, ptr %a\n%y = add i32 %x, 1", ""),
        ("%x = load volatile i32, ptr %a", "load"),
        ("%x = load i32, ptr %a\nstore i32 %x, ptr %out", "load store"),
        ("%p = getelementptr i8, ptr %out, i64 4\nstore i32 0, ptr %p", "gep store"),
        ("%x = atomicrmw add ptr %a, i32 1 monotonic", "atomicrmw"),
        ("%x = cmpxchg ptr %a, i32 1, i32 2 monotonic monotonic", "cmpxchg"),
        ("fence seq_cst", "fence"),
        ("%l = call i32 @__am_lane()", ""),
        ("%l = call i32 @__am_shuffle(i32 1, i32 2)", ""),
        ("%l = call float @__am_reduce_add_f32(float 1.0)", ""),
        ("%l = call float @asinhf(float 1.0)", ""),
        ("%l = call float @llvm.exp.f32(float 1.0)", ""),
        ("call void @__am_threadgroup_barrier(i32 1)", "call"),
        ("call void @__am_simdgroup_barrier(i32 1)", "call"),
        ("call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 8, i1 false)", "call"),
    ],
)
def test_what_stays(lines: str, kept: str) -> None:
    read = program(f"{lines}\nret void")
    dead_code.run(Analyses(read))
    assert ops(read) == [*kept.split(), "ret"]


def test_values_that_only_use_each_other_go() -> None:
    read = program(
        """
        entry:
          br label %loop
        loop:
          %i = phi i32 [ 0, %entry ], [ %inext, %loop ]
          %dead = phi i32 [ 1, %entry ], [ %twice, %loop ]
          %twice = mul i32 %dead, 2
          %inext = add i32 %i, 1
          %more = icmp ult i32 %inext, 7
          br i1 %more, label %loop, label %exit
        exit:
          ret void
        """
    )
    dead_code.run(Analyses(read))
    assert ops(read) == ["br", "phi", "add", "icmp", "br", "ret"]
    assert named(read, "i").operands[1] is named(read, "inext")
