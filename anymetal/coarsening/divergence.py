"""Divergence between SIMD-groups: which values differ between those of a threadgroup.

A value differs if it follows from the number of the SIMD-group; all others are the same in
corresponding lanes. Where a branch depends on one that differs, SIMD-groups take different paths:
the blocks from there to where the paths join are a part that runs `apart`, and all values in it
differ. A part is given a block of its own in front and behind.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, is_atomic, writes
from anymetal.analysis.objects import origins
from anymetal.ir import types as t
from anymetal.ir.calls import ALL, BARRIER
from anymetal.ir.cfg import Loop, dominators, find_loops, postorder
from anymetal.ir.model import Block, Instr, Value, predecessors


class Part:
    """Blocks that control enters at `entry` and leaves from `last` only."""

    def __init__(self, entry: Block, last: Block, blocks: list[Block]) -> None:
        self.entry = entry
        self.last = last
        self.blocks = blocks


class Divergence:
    """The result; `possible` is false if SIMD-groups may come to different barriers."""

    def __init__(
        self, known: Analyses, positions: frozenset[str], same: Callable[[Instr], bool]
    ) -> None:
        self.program = known.program
        self._origins = known(origins)
        self.positions = positions  #: calls whose results differ
        self.same = same  #: whether a result is known to be uniform although its operands differ
        self.values: set[Value] = set()  #: instructions whose result differs
        self.parts: list[Part] = []
        self.possible = self._run()

    def apart(self, block: Block) -> Part | None:
        """The part that a block is in."""
        return next((part for part in self.parts if block in part.blocks), None)

    def _run(self) -> bool:
        if sum(b.terminator.op == "ret" for b in self.program.blocks) != 1:
            return False
        self._find_values()
        while (branch := self._next_branch()) is not None:
            part = self._part(branch)
            if part is None:
                return False
            self.parts = [p for p in self.parts if p.entry not in part.blocks] + [part]
            self._find_values()
        return True

    # -- values ---------------------------------------------------------------------------

    def _find_values(self) -> None:
        apart = {block for part in self.parts for block in part.blocks}
        found = -1
        while len(self.values) > found:
            found = len(self.values)
            for block in self.program.blocks:
                for instr in block.instrs:
                    if instr not in self.values and (block in apart or self._differs(instr)):
                        self.values.add(instr)
                        self._split_arrays(instr)

    def _differs(self, instr: Instr) -> bool:
        if instr.op == "call" and instr.arg in (BARRIER, ALL):
            return False  # a team does it once
        if instr.op == "call" and (instr.arg in self.positions or instr.arg == "__am_log"):
            return True
        if is_atomic(instr) or (instr.op in (*LOADS, "store") and instr.arg.volatile):
            return True
        return any(v in self.values for v in instr.operands) and not self.same(instr)

    def _split_arrays(self, instr: Instr) -> None:
        """Private arrays into which SIMD-groups write different values differ, too."""
        if writes(instr):
            places = (o for v in instr.operands for o in self._origins.get(v, ()))
            self.values.update(o for o in places if isinstance(o, Instr))

    # -- parts ----------------------------------------------------------------------------

    def _next_branch(self) -> Block | None:
        """A block in no part yet that SIMD-groups may leave by different edges."""
        for block in self.program.blocks:
            end = block.terminator
            if end in self.values and len(block.successors) == 2 and self.apart(block) is None:
                return block
        return None

    def _part(self, block: Block) -> Part | None:
        """The part that a branch begins; None if control can cross its borders, or at a barrier."""
        blocks = self.program.blocks
        preds = predecessors(blocks)
        (ret,) = (b for b in blocks if b.terminator.op == "ret")
        after = dominators(ret, lambda b: preds[b])
        if block not in after:
            return None  # in a loop without end
        end = after[block]
        loop = self._outermost(block, end)
        starts = block.successors if loop is None else [loop.header]
        inside = _between(starts, end)
        entries = {p for b in inside for p in preds[b] if p not in inside}
        if loop is None:
            closed = block not in inside and entries <= {block}
        else:
            closed = len(entries) == 1 and all(
                p in inside or b is loop.header for b in inside for p in preds[b]
            )
        if not closed or end in inside:
            return None
        members = [b for b in blocks if b in inside]
        if any(i.op == "call" and i.arg == BARRIER for b in members for i in b.instrs):
            return None
        if any(p.entry in inside and not inside.issuperset(p.blocks) for p in self.parts):
            return None
        first = self._front(block) if loop is None else loop.header
        if loop is None:
            members.insert(0, first)
        last = self._landing(members, end)
        return Part(first, last, [*members, last])

    def _outermost(self, block: Block, end: Block) -> Loop | None:
        """The outermost loop that contains the block but not the end."""
        loops = find_loops(self.program.blocks)
        return next((p for p in loops if block in p.blocks and end not in p.blocks), None)

    def _front(self, block: Block) -> Block:
        """Moves the branch at the end of `block` to a block of its own."""
        branch = block.instrs.pop()
        front = Block(f"{block.name}$ways")
        front.append(branch)
        block.append(Instr(t.VOID, "br", [], [front]))
        for successor in front.successors:
            for phi in successor.phis:
                phi.arg = [front if b is block else b for b in phi.arg]
        self._insert(front, self.program.blocks.index(block) + 1)
        return front

    def _landing(self, members: list[Block], end: Block) -> Block:
        """A block that all edges from the members to `end` are led through."""
        landing = Block(f"{end.name}$meet")
        for phi in end.phis:
            pairs = list(zip(phi.operands, phi.arg, strict=True))
            ours = [(v, b) for v, b in pairs if b in members]
            others = [(v, b) for v, b in pairs if b not in members]
            values, sources = [v for v, _ in ours], [b for _, b in ours]
            meeting = landing.append(Instr(phi.type, "phi", values, sources, phi.flags, phi.loc))
            phi.operands = [*(v for v, _ in others), meeting]
            phi.arg = [*(b for _, b in others), landing]
        landing.append(Instr(t.VOID, "br", [], [end]))
        for block in members:
            if block.terminator.op == "br":
                targets = block.terminator.arg
                block.terminator.arg = [landing if b is end else b for b in targets]
        self._insert(landing, self.program.blocks.index(end))
        return landing

    def _insert(self, block: Block, place: int) -> None:
        names = {b.name for b in self.program.blocks}
        while block.name in names:
            block.name += "."
        self.program.blocks.insert(place, block)


def _between(starts: list[Block], end: Block) -> set[Block]:
    found: set[Block] = set()
    for start in starts:
        if start is not end:
            found |= set(postorder(start, lambda b: [s for s in b.successors if s is not end]))
    return found
