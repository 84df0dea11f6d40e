"""A second version of the program, for gangs whose threads all pass the bounds checks and bend no
index.

    if (r >= 0 && r < rows && c >= 0 && c < columns) sum += weight * x[r * columns + c];

becomes

    if (all lanes: r >= 0 && …) sum += weight * x[r * columns + c];        // the interior
    else                        the program as it was                      // the edge

Kernels check an index before they use it, or bend it where an array ends. As they stand, each check
is a mask, or at least a branch, and a bent index leads to a gather; but few gangs lie at an edge.
So all lanes are asked once, in front of the first check, and the interior is one piece of code
without masks, whose indices count on from lane to lane. Checks (index_checks.py) and bent indices
(bent_indices.py) take part where what they ask about can be computed in front.
"""

from __future__ import annotations

from collections.abc import Iterable

from anymetal.analysis.cache import Analyses
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Program, Value
from anymetal.passes.bent_indices import Clamp, Wrap, bent_indices
from anymetal.passes.index_checks import Check, agreeing, checks, comparisons_of, may_pass
from anymetal.passes.straighten import straighten
from anymetal.passes.version_front import Front

#: Instructions of a program that has two versions: larger ones take too long to compile.
MOST_INSTRUCTIONS = 600
_MOST_COMPARISONS = 32
_OPPOSITE = {
    "eq": "ne", "ne": "eq", "ult": "uge", "uge": "ult", "ule": "ugt", "ugt": "ule",
    "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle",
}  # fmt: skip


def run(known: Analyses) -> bool:
    """Adds the second version, if there is something that can be asked in front."""
    program = known.program
    if program.size > MOST_INSTRUCTIONS:
        return False
    entry = program.blocks[0]
    bent, choices = bent_indices(known)
    found = [c for c in (*checks(known), *choices.values()) if may_pass(c, known(lane_numbers))]
    front = Front(entry, _start(entry, found, {*choices, *(bend.instr for bend in bent)}))
    bent = _usable(front, bent)
    agreed = agreeing(c for c in found if all(map(front.can_have, c.comparisons)))
    comparisons = {one: wanted for c in agreed for one, wanted in c.comparisons.items()}
    if not 0 < len(comparisons) + len(bent) <= _MOST_COMPARISONS:
        return False
    front.move_allocas()
    for bend in bent:
        front.there[bend.instr] = bend.settle(front)
    for one, wanted in comparisons.items():
        left, right = map(front.have, one.operands)
        front.ask(one.arg if wanted else _OPPOSITE[one.arg], left, right, one)
    _Versions(program, front, comparisons, bent).make()
    return True


def _usable(front: Front, bent: Iterable[Clamp | Wrap]) -> list[Clamp | Wrap]:
    """The bent indices that can be asked about in front; one may be made of another."""
    found = []
    for bend in bent:
        if front.can_have(bend.place):
            front.possible[bend.instr] = True
            found.append(bend)
    return found


def _start(entry: Block, checks: list[Check], bent: set[Instr]) -> int:
    """Where in the first block the two versions begin: in front of all that they differ in."""
    guards = {check.condition for check in checks}
    for place, instr in enumerate(entry.instrs):
        if instr in bent or (instr.op == "guarded_load" and instr.operands[1] in guards):
            return place
    return len(entry.instrs) - 1


class _Versions:
    """Makes two versions of what follows on the front."""

    def __init__(
        self,
        program: Program,
        front: Front,
        comparisons: dict[Instr, bool],
        bent: list[Clamp | Wrap],
    ) -> None:
        self.program = program
        self.front = front
        self.comparisons = comparisons
        #: Old values -> those in the interior.
        self.values: dict[Value, Value] = {b.instr: front.there[b.instr] for b in bent}
        for instr in program.instructions():
            self._decide(instr)

    def _decide(self, instr: Instr) -> None:
        """Takes note of a condition that the comparisons decide."""
        for wanted in (True, False):
            parts = comparisons_of(instr, wanted) if instr.type == t.I1 else None
            if parts and parts.items() <= self.comparisons.items():
                self.values[instr] = Const(t.I1, "true" if wanted else "false")

    def make(self) -> None:
        program, front = self.program, self.front
        end = self._bare_end()
        edge = Block(f"{front.entry.name}$edge")
        self._move_rest(edge)
        outer = [edge, *(b for b in program.blocks[1:] if b is not end)]
        inner = {b: Block(f"{b.name}$inner") for b in outer}
        for block, copy in inner.items():
            self._copy(block, copy, inner)
        for copy in inner.values():
            for instr in copy.instrs:
                instr.operands = [self._inner(v) for v in instr.operands]
        passes = front.answer()
        front.entry.refill(front.instrs)
        front.entry.append(Instr(t.VOID, "br", [passes], [inner[edge], edge]))
        program.blocks = [front.entry, *inner.values(), *outer, end]
        straighten(program)

    def _bare_end(self) -> Block:
        """A block with nothing but the return, for both versions."""
        (end,) = (b for b in self.program.blocks if b.terminator.op == "ret")
        rest = self.front.rest if end is self.front.entry else end.instrs
        bare = Block(f"{end.name}$end")
        bare.append(rest.pop())
        rest.append(Instr(t.VOID, "br", [], [bare]))
        rest[-1].block = end
        return bare

    def _move_rest(self, edge: Block) -> None:
        for instr in self.front.rest:
            edge.append(instr)
        for block in edge.successors:
            for phi in block.phis:
                phi.arg = [edge if b is self.front.entry else b for b in phi.arg]

    def _copy(self, block: Block, copy: Block, blocks: dict[Block, Block]) -> None:
        for instr in block.instrs:
            chosen = self._inner(instr.operands[0]) if instr.op == "select" else None
            if instr in self.values:
                continue
            if isinstance(chosen, Const):
                self.values[instr] = instr.operands[1 if chosen.text == "true" else 2]
                continue
            one = instr.copy("inner")
            if instr.op in ("br", "phi"):
                one.arg = [blocks.get(b, b) for b in one.arg]
            if instr.op == "guarded_load" and self._passes(instr):
                one.op, one.operands, one.flags = "load", instr.operands[:1], ""
            self.values[instr] = one
            copy.append(one)

    def _passes(self, load: Instr) -> bool:
        """Whether a guarded load is done in all lanes of the interior."""
        condition = self.values.get(load.operands[1])
        wanted = "false" if "inverted" in load.flags else "true"
        return isinstance(condition, Const) and condition.text == wanted

    def _inner(self, value: Value) -> Value:
        """What an old value is in the interior."""
        while value in self.values:
            value = self.values[value]
        return value
