"""Addresses as sums of products."""

from __future__ import annotations

from anymetal.simd.lane_numbers import LaneNumbers
from anymetal.simd.linear import ONE, LinearForms
from anymetal.simd.regions import RegionTree
from anymetal.simd.shape import Launch, Shapes
from tests.ir.programs import named, program


def test_forms_do_not_depend_on_what_was_asked_first() -> None:
    """However long the chain of instructions is that computes an address."""
    length = 3000
    sums = "\n".join(f"%x{k + 1} = add i32 %x{k}, 1" for k in range(length))
    read = program(
        f"""
        entry:
          %lane = call i32 @__am_lane()
          %n = load i32, ptr %a
          %x0 = add i32 %lane, %n
          {sums}
          ret void
        """
    )
    shapes = Shapes(read, RegionTree(read.blocks), Launch(True, True, True), {}, 32)
    numbers = LaneNumbers(read.instructions(), 32)
    chain = [i for i in read.instructions() if i.op == "add"]
    upward, downward = LinearForms(shapes, numbers), LinearForms(shapes, numbers)
    assert {v: downward(v) for v in chain[::-1]} == {v: upward(v) for v in chain}
    form = downward(chain[-1])
    assert form is not None
    assert form[ONE] == tuple(lane + length for lane in range(32))
    assert form[named(read, "n"),] == (1,) * 32
