"""Addresses as sums of products."""

from __future__ import annotations

from anymetal.analysis.affine import ONE, LinearForms
from anymetal.analysis.cache import LaunchFacts
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.analysis.uniformity import shapes
from tests.compiling import known_of
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
    known = known_of(read, LaunchFacts(linear=True, aligned=True, flat=True))
    values, numbers = known(shapes), known(lane_numbers)
    chain = [i for i in read.instructions() if i.op == "add"]
    upward, downward = LinearForms(values, numbers), LinearForms(values, numbers)
    assert {v: downward(v) for v in chain[::-1]} == {v: upward(v) for v in chain}
    form = downward(chain[-1])
    assert form is not None
    assert form[ONE] == tuple(lane + length for lane in range(32))
    assert form[named(read, "n"),] == (1,) * 32
