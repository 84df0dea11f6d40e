"""Induction variables of loops that are written down, and how often those run."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import loops
from anymetal.analysis.induction import Induction, inductions, only_exit, trips
from anymetal.ir.model import Const
from tests.ir.programs import named, program


def _known(
    phi: str, update: str, test: str, more: str = "", leaves: str = "end, label %loop"
) -> Analyses:
    """A loop of one block with a phi `i`, its next value `next` and a condition `done`."""
    return Analyses(
        program(
            f"""
            entry:
              %gang = call i32 @__am_gang()
              %wide = load i64, ptr %a
              br label %loop
            loop:
              %i = phi {phi}
              {more}
              %next = {update}
              %done = {test}
              br i1 %done, label %{leaves}
            end:
              ret void
            """
        )
    )


def _inductions(known: Analyses) -> list[Induction]:
    (found,) = known(inductions).values()
    return found


_FROM_0 = "i32 [ 0, %entry ], [ %next, %loop ]"
_EQ = "icmp eq i32 %next, 12"


@pytest.mark.parametrize(
    ("update", "step", "growth"),
    [
        ("add i32 %i, 3", "3", 3),
        ("add i32 %i, -3", "-3", -3),
        ("add i32 %i, %gang", "gang", 0),
        ("add i32 %gang, %i", "gang", 0),
        ("add i32 %i, %inside", None, 0),  # which changes in the loop
        ("add i32 %i, %i", None, 0),
        ("mul i32 %i, 3", None, 0),
        ("sub i32 %gang, %i", None, 0),
        ("add i32 %inside, 1", None, 0),
    ],
)
def test_what_grows_evenly(update: str, step: str | None, growth: int) -> None:
    known = _known(_FROM_0, update, _EQ, more="%inside = load i32, ptr %a")
    found = _inductions(known)
    if step is None:
        assert found == []
        return
    (one,) = found
    read = known.program
    assert (one.phi, one.update, one.growth) == (named(read, "i"), named(read, "next"), growth)
    assert isinstance(one.start, Const) and one.start.int_value == 0
    text = one.step.text if isinstance(one.step, Const) else named(read, step).name.strip("%")
    assert text == step and (isinstance(one.step, Const) or one.step is named(read, step))


@pytest.mark.parametrize(
    ("test", "compared"),
    [
        ("icmp eq i32 %next, 12", True),
        ("icmp ult i32 %i, %gang", True),
        ("icmp ult i32 %i, %inside", False),
        ("icmp ult i32 %gang, 12", False),
        ("trunc i32 %next to i1", False),
    ],
)
def test_comparisons_where_a_loop_is_left(test: str, compared: bool) -> None:
    known = _known(_FROM_0, "add i32 %i, 1", test, more="%inside = load i32, ptr %a")
    (one,) = _inductions(known)
    assert one.tests == ([named(known.program, "done")] if compared else [])


_NEVER = 0


def _counted(
    start: int, step: int, value: str, predicate: str, limit: int, bits: int, again: bool
) -> int:
    """Runs the loop: the oracle. 0 where a number wraps, or there is no end for long. Only a count
    down may be below zero, by less than a step, at its end and as a number with a sign."""
    top = 1 << min(bits, 32) - 1
    least = 0 if step > 0 or predicate.startswith("u") else step
    if limit < least:
        return _NEVER
    number = start
    for count in range(1, 2000):
        following = number + step
        compared = following if value == "next" else number
        if compared >= top or compared < least:
            return _NEVER
        holds = {
            "eq": compared == limit, "ne": compared != limit, "lt": compared < limit,
            "le": compared <= limit, "gt": compared > limit, "ge": compared >= limit,
        }[predicate[-2:]]  # fmt: skip
        if holds != again:
            return count
        number = following
    return _NEVER


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("value", ["i", "next"])
@pytest.mark.parametrize("predicate", ["eq", "ne", "ult", "sle", "sgt", "uge", "slt", "ugt"])
def test_iterations(predicate: str, value: str, again: bool) -> None:
    """The same number as by running the loop, for limits before, at and behind what is counted."""
    leaves = "loop, label %end" if again else "end, label %loop"
    for start, step in ((0, 1), (2, 3), (5, 1), (11, -1), (12, -2), (6, -5), (0, -1)):
        for limit in (-2, -1, 0, 1, 2, 4, 5, 6, 11, 12, 120):
            for bits in (8, 32):
                known = _known(
                    f"i{bits} [ {start}, %entry ], [ %next, %loop ]",
                    f"add i{bits} %i, {step}",
                    f"icmp {predicate} i{bits} %{value}, {limit}",
                    leaves=leaves,
                )
                expected = _counted(start, step, value, predicate, limit, bits, again)
                found = known(trips).get(known(loops)[0], _NEVER)
                assert found == expected, (start, step, limit, bits)


@pytest.mark.parametrize(
    ("phi", "update", "test"),
    [
        ("i32 [ %gang, %entry ], [ %next, %loop ]", "add i32 %i, 1", _EQ),
        (_FROM_0, "add i32 %i, %gang", _EQ),
        (_FROM_0, "add i32 %i, -1", "icmp eq i32 %next, 0"),
        (_FROM_0, "add i32 %i, 1", "icmp eq i32 %next, %gang"),
        (_FROM_0, "add i32 %i, 1", "icmp slt i32 %next, -4"),
        ("i32 [ -8, %entry ], [ %next, %loop ]", "add i32 %i, 1", "icmp eq i32 %next, 0"),
        # as a number with a sign it wraps before
        ("i8 [ 0, %entry ], [ %next, %loop ]", "add i8 %i, 100", "icmp sge i8 %next, 120"),
    ],
)
def test_iterations_that_are_not_known(phi: str, update: str, test: str) -> None:
    assert _known(phi, update, test)(trips) == {}


def test_a_loop_that_may_be_left_early_has_no_number_of_iterations() -> None:
    known = Analyses(
        program(
            """
            entry:
              br label %loop
            loop:
              %i = phi i32 [ 0, %entry ], [ %next, %last ]
              %x = load i32, ptr %a
              %early = icmp eq i32 %x, 7
              br i1 %early, label %end, label %last
            last:
              %next = add i32 %i, 1
              %done = icmp eq i32 %next, 12
              br i1 %done, label %end, label %loop
            end:
              ret void
            """
        )
    )
    (loop,) = known(loops)
    assert only_exit(loop) is None and known(trips) == {}
    (one,) = _inductions(known)
    assert one.tests == [named(known.program, "done")]


def test_loops_in_loops_have_their_own() -> None:
    known = Analyses(
        program(
            """
            entry:
              br label %outer
            outer:
              %i = phi i32 [ 0, %entry ], [ %i2, %last ]
              br label %inner
            inner:
              %j = phi i32 [ %i, %outer ], [ %j2, %inner ]
              %k = phi i32 [ 4, %outer ], [ %k2, %inner ]
              %j2 = add i32 %j, %i
              %k2 = add i32 %k, 2
              %left = icmp ugt i32 %k2, 9
              br i1 %left, label %last, label %inner
            last:
              %i2 = add i32 %i, 1
              %done = icmp eq i32 %i2, 12
              br i1 %done, label %end, label %outer
            end:
              ret void
            """
        )
    )
    outer, inner = known(loops)
    found = {loop: [one.phi.name for one in many] for loop, many in known(inductions).items()}
    assert found == {outer: ["%i"], inner: ["%j", "%k"]}
    assert known(trips) == {outer: 12, inner: 3}
