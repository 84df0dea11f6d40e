"""What the lines of a kernel cost, in proportion: its machine code, weighed.

A weight is a guess at the cycles that an instruction keeps a core busy, good to a factor of two: it
puts findings in an order, and predicts nothing. A loop counts as often as it goes round if that is
a constant, else ten times; what runs for each lane, 32 times. Nothing is measured: `anymetal
profile` does that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import is_atomic
from anymetal.analysis.induction import trips
from anymetal.analysis.regions import Region, RegionTree
from anymetal.emission.marks import Marks
from anymetal.explain.classes import class_of
from anymetal.explain.costs import goes_over_lanes, is_poll
from anymetal.explain.facts import Fact
from anymetal.explain.listing import Instruction, Listing
from anymetal.ir.model import Instr, Location
from anymetal.simd.emit.gang import GangFunction

_WEIGHTS = {"gathers": 12, "scatters": 16, "calls": 30, "atomics": 20, "spills": 2}
_DIVISIONS = ("div", "sqrt")
_DIVISION = 8
_UNKNOWN_TRIPS = 10
_LANES = 32


@dataclass
class Weights:
    """Costs, in no unit; what counts is their proportion."""

    total: float = 0.0
    lines: dict[tuple[str, int], float] = field(default_factory=dict)  #: where, line
    #: Of what facts are about: place and kind.
    findings: dict[tuple[Location | None, str], float] = field(default_factory=dict)
    #: The instructions of each line, in the order of the machine code.
    code: dict[tuple[str, int], list[str]] = field(default_factory=dict)

    def add(self, instr: Instr, cost: float, code: Iterable[Instruction]) -> None:
        """Count an instruction of the thread program, for which this code was written."""
        self.total += cost
        place = instr.loc
        key = place, kind_of(instr)
        self.findings[key] = self.findings.get(key, 0.0) + cost
        if place is not None:
            line = place.where, place.line
            self.lines[line] = self.lines.get(line, 0.0) + cost
            shown = self.code.setdefault(line, [])
            shown += (f"{one.operation} {one.operands}".rstrip() for one in code)


def weights(function: GangFunction, marks: Marks, listing: Listing) -> Weights:
    """The costs of the code of one gang.

    LLVM copies code: it unrolls loops, ours over gangs among them, and makes versions. So an
    instruction of the thread program has the cost of one of its copies, one in the middle.
    """
    copies: dict[Instr, dict[int, list[Instruction]]] = {}
    for instruction in listing.instructions:
        if instruction.mark:
            mark = marks.known[instruction.mark - 1]
            if mark.function == function.name and mark.instr.block is not None:
                of_block = copies.setdefault(mark.instr, {})
                of_block.setdefault(instruction.block, []).append(instruction)
    factor = _Factors(marks, listing)
    found = Weights()
    for instr, blocks in copies.items():
        costs = {number: sum(map(factor, one)) for number, one in blocks.items()}
        middle = sorted(costs, key=lambda number: costs[number])[len(costs) // 2]
        cost = costs[middle] * rounds(instr, function.tree, function.known)
        found.add(instr, cost, blocks[middle])
    return found


class _Factors:
    """What an instruction of the machine code costs each time that its iteration runs."""

    def __init__(self, marks: Marks, listing: Listing) -> None:
        self._factors: dict[int, float] = {}  #: by identity
        for loop in listing.loops:  # outer ones first
            at_once = max(1, sum(is_poll(one, marks) for one in loop.instructions))
            for one in loop.instructions:
                self._factors[id(one)] = 1 / at_once
        for loop in listing.loops:
            if goes_over_lanes(loop):
                self._factors |= dict.fromkeys(map(id, loop.everything), float(_LANES))

    def __call__(self, instruction: Instruction) -> float:
        return weight(instruction) * self._factors.get(id(instruction), 1.0)


def rounds(instr: Instr, tree: RegionTree, known: Analyses) -> float:
    """How often an instruction runs, for each time that the kernel does."""
    assert instr.block is not None
    known_trips = known(trips)
    counts = []
    at: Region | None = tree.node_of[instr.block].region
    while at is not None and at.loop is not None:
        counts.append(known_trips.get(at.loop, _UNKNOWN_TRIPS))
        at = at.parent
    return prod(counts)


def weight(instruction: Instruction) -> float:
    """Of one instruction, once."""
    if any(word in instruction.operation for word in _DIVISIONS):
        return _DIVISION
    return _WEIGHTS.get(class_of(instruction), 1)


def kind_of(instr: Instr) -> str:
    """The kind of the facts about an instruction (facts.py)."""
    if is_atomic(instr):
        return "atomic"
    if instr.op == "store":
        return "store"
    if instr.op in ("load", "guarded_load"):
        return "load"
    return {"select": "choice", "br": "branch", "call": "call"}.get(instr.op, "")


def kind_of_fact(fact: Fact) -> str:
    """The same of a fact."""
    return "call" if fact.kind in ("cross-lane", "barrier") else fact.kind
