"""Floating-point operations of a thread: where they can be counted, and where they cannot."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.analysis.flops import flops
from tests.ir.programs import program

_LOOP = """
entry:
  %n = load i32, ptr %a
  %x = load float, ptr %out
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %{last} ]
  %y = phi float [ %x, %entry ], [ %z, %{last} ]
  %sum = fadd float %y, %x
  {middle}
  %z = call float @llvm.fma.f32(float %sum, float %x, float %y)
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, {limit}
  br i1 %done, label %end, label %loop
end:
  %left = phi float [ %y, %{last} ]
  %w = fdiv float %left, %x
  store float %w, ptr %out
  ret void
"""
_BRANCH = """
  %odd = icmp eq i32 %n, %i
  br i1 %odd, label %side, label %join
side:
  {side}
  br label %join
join:
"""


def _count(body: str) -> int | None:
    return flops(Analyses(program(body)))


@pytest.mark.parametrize(
    ("limit", "middle", "expected"),
    [
        ("12", "", 12 * 3 + 1),
        ("1", "", 3 + 1),
        ("%n", "", None),  # as often as an array says
        ("12", _BRANCH.format(side="%u = load i32, ptr %a"), 12 * 3 + 1),
        ("12", _BRANCH.format(side="%u = fmul float %sum, %sum"), None),
    ],
)
def test_loops_and_branches(limit: str, middle: str, expected: int | None) -> None:
    last = "join" if middle else "loop"
    assert _count(_LOOP.format(last=last, limit=limit, middle=middle)) == expected


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("fadd float %x, %x", 1),
        ("frem float %x, %x", 1),
        ("fneg float %x", 0),
        ("call float @llvm.fabs.f32(float %x)", 0),
        ("call float @llvm.sqrt.f32(float %x)", 1),
        ("call float @llvm.fma.f32(float %x, float %x, float %x)", 2),
        ("call float @fminf(float %x, float %x)", 0),
        ("call float @sqrtf(float %x)", 1),
        ("call float @asinf(float %x)", None),
        ("call float @__am_reduce_add_f32(float %x)", None),
        ("add i32 1, 2", 0),
    ],
)
def test_operations(operation: str, expected: int | None) -> None:
    assert _count(f"%x = load float, ptr %a\n%y = {operation}\nret void") == expected
