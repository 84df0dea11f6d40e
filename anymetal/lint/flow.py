"""Control flow as barriers and shared memory see it: which threads come to a block, and what they
meet on their way.

Threads part at divergent branches and meet again at the branch's immediate postdominator; what lies
between is a *region*. Divergent is meant twice: between the threads of a threadgroup, and between
the lanes of a SIMD-group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from anymetal.analysis.cache import ANY_LAUNCH, Analyses
from anymetal.analysis.control import loops, postdominators
from anymetal.analysis.effects import LOADS, pointer_of
from anymetal.analysis.objects import origins
from anymetal.analysis.private_arrays import interleaved
from anymetal.analysis.regions import regions
from anymetal.analysis.uniformity import UNIFORM, VARYING, Shape, Shapes, shapes
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Argument, Block, Const, Global, Instr, Value

_OF_A_GROUP = frozenset(
    f"__am_{what}_{axis}" for what in ("group", "size", "full_size", "grid") for axis in "xyz"
)
_DEPTH = 6
_MOST_SOURCES = 600


class ThreadShapes(Shapes):
    """Which values are the same in all threads of a threadgroup."""

    def __init__(self, known: Analyses) -> None:
        tree, private = known(regions), known(interleaved)
        super().__init__(known.program, tree, ANY_LAUNCH, private, known.width)

    def _op_call(self, instr: Instr, shapes: list[Shape]) -> Shape:
        name = instr.arg
        if name in _OF_A_GROUP:
            return UNIFORM
        if name.startswith("__am_"):
            return VARYING
        return super()._op_call(instr, shapes)


class Flow:
    """A program's control flow."""

    def __init__(self, known: Analyses) -> None:
        self.known = known
        self.program = known.program
        self.lanes = known(shapes)
        self.threads = ThreadShapes(known)
        self._after = known(postdominators)
        self._regions: dict[Block, set[Block]] = {}

    @cached_property
    def end(self) -> Block:
        """The block of the one return."""
        return next(b for b in self.program.blocks if b.terminator.op != "br")

    def meet(self, branch: Block) -> Block:
        """Where the ways of a branch meet again."""
        return self._after.get(branch, self.end)

    def region(self, branch: Block) -> set[Block]:
        """The blocks between a branch and the place where its ways meet."""
        if branch not in self._regions:
            self._regions[branch] = self._reached(branch.successors, {self.meet(branch)})
        return self._regions[branch]

    def _reached(self, start: list[Block], stop: set[Block]) -> set[Block]:
        found = {block for block in start if block not in stop}
        work = list(found)
        while work:
            for block in work.pop().successors:
                if block not in found and block not in stop:
                    found.add(block)
                    work.append(block)
        return found

    def partings(self, block: Block, shapes: Shapes) -> list[Block]:
        """The divergent branches that have this block in their region."""
        blocks = [b for b in self.program.blocks if b in shapes.divergent]
        return [b for b in blocks if block in self.region(b)]

    def guards(self, block: Block) -> set[tuple[object, int]]:
        """The conditions that differ between threads and decide whether a thread comes here, each
        with the way that leads here."""
        found: set[tuple[object, int]] = set()
        for branch in self.partings(block, self.threads):
            ways = self.ways(branch, block)
            if len(ways) == 1:
                found.add((key_of(branch.terminator.operands[0]), ways[0]))
        return found

    def ways(self, branch: Block, block: Block) -> list[int]:
        """The numbers of the ways out of a branch that lead to a block before they meet again."""
        stop = {self.meet(branch)}
        reached = [self._reached([successor], stop) for successor in branch.successors]
        return [number for number, blocks in enumerate(reached) if block in blocks]

    def other_ways(self, branch: Block, block: Block | None) -> set[Block]:
        """The blocks that those threads run that a branch leads around another block."""
        stop = {self.meet(branch)}
        ways = [self._reached([successor], stop) for successor in branch.successors]
        return set().union(*(way for way in ways if block not in way))

    def behind(self, instr: Instr, ends: Callable[[Instr], bool]) -> Iterator[Instr]:
        """All instructions that may follow one without anything in between that `ends` the way."""
        return self._walk(instr, ends, forward=True)

    def before(self, instr: Instr, ends: Callable[[Instr], bool]) -> Iterator[Instr]:
        """All instructions that may come in front of one, in the same way."""
        return self._walk(instr, ends, forward=False)

    def _walk(self, instr: Instr, ends: Callable[[Instr], bool], forward: bool) -> Iterator[Instr]:
        """A loop in which every way ends is gone through at least once: that it may have nothing to
        do is for the launch to say."""
        assert instr.block is not None
        at = instr.block.instrs.index(instr)
        order = instr.block.instrs[at + 1 :] if forward else instr.block.instrs[:at][::-1]
        work: list[tuple[Block, list[Instr], Loop | None]] = [(instr.block, order, None)]
        seen: set[tuple[Block, Loop | None]] = set()
        while work:
            block, instrs, entered = work.pop()
            for one in instrs:
                yield one
                if ends(one):
                    break
            else:
                following = block.successors if forward else self._predecessors[block]
                for other in following:
                    if entered is not None and other not in entered.blocks:
                        continue
                    inside = self._entered(block, other, ends, forward)
                    if (other, inside) not in seen:
                        seen.add((other, inside))
                        work.append(
                            (other, other.instrs if forward else other.instrs[::-1], inside)
                        )

    def _entered(
        self, block: Block, other: Block, ends: Callable[[Instr], bool], forward: bool
    ) -> Loop | None:
        """The loop that begins (or ends, seen from behind) here, if some way in it ends."""
        for loop in self.known(loops):
            if other in loop.blocks and block not in loop.blocks:
                if any(ends(instr) for inner in loop.blocks for instr in inner.instrs):
                    return loop if forward and other is loop.header else None
        return None

    @cached_property
    def _predecessors(self) -> dict[Block, list[Block]]:
        found: dict[Block, list[Block]] = {block: [] for block in self.program.blocks}
        for block in self.program.blocks:
            for successor in dict.fromkeys(block.successors):
                found[successor].append(block)
        return found

    def variable(self, access: Instr) -> Global | None:
        """The threadgroup variable that an access is to, if that is certain."""
        found = self.known(origins).get(pointer_of(access), frozenset())
        only = next(iter(found)) if len(found) == 1 else None
        return only if isinstance(only, Global) and only.threadgroup else None

    def argument(self, access: Instr) -> Argument | None:
        """The array that an access is to, if that is certain."""
        found = self.known(origins).get(pointer_of(access), frozenset())
        only = next(iter(found)) if len(found) == 1 else None
        return only if isinstance(only, Argument) else None


def key_of(value: Value, depth: int = _DEPTH) -> object:
    """A key that is equal for values that are computed alike."""
    if isinstance(value, Const):
        return value.text
    if not isinstance(value, Instr) or depth == 0 or value.op in ("phi", "load", "alloca"):
        return id(value)
    return (value.op, str(value.arg), *(key_of(v, depth - 1) for v in value.operands))


def sources(value: Value) -> set[Instr]:
    """The loads, calls and phis that a value is computed from."""
    found: set[Instr] = set()
    work, seen = [value], {value}
    while work and len(seen) < _MOST_SOURCES:
        one = work.pop()
        if not isinstance(one, Instr):
            continue
        if one.op in (*LOADS, "call", "phi", "atomicrmw", "cmpxchg"):
            found.add(one)
            if one.op != "call" or one.arg.startswith("__am_"):
                continue
        new = [v for v in one.operands if v not in seen]
        seen.update(new)
        work += new
    return found
