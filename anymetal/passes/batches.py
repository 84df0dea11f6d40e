"""Batches of accesses in two versions: a fast one, as they stand, and one that checks each access.

    %v = load %p          becomes      %all = call inside(%offset, %limit)     in all lanes?
                                       br %all, fast, slow
                                     fast: %v1 = load %p
                                     slow: %v2 = …                             checked, and told
                                       %v = phi [ %v1, fast ], [ %v2, slow ]

Lanes that count on stay inside if the first and the last one do, so the fast way costs a few scalar
comparisons (simd/emit/events.py). Accesses that follow each other are one batch, which asks once.
What is computed only to be told is computed again on the slow way, so that the fast way does not
need it in all lanes.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Location, Program, Value

#: Accesses of a batch: they are all done before anything is computed from them.
MOST = 24
_COPIED = frozenset("gep sext zext trunc add sub mul shl or and freeze".split())
_DEEPEST = 16

#: Writes a part of the slow or the fast way, at the end of this block, and returns the block that
#: what follows belongs into.
Part = Callable[["Way"], None]


class Way:
    """One of the two versions, as it is written."""

    def __init__(self, split: Splitter, block: Block, slow: bool) -> None:
        self.split = split
        self.block = block
        self.slow = slow
        self.results: dict[Instr, Instr] = {}  #: of the batch's accesses
        self._copies: dict[Value, Instr] = {}

    def add(
        self, type_: t.Type, op: str, operands: list[Value], arg: object = None,
        loc: Location | None = None,
    ) -> Instr:  # fmt: skip
        """Appends an instruction."""
        return self.block.append(Instr(type_, op, operands, arg, loc=loc))

    def again(self, value: Value, depth: int = 0) -> Value:
        """The value, computed once more if this is the slow way."""
        if not (self.slow and isinstance(value, Instr) and value.op in _COPIED):
            return value
        if depth > _DEEPEST:
            return value
        if value not in self._copies:
            operands = [self.again(v, depth + 1) for v in value.operands]
            made = Instr(value.type, value.op, operands, value.arg, value.flags, value.loc)
            self._copies[value] = self.block.append(made)
        return self._copies[value]

    def unless(self, bad: Value, access: Callable[[], Instr], loc: Location | None) -> Instr:
        """Does something in the lanes where the condition does not hold; gives 0 in others."""
        before = self.block
        done, behind = self.split.new("within"), self.split.new("behind")
        self.split.own.add(self.add(t.VOID, "br", [bad], [behind, done], loc))
        self.block = done
        made = access()
        self.add(t.VOID, "br", [], [behind], loc)
        self.block = behind
        if not made.has_result:
            return made
        nothing = Const(made.type, zero_of(made.type))
        return self.add(made.type, "phi", [nothing, made], [before, done], loc)


class Splitter:
    """Takes blocks apart."""

    def __init__(self, program: Program, own: set[Instr]) -> None:
        self.program = program
        self.own = own  #: branches that are none of the program's

    def new(self, what: str) -> Block:
        """A new block."""
        made = Block(f"%{what}.{len(self.program.blocks)}")
        self.program.blocks.append(made)
        return made

    def versions(self, block: Block, fine: Value, parts: list[Part], results: list[Instr]) -> Block:
        """Writes all parts twice, behind `block`, which goes the fast way if `fine` holds; returns
        the block where both meet. `results`, loads so far, become phis there."""
        fast, slow, rest = (self.new(what) for what in ("fast", "slow", "rest"))
        loc = results[0].loc if results else None
        self.own.add(block.append(Instr(t.VOID, "br", [fine], [fast, slow], loc=loc)))
        ways = [Way(self, fast, False), Way(self, slow, True)]
        for way in ways:
            for part in parts:
                part(way)
            way.add(t.VOID, "br", [], [rest], loc)
        for load in results:
            load.operands = [way.results[load] for way in ways]
            load.op, load.arg, load.flags = "phi", [way.block for way in ways], ""
            rest.append(load)
        return rest


def moved_to(end: Block, start: Block) -> None:
    """The terminator of what was `start` now ends `end`: the phis of its targets learn of it."""
    for target in end.successors:
        for phi in target.phis:
            phi.arg = [end if block is start else block for block in phi.arg]


def zero_of(type_: t.Type) -> str:
    """The spelling of 0."""
    if type_.is_ptr:
        return "null"
    return "0.0" if type_.is_float else "false" if type_ is t.I1 else "0"
