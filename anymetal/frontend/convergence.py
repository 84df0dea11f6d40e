"""Keeps cross-lane calls in the loops in whose text they stand.

    for (uint k = 0; k < n; ++k) {
      if (x[k] == lane) { total = simd_sum(1); break; }
    }

The sum is over the lanes that leave in one iteration. But LLVM does not count code on the way out
as part of the loop, and lanes that have left a loop meet all others behind it. So the loops of the
optimised program are compared with those of the text, whose beginnings and ends the line table has.
If a call is no longer in its loop, an edge back into the loop, which is never taken, goes behind
the call, and the program is optimised again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from anymetal.frontend.loops import LOOP_MARK, Function, Loop, Place, last_instruction

CROSS_LANE = r"__am_(?:shuffle|ballot|matrix_fma|reduce_\w+|scan_\w+|xscan_\w+)"
#: In a sanitized build also what stands in front of barriers (wrong_operands.py).
_TOGETHER = rf"(?:{CROSS_LANE}|__am_lanes)"

#: A condition that LLVM does not know; it is always true.
_ALWAYS = "__am_always"
_DECLARATION = f"declare i1 @{_ALWAYS}() nounwind willreturn memory(inaccessiblemem: readwrite)\n"
_ASKED = re.compile(rf"(?:tail )?call i1 @{_ALWAYS}\(\)(?: #\d+)?")
_DECLARED = re.compile(rf"^declare .*@{_TOGETHER}\(", re.M)
_CALL = re.compile(rf"@{_TOGETHER}\(.*?!dbg !(\d+)")
_ANY_CALL = re.compile(r"\bcall [^\n]*!dbg !(\d+)")


class Escape(NamedTuple):
    """A call that has left its loop, and the place where that loop begins."""

    call: Place
    loop: Place


def at_risk(raw: str, optimised: str) -> bool:
    """Whether calls may leave their loops: Clang's output has one in the text of a loop that ends
    not by its condition only."""
    if not _DECLARED.search(optimised) or "!llvm.loop" not in raw:
        return False
    called = _called(optimised)
    return any(
        loop.begin.place <= place <= loop.end.place
        for function in Function.all(raw)
        for loop in function.loops
        if _has_ways_out(function, loop)
        for place in called
    )


def _called(optimised: str) -> set[Place]:
    """The places of all cross-lane calls, and of the calls that were inlined around them."""
    return {
        level.place
        for function in Function.all(optimised)
        for call in _CALL.finditer(function.text)
        for level in function.levels(call[1])
    }


def _has_ways_out(function: Function, loop: Loop) -> bool:
    return any(function.leaves(loop, block) for block in loop.blocks - {loop.header})


def escapes(optimised: str) -> set[Escape]:
    """The calls in an optimised module that have left their loops."""
    return {
        Escape(level.place, loop.begin.place)
        for function in Function.all(optimised)
        for loop in function.loops
        for block in function.behind(loop.header).difference(
            *(copy.blocks for copy in function.loops if copy.begin == loop.begin)
        )
        for call in _CALL.finditer(function.blocks[block])
        for level in function.levels(call[1])
        if loop.surrounds(level)
    }


def doubtful(raw: str, simplified: str, optimised: str) -> set[Escape]:
    """Calls that may or may not have left their loop: the loop has been unrolled or replaced, has
    lost its name when LLVM joined branches, or comes from one macro and so has one place only."""
    left = _begins(Function.all(optimised))
    functions = Function.all(simplified)
    named = _begins(functions)
    called = _called(optimised)
    unknown = {
        Escape(place, loop.begin.place)
        for function in Function.all(raw)
        for loop in function.loops
        if (loop.is_macro or loop.begin.place not in named) and _has_ways_out(function, loop)
        for place in called
        if loop.begin.place <= place <= loop.end.place
    }
    return unknown | {
        Escape(level.place, loop.begin.place)
        for function in functions
        for loop in function.loops
        if loop.begin.place not in left
        for block in loop.blocks
        if _may_lead_out(function, loop, block)
        for call in _CALL.finditer(function.blocks[block])
        for level in function.levels(call[1])
        if loop.surrounds(level)
    }


def _begins(functions: list[Function]) -> set[Place]:
    """The places where loops begin."""
    return {loop.begin.place for function in functions for loop in function.loops}


def _may_lead_out(function: Function, loop: Loop, block: str) -> bool:
    """Whether a block is left out by some iterations, and may lead out of the loop."""
    always = all(function.returns(latch, block) for latch in loop.latches)
    behind = function.behind(block) & loop.blocks
    return not always and any(function.leaves(loop, other) for other in behind)


def marked(raw: str) -> str:
    """Clang's output, with each `continue` named as an edge of its loop, too: if the end of a loop
    cannot be reached, LLVM drops the only edge that Clang has named."""
    for function in Function.all(raw):
        blocks = dict(function.blocks)
        for loop in function.loops:
            marks = {found[0] for b in loop.latches if (found := LOOP_MARK.search(blocks[b]))}
            mark = min(marks)
            for latch in loop.latches:
                edge = re.compile(
                    rf"^(  br label %{re.escape(loop.header)}(?:, !dbg !\d+)?)$", re.M
                )
                blocks[latch] = edge.sub(rf"\1, {mark}", blocks[latch])
        raw = raw.replace(function.text, function.changed(blocks).text, 1)
    return raw


def held(raw: str, found: set[Escape]) -> str:
    """Clang's output, with an edge back into the loop behind each of these calls."""
    functions = Function.all(raw)
    for function in functions:
        if ways := sorted(_ways_back(function, found)):
            raw = raw.replace(function.text, _with_ways_back(function, ways), 1)
    return raw + _DECLARATION


def settled(optimised: str) -> str:
    """The optimised module, with the conditions of these edges known: none is taken."""
    return _ASKED.sub("icmp eq i32 0, 0", optimised)


def _ways_back(function: Function, found: set[Escape]) -> Iterator[tuple[str, str]]:
    """Blocks with a call that has left its loop, and the block of the loop to go back to."""
    places = {block: set(_places(function, text)) for block, text in function.blocks.items()}
    for loop in function.loops:
        # The blocks of Clang's output stand in the order of the text.
        order = list(places)
        last = max(order.index(latch) for latch in loop.latches)
        for block in order[order.index(loop.header) : last + 1]:
            if any(Escape(place, loop.begin.place) in found for place in places[block]):
                yield block, _again(loop)


def _places(function: Function, text: str) -> Iterator[Place]:
    """Where the calls in a block stand."""
    for call in _ANY_CALL.finditer(text):
        for level in list(function.levels(call[1]))[:1]:
            yield level.place


def _again(loop: Loop) -> str:
    """The block where an iteration ends, so that the number of iterations stays known."""
    ends = [name for name in loop.latches if name.startswith(("for.inc", "do.cond"))]
    return ends[0] if ends else loop.header


def _with_ways_back(function: Function, ways: list[tuple[str, str]]) -> str:
    blocks = dict(function.blocks)
    renamed = {}
    for number, (block, target) in enumerate(ways):
        at = last_instruction(blocks[block])
        blocks[block] = (
            f"{blocks[block][:at]}  %am.always.{number} = call i1 @{_ALWAYS}()\n"
            f"  br i1 %am.always.{number}, label %am.rest.{number}, label %{target}\n\n"
            f"am.rest.{number}:\n{blocks[block][at:]}"
        )
        renamed[block] = f"am.rest.{number}"
    text = function.changed(blocks).text
    for block, name in renamed.items():
        text = re.sub(rf"(\[ [^][]*, )%{re.escape(block)} \]", rf"\1%{name} ]", text)
    return text
