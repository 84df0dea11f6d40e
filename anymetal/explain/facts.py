"""What the vectorizer decided, as facts about lines of the user's text.

Nothing is decided here: the generator follows the same strategies, plans and shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, accessed, is_atomic, pointer_of
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.analysis.objects import origins
from anymetal.analysis.regions import Node, Region
from anymetal.analysis.uniformity import Shapes
from anymetal.explain.reasons import names_of, reason
from anymetal.ir import types as t
from anymetal.ir.calls import BARRIER, is_cross_lane
from anymetal.ir.model import Block, Instr, Location, Value
from anymetal.simd import questions
from anymetal.simd.access.strategies import (
    AccessStrategy,
    AtomicStrategy,
    access_strategy,
    is_plain,
)
from anymetal.simd.emit.gang import GangFunction

#: As cheap as can be; a matter of the data; lanes apart from each other.
Price = Literal["low", "open", "high"]


class Fact(NamedTuple):
    """Something about a line; `location` is None if LLVM has lost it."""

    location: Location | None
    kind: str  #: "load", "store", "atomic", "branch", "choice", "loop", "barrier", …
    text: str
    price: Price = "low"


_ATOMICS = {
    AtomicStrategy.COMBINED: "the lanes are combined first, then one {}",
    AtomicStrategy.COUNTED: "one {} for all lanes; old values by a prefix sum",
    AtomicStrategy.SIDE_BY_SIDE: "contiguous, a vector at a time",
    AtomicStrategy.ADDED_RUN: "contiguous: locked exchanges of 16 bytes",
    AtomicStrategy.ADDED: "tested at run time: one address (combined), a run (16 bytes at a time), "
    "or lane by lane",
    AtomicStrategy.LANES: "lane by lane, each a {}",
}
_PRICES: dict[AccessStrategy | AtomicStrategy, Price] = {
    AccessStrategy.STRIDED: "high",
    AccessStrategy.TESTED: "open",
    AccessStrategy.PRIVATE: "high",
    AccessStrategy.LANES: "high",
    AtomicStrategy.ADDED: "open",
    AtomicStrategy.LANES: "high",
}
_ACCESSES = {
    AccessStrategy.UNIFORM: "uniform",
    AccessStrategy.RUN: "contiguous",
    AccessStrategy.TURNED: "contiguous, the last lane first",
    AccessStrategy.PRIVATE_RUN: "private array, interleaved: one vector",
    AccessStrategy.PRIVATE: "private array, interleaved; the index differs between lanes: {}",
    AccessStrategy.LANES: "lane by lane",
}
#: Strategies that are one instruction where the processor has a masked one.
_WIDE = (AccessStrategy.RUN, AccessStrategy.TURNED, AccessStrategy.GROUP)


def facts(function: GangFunction) -> list[Fact]:
    """All facts about the code of one gang, in the order of the program."""
    regions = function.tree.regions[1:]
    loops = {location_of(region) for region in regions}
    found = [_loop(function, region) for region in regions]
    for block in function.shapes.order:
        for instr in block.instrs:
            if instr.op in (*LOADS, "store"):
                found.append(_access(function, instr))
            elif is_atomic(instr):
                found.append(_atomic(function, instr))
            elif instr.op == "select":
                found.extend(_choice(function, instr))
            elif instr.op == "call":
                found.extend(_call(function, instr))
        # A loop's first test has a branch of its own, which says nothing new.
        found.extend(fact for fact in _branch(function, block) if fact.location not in loops)
    return _once(found, function.team)


def _once(found: list[Fact], team: int) -> list[Fact]:
    """Leaves out facts that only repeat those of another SIMD-group of a team."""
    counts: Counter[Fact] = Counter()
    result = []
    for fact in found:
        if counts[fact] % team == 0:
            result.append(fact)
        counts[fact] += 1
    return result


# -- memory -------------------------------------------------------------------------------


def _access(function: GangFunction, instr: Instr) -> Fact:
    kind = "store" if instr.op == "store" else "load"
    pointer = pointer_of(instr)
    strategy, text = _strategy(function, instr, kind)
    own = "private array, a copy for each lane" if _is_own(function, pointer) else ""
    conditional = "only where its value is needed" if instr.op == "guarded_load" else ""
    masked = "masked" if instr.block and function.is_masked(instr.block) else ""
    if strategy is AccessStrategy.UNIFORM:
        masked = ""
    streams = instr in function.known(questions.streaming)
    streamed = "past the caches if the results are large" if streams else ""
    detour = _detour(function, instr, strategy, bool(masked or conditional))
    parts = filter(None, (own, text, conditional, masked, streamed, detour))
    price: Price = "high" if detour else _PRICES.get(strategy, "low")
    where = names_of(function.known, pointer)
    return Fact(instr.loc, kind, f"{where}: {', '.join(parts)}", price)


def _is_own(function: GangFunction, pointer: Value) -> bool:
    """Whether a pointer leads into a private array that is not interleaved."""
    leads_to = function.known(origins).get(pointer, frozenset())
    owned = all(isinstance(o, Instr) and o.op == "alloca" for o in leads_to)
    return bool(leads_to) and owned and pointer not in function.private


def _strategy(function: GangFunction, instr: Instr, kind: str) -> tuple[AccessStrategy, str]:
    """The strategy of an access, and its description."""
    apart = "scatter" if kind == "store" else "gather"
    group = function.group_of.get(instr)
    if group is not None and not group.anywhere:
        alone = group.has_gaps and not group.is_filled
        each = f"a {kind} a lane" if alone else f"one wide {kind}"
        text = f"grouped: {len(group.members)} neighbours a lane, {each}"
        ordered = group.is_ordered and not function.groups.partial
        return AccessStrategy.GROUP, f"{text}, in the order of memory" if ordered else text
    if (tile := function.tile_of.get(instr)) is not None:
        runs, length = len(tile.runs), len(tile.runs[0].cells)
        rows = f"a row of {length} elements"
        if runs > 1:
            rows = f"{runs} rows of {length} elements" if length > 1 else f"{runs} elements"
        return AccessStrategy.TILE, f"tiled: {rows}, known from the lane number"
    if group is not None:
        apart = f"a {kind} a lane of {len(group.members)} neighbours"
    strategy = access_strategy(instr, function.shapes, function.private)
    if strategy is AccessStrategy.STRIDED:
        stride = function.shapes[pointer_of(instr)].stride
        return strategy, f"strided, {stride} bytes from lane to lane: {apart}"
    if strategy is AccessStrategy.TESTED:
        one = "" if kind == "store" else "one element, "
        size = accessed(instr).type.size
        if kind == "load" and function.known.machine.loads_windows(size):
            one += "a few vectors, "
        cause = reason(function.known, pointer_of(instr))
        because = f" (the address depends on {cause})" if cause else ""
        return strategy, f"tested at run time: {one}a run, or {apart}{because}"
    return strategy, _ACCESSES[strategy].format(apart)


def _detour(function: GangFunction, instr: Instr, strategy: AccessStrategy, masked: bool) -> str:
    """What a mask costs if the CPU has no instruction for it."""
    operation = "store" if instr.op == "store" else "load"
    size = accessed(instr).type.size
    if not masked or strategy not in _WIDE:
        return ""
    if function.known.machine.masked(operation, size):
        return ""
    return f"lane by lane, since this CPU has no masked {operation} of {8 * size} bits"


def _atomic(function: GangFunction, instr: Instr) -> Fact:
    plain = is_plain(instr, function.known(origins))
    one = "plain operation (threadgroup memory)" if plain else "locked instruction"
    strategy = function.atomics.strategy(instr)
    text = _ATOMICS[strategy].format(one)
    where = names_of(function.known, instr.operands[0])
    return Fact(instr.loc, "atomic", f"{where}: {text}", _PRICES.get(strategy, "low"))


# -- calls --------------------------------------------------------------------------------


def _call(function: GangFunction, instr: Instr) -> Iterator[Fact]:
    name = instr.arg
    if name == BARRIER:
        text = "nothing to wait for, a threadgroup is one SIMD-group"
        if function.team > 1:
            text = f"{function.team} SIMD-groups of the threadgroup run as one"
            text += ", the others have to come" if function.suspends else ", nothing to wait for"
        elif function.suspends:
            text = "the SIMD-group is suspended until the others have come"
        yield Fact(instr.loc, "barrier", text)
    elif is_cross_lane(name):
        yield Fact(instr.loc, "cross-lane", _cross_lane(function, instr))
    elif instr.has_result and function.arithmetic.runs_lane_by_lane(instr):
        yield Fact(instr.loc, "call", f"{name.removeprefix('llvm.')}: lane by lane", "high")


def _cross_lane(function: GangFunction, instr: Instr) -> str:
    name = instr.arg.removeprefix("__am_")
    if name.startswith("shuffle"):
        lane = instr.operands[1]
        if function.shapes[lane].is_uniform:
            return "all lanes read one lane"
        known = function.known(lane_numbers)(lane) is not None
        return "shuffle: " + ("a fixed permutation" if known else "lane numbers through memory")
    if name.startswith("reduce"):
        return "reduction of all lanes, uniform result"
    if name.startswith(("scan", "xscan")):
        return "prefix operation over the lanes"
    if name.startswith("matrix"):
        return "product of 8 x 8 matrices, as whole vectors"
    if name.startswith("ballot"):
        return "ballot: the mask as a number, uniform result"
    return "no code: lanes run in lockstep"


# -- control ------------------------------------------------------------------------------


def _branch(function: GangFunction, block: Block) -> Iterator[Fact]:
    """A branch that is not the end of a loop."""
    node, end = function.tree.node_of[block], block.terminator
    if not is_branch(node, end):
        return
    if not function.shapes.diverges(node):
        yield Fact(end.loc, "branch", "uniform: one side runs")
        return
    plan = function.plans[node.region]
    skipped = any(target in plan.skip for target in node.successors)
    text = "divergent: both sides in turn, each for its lanes"
    if skipped:
        text += "; a side without lanes is skipped"
    yield Fact(end.loc, "branch", text + because(function.known, end.operands[0]), "open")


def is_branch(node: Node, end: Instr) -> bool:
    """Whether the end of a block is a branch. What goes round, or leaves, is part of the loop."""
    if end.op != "br" or len(end.arg) < 2 or end.arg[0] is end.arg[1]:
        return False
    return node.region.loop is None or all(edge.node is not None for edge in node.edges)


def _choice(function: GangFunction, instr: Instr) -> Iterator[Fact]:
    """An `if` or `?:` that LLVM has turned into a selection, unless it is an `&&` or `||`."""
    if instr.type != t.I1 and not function.shapes[instr.operands[0]].is_uniform:
        text = "no branch: both values are computed, each lane takes its own"
        yield Fact(instr.loc, "choice", text)


def _loop(function: GangFunction, region: Region) -> Fact:
    place = location_of(region)
    if region.loop not in function.shapes.divergent_loops:
        return Fact(place, "loop", "uniform: all lanes go round together")
    text = "divergent: goes round until the last lane has left"
    return Fact(
        place,
        "loop",
        text + because(function.known, leaving_condition(function.shapes, region)),
        "open",
    )


def because(known: Analyses, condition: Value | None) -> str:
    """Why a condition differs between lanes, in brackets; or ""."""
    cause = reason(known, condition) if condition is not None else ""
    return f" (the condition depends on {cause})" if cause else ""


def leaving_condition(shapes: Shapes, region: Region) -> Value | None:
    """The condition that lets lanes leave a loop in different iterations."""
    assert region.loop is not None
    leaving = [block for block, _ in region.loop.exits if block in shapes.divergent]
    others = [block for block in region.loop.ordered if block in shapes.divergent]
    for block in leaving + others:
        return block.terminator.operands[0]
    return None


def location_of(region: Region) -> Location | None:
    """The place of a loop: the first of those that decide whether it goes on."""
    assert region.loop is not None
    ends = [block.terminator for block, _ in region.loop.exits]
    ends += [b.terminator for b in region.loop.ordered if region.loop.header in b.successors]
    places = [end.loc for end in ends if end.loc is not None]
    places = places or [i.loc for b in region.loop.ordered for i in b.instrs if i.loc is not None]
    return min(places, key=lambda place: (place.line, place.column), default=None)
