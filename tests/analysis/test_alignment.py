"""By what addresses can be divided."""

from __future__ import annotations

import pytest

from anymetal.analysis.alignment import alignments
from anymetal.analysis.cache import ANY_LAUNCH, Analyses
from tests.ir.programs import named, program


@pytest.mark.parametrize(
    ("index", "address", "multiple"),
    [
        ("%i = add i32 %lane, 1", "getelementptr [16 x i8], ptr %a, i32 %i", 16),
        ("%i = add i32 %lane, 1", "getelementptr float, ptr %a, i32 %i", 4),
        ("%i = mul i32 %lane, 4", "getelementptr float, ptr %a, i32 %i", 16),
        ("%i = shl i32 %lane, 1", "getelementptr float, ptr %a, i32 %i", 8),
        ("%i = mul i32 %lane, 10", "getelementptr i8, ptr %a, i32 %i", 2),
        ("%i = and i32 %lane, 12", "getelementptr i8, ptr %a, i32 %i", 4),
        ("%i = or i32 %lane, 12", "getelementptr i8, ptr %a, i32 %i", 1),
        ("%i = lshr i32 %lane, 4", "getelementptr i8, ptr %a, i32 %i", 1),
    ],
)
def test_addresses(index: str, address: str, multiple: int) -> None:
    read = program(
        f"""
        entry:
          %lane = call i32 @__am_lane()
          {index}
          %p = {address}
          %x = load i8, ptr %p
          ret void
        """
    )
    assert Analyses(read, ANY_LAUNCH, 32)(alignments)[named(read, "p")] == multiple


def test_loops() -> None:
    """A pointer goes on by 8 bytes from an address that is a multiple of 16."""
    read = program(
        """
        entry:
          br label %loop
        loop:
          %p = phi ptr [ %a, %entry ], [ %q, %loop ]
          %k = phi i32 [ 0, %entry ], [ %next, %loop ]
          %x = load i32, ptr %p
          %q = getelementptr i8, ptr %p, i64 8
          %next = add i32 %k, 4
          %c = icmp eq i32 %next, %x
          br i1 %c, label %end, label %loop
        end:
          ret void
        """
    )
    known = Analyses(read, ANY_LAUNCH, 32)(alignments)
    assert known[named(read, "p")] == known[named(read, "q")] == 8
    assert known[named(read, "k")] == 4
