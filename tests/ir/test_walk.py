"""Walks over values."""

from __future__ import annotations

from anymetal.ir.walk import from_below, made_from, users_in
from tests.ir.programs import named, program


def test_each_part_is_asked_about_once() -> None:
    """Also in a chain that uses each value twice, of any length."""
    asked: list[int] = []

    def count(number: int) -> int:
        asked.append(number)
        return 2 * known[number - 1] if number else 1

    known: dict[int, int] = {}
    result = from_below(20000, known, lambda n: [n - 1, n - 1] if n else [], count)
    assert result == 1 << 20000
    assert asked == list(range(20001))
    assert from_below(20000, known, lambda n: [], count) == result and len(asked) == 20001


def test_what_is_made_from_a_value() -> None:
    read = program(
        """
        entry:
          %lane = call i32 @__am_lane()
          %p = getelementptr i32, ptr %a, i32 %lane
          %x = load i32, ptr %p
          %q = getelementptr i32, ptr %a, i32 7
          %y = load i32, ptr %q
          br label %loop
        loop:
          %k = phi i32 [ %y, %entry ], [ %m, %loop ]
          %m = add i32 %k, %x
          %more = icmp slt i32 %m, 100
          br i1 %more, label %loop, label %end
        end:
          ret void
        """
    )
    found = made_from(users_in(read.instructions()), [named(read, "lane")])
    assert {i.name for i in read.instructions() if i in found and i.name} == {
        "%lane", "%p", "%x", "%k", "%m", "%more",
    }  # fmt: skip
