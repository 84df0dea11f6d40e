"""Markers become events; accesses get silent bounds checks."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir.calls import ACCESS, EVENTS, FOUND, INSIDE, MARKERS, STRAY
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.passes import observe
from anymetal.passes.observe import Observed, ObservedSite
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Compilation, run
from anymetal.pipeline.stages import Stages
from tests.ir.programs import program


def observed(body: str, top: str = "") -> tuple[Program, Observed]:
    """The program with its events, and what they refer to."""
    read = program(body, top=top)
    run(thread.PASSES, Compilation(Analyses(read), Stages(), ()))
    made = observe.run(Analyses(read))
    check(read, Stage.CHECKED)
    return read, made


def events(read: Program, fast: bool = False) -> list[list[str]]:
    """Each event on the slow or the fast way: its name, and those operands that are constants."""
    other = "%slow" if fast else "%fast"
    return [
        [i.arg, *(getattr(v, "text", "") for v in i.operands)]
        for block in read.blocks
        for i in block.instrs
        if i.op == "call" and i.arg in EVENTS and not block.name.startswith(other)
    ]


def test_accesses_of_what_is_written_are_told():
    read, made = observed("""
      call void @__am_seen(ptr %a, i64 4, i32 0, i32 4, i32 0)
      %x = load i32, ptr %a
      call void @__am_seen(ptr %out, i64 4, i32 1, i32 4, i32 1)
      store i32 %x, ptr %out
      ret void
    """)
    assert not any(i.op == "call" and i.arg in (*MARKERS, STRAY) for i in read.instructions())
    assert events(read) == [
        [FOUND, "", "0", "0", "", "0"],
        [FOUND, "", "1", "1", "", "1"],
        [ACCESS, "", "", "1", "4", "1", "1"],
    ]
    assert events(read, fast=True) == [[ACCESS, "false", "", "1", "4", "1", "1"]]
    assert made.watched == {1: 4}
    assert made.sites.all == [ObservedSite("read", 4, "", 4), ObservedSite("wrote", 4, "", 4)]


def test_copies_of_a_place_are_one_place():
    read, made = observed("""
      call void @__am_seen(ptr %out, i64 4, i32 1, i32 4, i32 7)
      %next = getelementptr i32, ptr %out, i64 1
      call void @__am_seen(ptr %next, i64 4, i32 1, i32 4, i32 7)
      ret void
    """)
    assert [event[3] for event in events(read) if event[0] == FOUND] == ["0", "0"]
    assert len(made.sites.all) == 1


def test_what_is_inside_for_certain_is_not_compared():
    read, _ = observed(
        """
      %in = getelementptr i8, ptr @threadgroup.0.t, i64 12
      call void @__am_seen(ptr %in, i64 4, i32 1, i32 4, i32 0)
      %out.of = getelementptr i8, ptr @threadgroup.0.t, i64 16
      call void @__am_seen(ptr %out.of, i64 4, i32 1, i32 4, i32 1)
      ret void
    """,
        top="@threadgroup.0.t = external global [4 x i32], align 4",
    )
    assert [event[0] for event in events(read)] == [ACCESS, FOUND, ACCESS]


def test_vectors_that_may_be_misaligned_are_looked_at():
    read, _ = observed("""
      call void @__am_seen(ptr %a, i64 16, i32 0, i32 16, i32 0)
      %next = getelementptr i8, ptr %a, i64 16
      call void @__am_seen(ptr %next, i64 16, i32 0, i32 16, i32 1)
      %odd = getelementptr i8, ptr %a, i64 4
      call void @__am_seen(ptr %odd, i64 16, i32 0, i32 16, i32 2)
      ret void
    """)
    kinds = [event[2] for event in events(read)]
    assert kinds == [str(k) for k in (0, 0, 0, observe.MISALIGNED)]


def test_barriers_and_what_lanes_do_together_are_told_before_they_happen():
    read, made = observed("""
      %x = load i32, ptr %a
      call void @__am_lanes(i32 0, i32 3, i32 12)
      %y = call i32 @__am_shuffle(i32 %x, i32 3)
      store i32 %y, ptr %out
      call void @__am_returned(i32 13)
      call void @__am_threadgroup_barrier(i32 2)
      call void @__am_simdgroup_barrier(i32 0)
      ret void
    """)
    assert events(read) == [
        ["__am_crosses", "3", "0", "0"],
        ["__am_crosses", "13", "4", "1"],
        ["__am_meets", "2", "false", "2"],
        ["__am_meets", "0", "true", "3"],
    ]
    actions = [site.action for site in made.sites.all]
    assert actions == ["shuffled", "returned", "barrier", "barrier"]


def test_accesses_that_follow_each_other_ask_once_and_keep_their_order():
    read, _ = observed("""
      call void @__am_seen(ptr %a, i64 8, i32 0, i32 4, i32 0)
      %x = load i32, ptr %a
      %next = getelementptr i8, ptr %a, i64 4
      %y = load i32, ptr %next
      %z = add i32 %x, %y
      call void @__am_seen(ptr %out, i64 4, i32 1, i32 4, i32 1)
      store i32 %z, ptr %out
      %w = load i32, ptr %a
      call void @__am_seen(ptr %next, i64 4, i32 1, i32 4, i32 2)
      store i32 %w, ptr %next
      ret void
    """)
    entry = read.blocks[0]
    asked = [i for i in read.instructions() if i.op == "call" and i.arg == INSIDE]
    assert sum(i.block is entry for i in asked) == 1  # the marker asks for both loads
    ways = [[i.op for i in b.instrs] for b in read.blocks if b.name.startswith("%fast")]
    assert ways == [
        ["call", "load", "load", "br"],
        ["call", "store", "load", "br"],
        ["call", "store", "br"],
    ]


def test_private_arrays_keep_their_pointers():
    """A pointer that may lead elsewhere would keep them from lying lane by lane."""
    read, _ = observed("""
      %own = alloca [4 x i32]
      %n = load i64, ptr %a
      %p = getelementptr i32, ptr %own, i64 %n
      store i32 1, ptr %p
      %x = load i32, ptr %p
      store i32 %x, ptr %out
      ret void
    """)
    own = next(i for i in read.instructions() if i.op == "alloca" and "4 x" in str(i.arg[0]))
    pointers = {i for i in read.instructions() if i.op == "gep" and i.operands[0] is own}
    users = [i for i in read.instructions() if not pointers.isdisjoint(i.operands)]
    assert {i.op for i in users} == {"load", "store"}
