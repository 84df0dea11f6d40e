"""Loads move to where their values are needed, and no further than memory allows."""

from __future__ import annotations

import pytest

from tests.passes.predicate_loads_programs import STORE, WRITERS, home, loop, moved

#: %x is loaded in the entry and needed in block `use`; {…} are places for other instructions.
_BRANCH = """
    entry:
      %p = getelementptr i8, ptr %a, i64 8
      %c = icmp eq ptr %a, %out
      %x = load{kind} float, ptr %p{order}, align 4
      {behind}
      br i1 %c, label %middle, label %end
    middle:
      {between}
      br label %use
    use:
      {use}
      br label %end
    end:
      {after}
      ret void
"""
_USE = "store float %x, ptr %out"
_READERS = [
    "%w = call i32 @__am_lane()",
    "%w = call i32 @__am_shuffle(i32 1, i32 1)",
    "%w = call float @asinhf(float 1.0)",
    "%w = call float @llvm.exp.f32(float 1.0)",
]


def branch(**parts: str) -> str:
    blank = dict.fromkeys("kind order behind between after".split(), "") | {"use": _USE}
    return _BRANCH.format(**(blank | parts))


def test_a_load_moves_to_its_only_use() -> None:
    read = moved(branch(after=STORE))
    assert home(read) == "%use"
    assert [i.op for i in read.blocks[2].instrs] == ["load", "store", "br"]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("place", ["behind", "between"])
def test_it_never_passes_a_writer(writer: str, place: str) -> None:
    assert home(moved(branch(**{place: writer}))) == "%entry"


@pytest.mark.parametrize("reader", _READERS)
@pytest.mark.parametrize("place", ["behind", "between"])
def test_it_passes_what_only_reads(reader: str, place: str) -> None:
    assert home(moved(branch(**{place: reader}))) == "%use"


@pytest.mark.parametrize(("kind", "order"), [(" volatile", ""), (" atomic", " monotonic")])
def test_special_loads_stay(kind: str, order: str) -> None:
    assert home(moved(branch(kind=kind, order=order))) == "%entry"


def test_it_moves_above_all_its_uses() -> None:
    two = branch(between="%w = fneg float %x\nstore float %w, ptr poison")
    assert home(moved(two.replace("store float %w, ptr poison", ""))) == "%middle"


def test_it_moves_in_front_of_the_first_use_only() -> None:
    """A writer behind the use, in the block where the load arrives, does no harm."""
    read = moved(branch(use=f"{_USE}\n{STORE}"))
    assert [i.op for i in read.blocks[2].instrs] == ["load", "store", "store", "br"]


def test_a_use_on_both_ways_keeps_it() -> None:
    assert home(moved(branch(after=_USE))) == "%entry"


def test_a_phi_uses_its_operand_where_it_comes_from() -> None:
    read = moved(
        """
        entry:
          %c = icmp eq ptr %a, %out
          %x = load float, ptr %a
          br i1 %c, label %left, label %join
        left:
          br label %join
        join:
          %r = phi float [ %x, %left ], [ 0.0, %entry ]
          store float %r, ptr %out
          ret void
        """
    )
    assert home(read) == "%left"


def test_loads_of_addresses_follow() -> None:
    """The second load takes the first along."""
    read = moved(
        """
        entry:
          %c = icmp eq ptr %a, %out
          %p = load ptr, ptr %a
          %x = load float, ptr %p
          br i1 %c, label %use, label %end
        use:
          store float %x, ptr %out
          br label %end
        end:
          ret void
        """
    )
    assert (home(read, "p"), home(read, "x")) == ("%use", "%use")
    assert [i.name for i in read.blocks[1].instrs[:2]] == ["%p", "%x"]


def test_what_is_computed_on_the_way_moves_along() -> None:
    two = branch(
        behind="%y = fneg float %x\n%z = fmul float %y, %y", use="store float %z, ptr %out"
    )
    read = moved(two.replace("store float %z", "%v = fadd float %z, %y\nstore float %v"))
    assert {home(read, name) for name in "xyzv"} == {"%use"}


_LOAD = "%x = load float, ptr %a"


def test_a_load_does_not_move_into_a_loop() -> None:
    """It would be done many times, and memory may have changed in between."""
    assert home(moved(loop(before=_LOAD, use=_USE))) == "%entry"


def test_a_load_does_not_move_out_of_a_loop() -> None:
    last = "%l = phi float [ %x, %latch ]\nstore float %l, ptr %out"
    assert home(moved(loop(head=_LOAD, after=last))) != "%exit"


def test_a_load_moves_inside_its_loop() -> None:
    assert home(moved(loop(head=_LOAD, use=_USE))) == "%use"


def test_what_the_rest_of_the_iteration_writes_does_no_harm() -> None:
    """The load comes first in the next iteration, too."""
    assert home(moved(loop(head=_LOAD, use=_USE, latch=STORE))) == "%use"


def test_what_an_inner_loop_writes_does_harm() -> None:
    body = """
        entry:
          %x = load float, ptr %a
          br label %inner
        inner:
          %n = phi i32 [ 0, %entry ], [ %next, %inner ]
          {write}
          %next = add i32 %n, 1
          %more = icmp ult i32 %next, 9
          br i1 %more, label %inner, label %use
        use:
          store float %x, ptr %out
          ret void
    """
    assert home(moved(body.format(write=""))) == "%use"
    assert home(moved(body.format(write=STORE))) == "%entry"
