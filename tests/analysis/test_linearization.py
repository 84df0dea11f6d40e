"""The way of a gang through branches and loops, as golden plans (see plans.py for the notation)."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.analysis.plans import analyse, show

PLANS = {
    "a branch that lanes take differently": (
        "br i1 %v, label %left, label %join",
        """
        left:
          store i32 1, ptr %q
          br label %join
        join:
          ret void
        """,
        """
        entry => left
        left ?=> join, -> join [mask: collected]
        join => END [mask: as entry]
        """,
    ),
    "both sides": (
        "br i1 %v, label %left, label %right",
        """
        left:
          store i32 1, ptr %q
          br label %join
        right:
          store i32 2, ptr %q
          br label %join
        join:
          ret void
        """,
        """
        entry => right
        right ?=> left, -> left [mask: collected]
        left ?=> join, -> join [mask: collected]
        join => END [mask: as entry]
        """,
    ),
    "a little arithmetic is not worth a test": (
        "br i1 %v, label %left, label %join",
        """
        left:
          %y = mul i32 %x, %x
          br label %join
        join:
          %r = phi i32 [ %y, %left ], [ 0, %entry ]
          store i32 %r, ptr %q
          ret void
        """,
        """
        entry => left
        left -> join [mask: collected]
        join => END [mask: as entry]
        """,
    ),
    "a uniform branch stays one": (
        "br i1 %u, label %left, label %right",
        """
        left:
          store i32 1, ptr %q
          br label %join
        right:
          store i32 2, ptr %q
          br label %join
        join:
          ret void
        """,
        """
        entry -> left | right
        right -> join [mask: assigned]
        left -> join [mask: assigned]
        join => END [mask: as entry]
        """,
    ),
    "a uniform branch on one side": (
        "br i1 %v, label %then, label %end",
        """
        then:
          br i1 %u, label %left, label %join
        left:
          store i32 1, ptr %q
          br label %join
        join:
          store i32 3, ptr %p
          br label %end
        end:
          ret void
        """,
        """
        entry => then
        then ?=> end, -> left | join [mask: collected]
        left -> join [mask: assigned]
        join -> end [mask: as then]
        end => END [mask: as entry]
        """,
    ),
    "a uniform branch into the other side becomes divergent": (
        "br i1 %v, label %left, label %right",
        """
        left:
          br i1 %u, label %both, label %join
        right:
          store i32 1, ptr %q
          br label %both
        both:
          store i32 2, ptr %q
          br label %join
        join:
          ret void
        """,
        """
        entry => right
        right ?=> left, -> left [mask: collected]
        left => both [mask: collected]
        both ?=> join, -> join [mask: collected]
        join => END [mask: as entry]
        """,
    ),
    "early returns": (
        "br i1 %v, label %end, label %next",
        """
        next:
          store i32 1, ptr %q
          %y = load i32, ptr %p
          %w = icmp eq i32 %y, 7
          br i1 %w, label %end, label %last
        last:
          store i32 2, ptr %q
          br label %end
        end:
          ret void
        """,
        """
        entry => next
        next ?=> end, => last [mask: collected]
        last ?=> end, -> end [mask: collected]
        end => END [mask: as entry]
        """,
    ),
    "a branch in a loop of all lanes": (
        "br label %loop",
        """
        loop:
          %k = phi i32 [ 0, %entry ], [ %next, %latch ]
          br i1 %v, label %then, label %latch
        then:
          store i32 %k, ptr %q
          br label %latch
        latch:
          %next = add i32 %k, 1
          %more = icmp slt i32 %next, %n
          br i1 %more, label %loop, label %end
        end:
          ret void
        """,
        """
        entry -> loop.loop
        loop.loop -> end [mask: as entry]
        end => END [mask: as loop.loop]
        loop loop:
          loop => then
          then ?=> latch, -> latch [mask: collected]
          latch -> back | out [mask: as loop]
        """,
    ),
    "a loop that lanes leave at its end": (
        "br label %loop",
        """
        loop:
          %k = phi i32 [ 0, %entry ], [ %next, %loop ]
          %next = add i32 %k, 1
          %more = icmp slt i32 %next, %x
          br i1 %more, label %loop, label %end
        end:
          ret void
        """,
        """
        entry -> loop.loop
        loop.loop => end [mask: as entry]
        end => END [mask: as loop.loop]
        divergent loop loop:
          loop => END
        """,
    ),
    "a loop that lanes leave in the middle": (
        "br label %loop",
        """
        loop:
          %k = phi i32 [ 0, %entry ], [ %next, %latch ]
          %found = icmp eq i32 %k, %x
          br i1 %found, label %hit, label %latch
        latch:
          %next = add i32 %k, 1
          %more = icmp slt i32 %next, %n
          br i1 %more, label %loop, label %end
        hit:
          store i32 1, ptr %q
          br label %end
        end:
          ret void
        """,
        """
        entry -> loop.loop
        loop.loop => hit [mask: as entry]
        hit ?=> end, -> end [mask: collected]
        end => END [mask: as loop.loop]
        divergent loop loop:
          loop => latch
          latch ?=> END, -> END | END [mask: collected]
        """,
    ),
    "an inner loop that lanes leave in different iterations": (
        "br label %outer",
        """
        outer:
          %i = phi i32 [ 0, %entry ], [ %inext, %olatch ]
          br label %inner
        inner:
          %k = phi i32 [ 0, %outer ], [ %knext, %inner ]
          %knext = add i32 %k, 1
          %w = icmp slt i32 %knext, %x
          br i1 %w, label %inner, label %olatch
        olatch:
          %inext = add i32 %i, 1
          %imore = icmp slt i32 %inext, %n
          br i1 %imore, label %outer, label %end
        end:
          ret void
        """,
        """
        entry -> outer.loop
        outer.loop -> end [mask: as entry]
        end => END [mask: as outer.loop]
        loop outer:
          outer -> inner.loop
          inner.loop => olatch [mask: as outer]
          olatch -> back | out [mask: as inner.loop]
        divergent loop inner:
            inner => END
        """,
    ),
    "an endless loop of some lanes is entered if there are any": (
        "br i1 %v, label %stuck, label %end",
        """
        stuck:
          br label %stuck
        end:
          store i32 1, ptr %q
          ret void
        """,
        """
        entry => end
        end ?=> stuck.loop, => stuck.loop [mask: collected]
        stuck.loop ?=> END, => END [mask: collected]
        loop stuck:
          stuck -> back
        """,
    ),
}


@pytest.mark.parametrize(("entry", "blocks", "plan"), PLANS.values(), ids=PLANS)
def test_plan(entry: str, blocks: str, plan: str) -> None:
    assert "\n".join(show(analyse(entry, blocks))) == _indented(plan)


def _indented(plan: str) -> str:
    """Nodes stand two spaces further in than in the table: one region is around them."""
    lines = dedent(plan).strip().split("\n")
    return "\n".join(line if line.endswith(":") else f"  {line}" for line in lines)
