"""Loads whose values are selected are done under the condition of the selection."""

from __future__ import annotations

import pytest

from tests.ir.programs import named
from tests.passes.predicate_loads_programs import WRITERS, moved

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
        select(between="%y = call i32 @__am_shuffle(i32 1, i32 1)\nstore float %x, ptr %a"),
        select().replace("load float", "load volatile float"),
        select().replace("select i1 %c", "select i1 true"),
    ],
)
def test_other_loads_are_done_at_once(body: str) -> None:
    assert named(moved(body), "x").op == "load"


@pytest.mark.parametrize("writer", WRITERS)
def test_it_is_done_before_anything_is_written(writer: str) -> None:
    instrs = moved(select(between=writer)).blocks[0].instrs
    load = next(i for i in instrs if i.op == "guarded_load")
    assert instrs[instrs.index(load) + 1].op in writer.replace("void", "call")


@pytest.mark.parametrize("writer", WRITERS)
def test_a_condition_read_after_that_comes_too_late(writer: str) -> None:
    late = select(between=f"{writer}\n%m = load i32, ptr %out\n%d = icmp ult i32 %m, 5")
    assert named(moved(late.replace("i1 %c", "i1 %d")), "x").op == "load"
    above = late.replace(f"{writer}\n", "").replace("i1 %c", "i1 %d")
    assert named(moved(above), "x").op == "guarded_load"


_PURE = [
    "%y = fneg float %x",
    "%z = fmul float %x, %x\n%y = fadd float %z, %x",
    "%y = call float @llvm.maxnum.f32(float %x, float 3.0)",
    "%y = call float @asinhf(float %x)",
    "%z = fcmp olt float %x, 3.0\n%y = select i1 %z, float %x, float 3.0",
    "%z = bitcast float %x to i32\n%w = xor i32 %z, 5\n%y = bitcast i32 %w to float",
]


@pytest.mark.parametrize("pure", _PURE)
def test_a_condition_reaches_through_what_only_computes(pure: str) -> None:
    load = named(moved(select(between=pure, yes="%y")), "x")
    assert (load.op, load.operands[1].name) == ("guarded_load", "%c")  # type: ignore[attr-defined]


def test_other_lanes_need_a_value_always() -> None:
    """In a shuffle the value goes to a lane whose condition may hold."""
    shuffle = """%i = bitcast float %x to i32
    %s = call i32 @__am_shuffle(i32 %i, i32 1)
    %y = bitcast i32 %s to float"""
    assert named(moved(select(between=shuffle, yes="%y")), "x").op == "load"


def test_loads_that_are_certain_to_be_there() -> None:
    """Private memory at a known place is there for all lanes."""
    private = select().replace("%p = getelementptr i8, ptr %a, i64 40", "%p = alloca [4 x float]")
    assert named(moved(private), "x").op == "load"
    beyond = private.replace("load float, ptr %p", "load float, ptr %q").replace(
        "%x =", "%q = getelementptr i8, ptr %p, i64 16\n%x ="
    )
    assert named(moved(beyond), "x").op == "guarded_load"


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
