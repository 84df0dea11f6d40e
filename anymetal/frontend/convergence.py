"""Keeps cross-lane calls in the loops in whose text they stand.

    for (uint k = 0; k < n; ++k) {
      if (x[k] == lane) { total = simd_sum(1); break; }
    }

The sum is over the lanes that leave in one iteration. But LLVM does not count code on the way out
as part of the loop, and lanes that have left a loop meet all others behind it. So the loops of the
optimised program are compared with those of the text, whose beginnings and ends the line table has.
If a call is no longer in its loop, an edge back into the loop, which is never taken, goes behind
the call, and the program is optimised again.

So it is with what opens a lock: `while (!done) if (taken(lock)) { …; open(lock); done = 1; }`.
Behind the loop, the lane that has the lock would wait for those that try to take it. All atomic
stores and exchanges count as such.

What stands in a loop is told by the numbers of lines. `#line` may bring those into another order,
so such kernels are compiled once more without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from anymetal.frontend.loops import LOOP_MARK, Function, Loop, Place
from anymetal.source import KernelSource

CROSS_LANE = r"__am_(?:shuffle|ballot|matrix_fma|reduce_\w+|scan_\w+|xscan_\w+)"
#: In a sanitized build also what stands in front of barriers (wrong_operands.py).
_TOGETHER = rf"(?:{CROSS_LANE}|__am_lanes)"

#: A condition that LLVM does not know; it is always true.
_ALWAYS = "__am_always"
_DECLARATION = f"declare i1 @{_ALWAYS}() nounwind willreturn memory(inaccessiblemem: readwrite)\n"
_ASKED = re.compile(rf"(?:tail )?call i1 @{_ALWAYS}\(\)(?: #\d+)?")
_OPENS = r"\b(?:store atomic|atomicrmw(?: volatile)? xchg) "
_CROSSES = re.compile(rf"@{_TOGETHER}\(|{_OPENS}")
_CALL = re.compile(rf"(?:{_CROSSES.pattern}).*?!dbg !(\d+)")
_ANY_CALL = re.compile(r"\bcall [^@\n]*@(?P<callee>\"[^\"]+\"|[\w.$]+)\([^\n]*!dbg !(?P<place>\d+)")
_RETURN = re.compile(r"^  ret ", re.M)
#: `#line 7 "x.metal"`, and `# 7 "x.metal" 2` as preprocessors write it.
_LINE_DIRECTIVE = re.compile(
    r'^[ \t]*(?:#|%:)[ \t]*(?:line[ \t]+)?\d+(?:[ \t]+"[^"\n]*"(?:[ \t]+\d)*)?[ \t]*$', re.M
)
#: What the condition of a loop follows from, in LLVM's text.
_DEFINED = re.compile(r"^  (?P<name>%[\w.$]+) = (?P<what>.*)$", re.M)
_BRANCH = re.compile(r"^  br i1 (%[\w.$]+),", re.M)
_NAME = re.compile(r"%[\w.$]+")
_MET = re.compile(r"\[ (%[\w.$]+), ")
_COMPUTES = re.compile(
    r"(?:add|sub|mul|[us]div|[us]rem|shl|[al]shr|and|or|xor|icmp|fcmp|f(?:add|sub|mul|div)|trunc|"
    r"[sz]ext)\b"
)


class Escape(NamedTuple):
    """A call that has left its loop, and the place where that loop begins."""

    call: Place
    loop: Place


class _Call(NamedTuple):
    callee: str
    place: Place
    end: int  #: of its line, in the text of its block


def with_lines_in_order(source: KernelSource, raw: str) -> KernelSource | None:
    """The kernel without directives that give lines other numbers, or None if that changes nothing
    here."""
    parts = {part: _LINE_DIRECTIVE.sub("", text) for part, text in source.parts.items()}
    matters = parts != source.parts and "!llvm.loop" in raw and _CROSSES.search(raw)
    return source.with_parts(parts) if matters else None


def at_risk(raw: str, optimised: str) -> bool:
    """Whether calls may leave their loops: Clang's output has one in the text of a loop that ends
    not by its condition only, or one that some iterations of a loop leave out: the condition may
    follow from that (`if (…) { total = simd_sum(1); done = true; }`)."""
    if not _CALL.search(optimised) or "!llvm.loop" not in raw:
        return False
    return any(_at_risk(Function.all(raw), _called(optimised)))


def _at_risk(functions: list[Function], called: set[Place]) -> Iterator[tuple[Loop, Place]]:
    """The loops of Clang's output with those of these places that may have left them."""
    guarding = _guarding(functions, called)
    for function in functions:
        for loop in function.loops:
            all_of_it = _has_ways_out(function, loop)
            for place in called if all_of_it else _left_out(function, loop, guarding) & called:
                if loop.begin.place <= place <= loop.end.place:
                    yield loop, place


def _guarding(functions: list[Function], called: set[Place]) -> set[str]:
    """The functions that make some of these calls, or do not."""
    calls = {
        function: [
            (block, call.callee)
            for block, text in function.blocks.items()
            for call in _calls(function, text)
            if call.place in called
        ]
        for function in functions
    }
    found: set[str] = set()
    while new := {
        function.name
        for function, made in calls.items()
        if function.name not in found and _leaves_out(function, made, found)
    }:
        found |= new
    return found


def _leaves_out(function: Function, calls: list[tuple[str, str]], guarding: set[str]) -> bool:
    ends = [block for block, text in function.blocks.items() if _RETURN.search(text)]
    return any(
        callee in guarding or not all(function.returns(end, block) for end in ends)
        for block, callee in calls
    )


def _left_out(function: Function, loop: Loop, guarding: set[str]) -> set[Place]:
    """The places of the calls that some iterations leave out."""
    return {
        call.place
        for block in loop.blocks
        for call in _calls(function, function.blocks[block])
        if call.callee in guarding or not _in_each_iteration(function, loop, block)
    }


def _called(optimised: str) -> set[Place]:
    """The places of all cross-lane calls, of what opens locks, and of the calls that were inlined
    around them."""
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
    lost its name when LLVM joined branches, or comes from one macro and so has one place only.
    A loop that is gone although all that are left have names goes round once: there is no way out
    of it that others do not take, and with an edge back it would be one with loops inside of it."""
    left = _begins(Function.all(optimised))
    functions = Function.all(simplified)
    named, nameless = _begins(functions), any(function.has_nameless_loops for function in functions)
    unknown = {
        Escape(place, loop.begin.place)
        for loop, place in _at_risk(Function.all(raw), _called(optimised))
        if loop.is_macro or (loop.begin.place not in named and nameless)
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
    """Whether a block is left out by some iterations, and may lead out of the loop: by itself, or
    by what it tells the loop's condition."""
    if _in_each_iteration(function, loop, block):
        return False
    behind = function.behind(block) & loop.blocks
    return any(function.leaves(loop, other) for other in behind) or not _counts(function, loop)


def _counts(function: Function, loop: Loop) -> bool:
    """Whether all lanes go round equally often: the loop's conditions follow from constants."""
    defined = {
        match["name"]: (block, match["what"])
        for block in loop.blocks
        for match in _DEFINED.finditer(function.blocks[block])
    }
    asked = [
        match[1]
        for block in loop.blocks
        if function.leaves(loop, block)
        for match in _BRANCH.finditer(function.blocks[block])
    ]
    seen: set[str] = set()
    while asked:
        name = asked.pop()
        if name in seen:
            continue
        seen.add(name)
        block, what = defined.get(name, ("", ""))
        if block == loop.header and what.startswith("phi "):
            asked += _MET.findall(what)
        elif _COMPUTES.match(what):
            asked += _NAME.findall(what)
        else:
            return False
    return True


def _in_each_iteration(function: Function, loop: Loop, block: str) -> bool:
    return all(function.returns(latch, block) for latch in loop.latches)


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
        if ways := sorted(_ways_back(function, found), reverse=True):
            raw = raw.replace(function.text, _with_ways_back(function, ways), 1)
    return raw + _DECLARATION


def settled(optimised: str) -> str:
    """The optimised module, with the conditions of these edges known: none is taken."""
    return _ASKED.sub("icmp eq i32 0, 0", optimised)


def _ways_back(function: Function, found: set[Escape]) -> Iterator[tuple[str, int, str]]:
    """Blocks with a call that has left its loop, where in their text it ends, and the block of the
    loop to go back to. What the call's iteration tells the loop's condition comes behind it."""
    calls = {block: list(_calls(function, text)) for block, text in function.blocks.items()}
    for loop in function.loops:
        # The blocks of Clang's output stand in the order of the text.
        order = list(calls)
        last = max(order.index(latch) for latch in loop.latches)
        for block in order[order.index(loop.header) : last + 1]:
            ends = [c.end for c in calls[block] if Escape(c.place, loop.begin.place) in found]
            if ends:
                yield block, max(ends), _again(loop)


def _calls(function: Function, text: str) -> Iterator[_Call]:
    """The calls in a block that stand in the user's text."""
    for call in _ANY_CALL.finditer(text):
        for level in list(function.levels(call["place"]))[:1]:
            yield _Call(call["callee"], level.place, text.index("\n", call.end()) + 1)


def _again(loop: Loop) -> str:
    """The block where an iteration ends, so that the number of iterations stays known."""
    ends = [name for name in loop.latches if name.startswith(("for.inc", "do.cond"))]
    return ends[0] if ends else loop.header


def _with_ways_back(function: Function, ways: list[tuple[str, int, str]]) -> str:
    blocks = dict(function.blocks)
    renamed: dict[str, str] = {}
    for number, (block, at, target) in enumerate(ways):
        blocks[block] = (
            f"{blocks[block][:at]}  %am.always.{number} = call i1 @{_ALWAYS}()\n"
            f"  br i1 %am.always.{number}, label %am.rest.{number}, label %{target}\n\n"
            f"am.rest.{number}:\n{blocks[block][at:]}"
        )
        renamed.setdefault(block, f"am.rest.{number}")  # the last part comes first
    text = function.changed(blocks).text
    for block, name in renamed.items():
        text = re.sub(rf"(\[ [^][]*, )%{re.escape(block)} \]", rf"\1%{name} ]", text)
    return text
