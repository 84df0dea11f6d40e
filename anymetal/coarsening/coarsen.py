"""Several SIMD-groups of a threadgroup run as one, a team.

    %g = call @__am_gang()            %g = call @__am_gang()
    %x = load %a + lane       becomes %x = load %a + lane
    store %x + %g, …                  store %x + %g, …          the section of the first SIMD-group
                                      store %x + (%g + 1), …    the section of the second

The program of one thread becomes that of `count` threads, one of each of `count` neighbouring
SIMD-groups. Instructions whose result is the same for all of them stay as they are; those whose
result differs (divergence.py) are there once for each SIMD-group, which make up its section. So a
value that all need is loaded once, chains of dependent operations of one SIMD-group run beside
those of the others, and barriers between the SIMD-groups of a team cost nothing. Where SIMD-groups
branch to different sides, they do so one after the other. teams.py decides where it pays.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.effects import touches, writes
from anymetal.coarsening.divergence import Divergence, Part
from anymetal.coarsening.schedule import Pieces
from anymetal.ir import types as t
from anymetal.ir.calls import ALL, APART, FORGET, IN_ORDER
from anymetal.ir.model import Block, Const, Instr, Program, Value

#: Sections of so many instructions are kept apart from each other (by APART). LLVM's scheduler
#: would mix them, which takes more registers than there are, and loads lines in an order that
#: processors do not foresee. Shorter ones may be mixed, as processors do themselves.
LONG = 8


def run(
    program: Program, divergence: Divergence, steps: dict[str, int], count: int,
    pieces: Callable[[list[Instr]], Pieces] | None = None,
) -> None:  # fmt: skip
    """Makes the program that of a team. `divergence` is of this program, and possible; `steps` says
    by how much the result of a call grows from one SIMD-group to the next; `pieces` cuts a
    section."""
    pieces = pieces or (lambda section: Pieces([section], count))
    _Coarsening(program, divergence, steps, count, pieces).run()


def _sink(block: list[Instr], piece: list[Instr]) -> None:
    """Moves loads whose values only this piece uses to the end of the block, just in front of it,
    but not past instructions that write."""
    used = {v for instr in piece for v in instr.operands}
    others = {v for instr in block for v in instr.operands}
    late = _unchanged(block) & (used - others)
    block[:] = [i for i in block if i not in late] + [i for i in block if i in late]


def _unchanged(block: list[Instr]) -> set[Value]:
    """Loads of a block whose memory is the same at its end."""
    last = max((at for at, instr in enumerate(block) if writes(instr)), default=-1)
    return {i for i in block[last + 1 :] if i.op == "load"}


def _load_again(
    block: list[Instr], piece: list[Instr], loads: set[Value], again: dict[Value, Value]
) -> None:
    """Does these loads again as far as the piece needs them and nobody has."""
    for load in dict.fromkeys(v for instr in piece for v in instr.operands):
        if isinstance(load, Instr) and load in loads and load not in again:
            again[load] = copy = load.copy("again")
            block.append(copy)


class _Coarsening:
    def __init__(
        self, program: Program, divergence: Divergence, steps: dict[str, int], count: int,
        pieces: Callable[[list[Instr]], Pieces],
    ) -> None:  # fmt: skip
        self.program = program
        self.divergence = divergence
        self.steps = steps
        self.count = count
        self.pieces = pieces
        self.values: list[dict[Value, Value]] = [{} for _ in range(count)]
        self.made: list[tuple[Instr, int]] = []  #: whose operands are still to be exchanged

    def run(self) -> None:
        blocks: list[Block] = []
        for block in self.program.blocks:
            part = self.divergence.apart(block)
            if part is None:
                block.instrs = self._jammed(block)
                blocks.append(block)
            elif block is part.entry:
                blocks += self._one_by_one(part)
        for instr, number in self.made:
            instr.operands = [self.values[number].get(v, v) for v in instr.operands]
        self.program.blocks = blocks
        for block in blocks:
            block.refill(block.instrs)

    # -- together -------------------------------------------------------------------------

    def _jammed(self, block: Block) -> list[Instr]:
        result: list[Instr] = []
        chunk: list[Instr] = []

        for instr in block.instrs:
            if instr in self.divergence.values and not instr.is_terminator:
                chunk.append(instr)
                continue
            needs = instr.op != "phi" and any(v in self.divergence.values for v in instr.operands)
            if needs:
                self.made.append((instr, 0))  # any SIMD-group's operands give the same result
            if instr.op != "phi" and (
                needs
                or instr.is_terminator
                or (writes(instr) and any(map(touches, chunk)))
                or (touches(instr) and any(map(writes, chunk)))
            ):
                self._sections(result, chunk)
                chunk.clear()
            if needs and instr.op == "call" and instr.arg == ALL:
                result.extend(self._asked_of_all(instr))
            # It goes in front of the sections: it needs nothing that differs.
            result.append(instr)
        phis = [i for i in result if i.op == "phi"]
        return phis + [i for i in result if i.op != "phi"]

    def _sections(self, result: list[Instr], chunk: list[Instr]) -> None:
        """Appends the section of each SIMD-group. Those who come next load again what all need, if
        nothing can have changed it."""
        pieces, together, shared = self.pieces(chunk)
        reloaded = set[Value]()
        if shared and not any(map(writes, chunk)):
            reloaded = _unchanged(result) & shared
        for first in range(0, self.count, together):
            again: dict[Value, Value] = {}
            if first and reloaded:
                result.append(Instr(t.VOID, "call", [], FORGET))
            for piece in pieces:
                if first and reloaded:
                    _load_again(result, piece, reloaded, again)
                elif not first and len(pieces) > 1:
                    _sink(result, piece)
                for number in range(first, first + together):
                    result += self._piece(piece, number, again)
                if len(pieces) > 1:
                    result.append(Instr(t.VOID, "call", [], IN_ORDER))

    def _piece(self, piece: list[Instr], number: int, again: dict[Value, Value]) -> list[Instr]:
        """A SIMD-group's copy of a piece, with the loads that are done again."""
        made: list[Instr] = []
        for instr in piece:
            made += self._copy(instr, number, self.values[0].get(instr))
        if again:
            for copy in made:
                copy.operands = [again.get(v, v) for v in copy.operands]
        if len(piece) >= LONG:
            made.append(Instr(t.VOID, "call", [], APART))
        return made

    def _asked_of_all(self, question: Instr) -> list[Instr]:
        """A vote (`__am_all`) of all threads: each SIMD-group is asked, and the vote becomes the
        last `and` of the answers."""
        condition = question.operands
        answers = [Instr(t.I1, "call", condition, ALL, "", question.loc) for _ in self.values]
        self.made = [(i, number) for i, number in self.made if i is not question]
        self.made += [(answer, number) for number, answer in enumerate(answers)]
        steps: list[Instr] = []
        whole = answers[0]
        for answer in answers[1:-1]:
            whole = Instr(t.I1, "and", [whole, answer], None, "", question.loc)
            steps.append(whole)
        question.op, question.operands, question.arg = "and", [whole, answers[-1]], None
        return [*answers, *steps]

    def _copy(self, instr: Instr, number: int, first: Value | None = None) -> list[Instr]:
        """A SIMD-group's copy of an instruction. Positions are those of the first SIMD-group plus a
        constant, so that LLVM sees that addresses differ by one."""
        step = self.steps.get(instr.arg, 0) * number if instr.op == "call" else 0
        if not step:
            return [self._clone(instr, number)]
        made = [] if first else [self._clone(instr, number)]
        constant = Const(t.I32, str(step))
        name = f"{instr.name}.{number}+"
        moved = Instr(t.I32, "add", [first or made[0], constant], None, "nuw nsw", instr.loc, name)
        self.values[number][instr] = moved
        return [*made, moved]

    def _clone(self, instr: Instr, number: int) -> Instr:
        copy = instr.copy(number)
        self.values[number][instr] = copy
        self.made.append((copy, number))
        return copy

    # -- one after the other --------------------------------------------------------------

    def _one_by_one(self, part: Part) -> list[Block]:
        copies = [
            {block: Block(f"{block.name}${number}") for block in part.blocks}
            for number in range(self.count)
        ]
        for number, blocks in enumerate(copies):
            for block, copy in blocks.items():
                for instr in block.instrs:
                    for one in self._copy(instr, number):
                        copy.append(one)
                        if one.op in ("br", "phi"):
                            one.arg = [blocks.get(b, b) for b in one.arg]
            if number:
                before = copies[number - 1][part.last]
                for phi in blocks[part.entry].phis:
                    inside = blocks.values()
                    phi.arg = [b if b in inside else before for b in phi.arg]
                before.terminator.arg = [blocks[part.entry]]
        self._lead(part, copies[0][part.entry], copies[-1][part.last])
        return [copy for blocks in copies for copy in blocks.values()]

    def _lead(self, part: Part, entry: Block, last: Block) -> None:
        """Puts the copies of the part in its place in the branches and phis around it."""
        for block in self.program.blocks:
            for instr in block.instrs:
                if instr.op == "br":
                    instr.arg = [entry if b is part.entry else b for b in instr.arg]
                elif instr.op == "phi":
                    instr.arg = [last if b is part.last else b for b in instr.arg]
        for instr, _ in self.made:
            if instr.op == "phi":
                instr.arg = [last if b is part.last else b for b in instr.arg]
