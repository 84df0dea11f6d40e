"""Loads move to where their values are needed, and no further than memory allows."""

from __future__ import annotations

import pytest

from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.passes import late_loads
from tests.ir.programs import named, program


def moved(body: str) -> Program:
    read = program(body)
    late_loads.run(read)
    check(read, Stage.GUARDED)
    return read


def home(read: Program, name: str = "x") -> str:
    block = named(read, name).block
    assert block is not None
    return block.name


# -------------------------------------------------------------------------- behind a branch

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
_STORE = "store i32 1, ptr %out"
_USE = "store float %x, ptr %out"
_WRITERS = [
    _STORE,
    "store volatile i32 1, ptr %out",
    "%w = atomicrmw add ptr %out, i32 1 monotonic",
    "%w = cmpxchg ptr %out, i32 1, i32 2 monotonic monotonic",
    "fence seq_cst",
    "call void @__am_threadgroup_barrier(i32 1)",
    "call void @__am_simdgroup_barrier(i32 1)",
    "call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 1024, i1 false)",
]
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
    read = moved(branch(after=_STORE))
    assert home(read) == "%use"
    assert [i.op for i in read.blocks[2].instrs] == ["load", "store", "br"]


@pytest.mark.parametrize("writer", _WRITERS)
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
    read = moved(branch(use=f"{_USE}\n{_STORE}"))
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


_LOOP = """
    entry:
      {before}
      br label %loop
    loop:
      %n = phi i32 [ 0, %entry ], [ %next, %latch ]
      {head}
      %c = icmp eq i32 %n, 3
      br i1 %c, label %use, label %latch
    use:
      {use}
      br label %latch
    latch:
      {latch}
      %next = add i32 %n, 1
      %more = icmp ult i32 %next, 9
      br i1 %more, label %loop, label %exit
    exit:
      {after}
      ret void
"""


def loop(**parts: str) -> str:
    return _LOOP.format(**(dict.fromkeys("before head use latch after".split(), "") | parts))


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
    assert home(moved(loop(head=_LOAD, use=_USE, latch=_STORE))) == "%use"


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
    assert home(moved(body.format(write=_STORE))) == "%entry"


# ------------------------------------------------------------------------ under a condition

_SELECT = """
    %n = load volatile i32, ptr %out
    %c = icmp ult i32 %n, 5
    %p = getelementptr i8, ptr %a, i64 40
    %x = load float, ptr %p
    {between}
    %r = select i1 %c, float {yes}, float {no}
    {after}
    store float %r, ptr %out
    ret void
"""


def select(yes: str = "%x", no: str = "0.0", between: str = "", after: str = "") -> str:
    return _SELECT.format(yes=yes, no=no, between=between, after=after)


@pytest.mark.parametrize(("yes", "no", "flag"), [("%x", "0.0", ""), ("1.0", "%x", "inverted")])
def test_a_load_for_one_selection_is_done_under_its_condition(yes: str, no: str, flag: str) -> None:
    read = moved(select(yes, no, between="%w = call float @asinhf(float 1.0)"))
    load = named(read, "x")
    assert (load.op, load.flags) == ("guarded_load", flag)
    assert load.operands == [named(read, "p"), named(read, "c")]
    place = read.blocks[0].instrs.index(load)
    assert read.blocks[0].instrs[place + 1] is named(read, "r")


@pytest.mark.parametrize(
    "body",
    [
        select(yes="%x", no="%x"),
        select(after="store float %x, ptr %a"),
        select(between="%y = fneg float %x", yes="%y"),
        *(select(between=writer) for writer in _WRITERS),
        select().replace("load float", "load volatile float"),
        select().replace("select i1 %c", "select i1 true"),
    ],
)
def test_other_loads_are_done_at_once(body: str) -> None:
    assert named(moved(body), "x").op == "load"


def test_a_condition_made_of_the_value_itself() -> None:
    read = moved(
        """
        %x = load i8, ptr %a
        %c = trunc i8 %x to i1
        %r = select i1 %c, i8 %x, i8 0
        store i8 %r, ptr %out
        ret void
        """
    )
    assert named(read, "x").op == "load"


def test_two_loads_for_one_selection() -> None:
    read = moved(
        """
        %n = load volatile i32, ptr %out
        %c = icmp ult i32 %n, 5
        %x = load float, ptr %a
        %p = getelementptr i8, ptr %a, i64 4
        %y = load float, ptr %p
        %r = select i1 %c, float %x, float %y
        store float %r, ptr %out
        ret void
        """
    )
    loads = named(read, "x"), named(read, "y")
    assert [(load.op, load.flags) for load in loads] == [
        ("guarded_load", ""),
        ("guarded_load", "inverted"),
    ]
