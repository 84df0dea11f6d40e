"""Decides how many SIMD-groups of a threadgroup run as one (coarsen.py does it).

It pays where SIMD-groups meet at barriers, which then cost nothing; where a loop, or the interior
behind bounds checks (passes/version_by_bounds.py), loads vectors that are the same for all; and
where scattered accesses of all together are runs, or the same. How many is a matter of registers:
eight SIMD-groups with one sum each are better than four, but a loop that fills the registers by
itself loses up to a third with two. So the vectors that are live in those loops are counted.

    threadgroup of 256: barrier, loop with 2 sums    becomes    one team of 8, no waiting
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.analysis.control import innermost, loops
from anymetal.analysis.distances import Distances
from anymetal.analysis.effects import LOADS, accessed, is_plain, pointer_of
from anymetal.analysis.flow import used, users
from anymetal.analysis.liveness import live_behind, points
from anymetal.analysis.regions import regions
from anymetal.analysis.uniformity import UNIFORM, VARYING, Shape, Shapes, shapes, strided
from anymetal.coarsening import coarsen, reassociate
from anymetal.coarsening.divergence import Divergence
from anymetal.coarsening.schedule import SectionSplitter
from anymetal.ir.calls import ALL, BARRIER, MATRIX_FMA, POSITIONS
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Instr, Value
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.ir.types import THREAD, VOID
from anymetal.ir.walk import made_from

#: Instructions of a team's program: more take long to compile and fill the instruction cache.
MOST_INSTRUCTIONS = 4096
#: SIMD-groups of a team without loops or barriers: more share little more.
MOST_STRAIGHT = 4
#: A block that loads so many vectors which are the same for all is as good as a loop: LLVM has made
#: it of one, perhaps.
MANY_LOADS = 8
#: A loop may need so many times the registers of a machine whose instructions take operands from
#: memory: some of its values come from there. Elsewhere each of them would take a load.
CROWDED = 1.4
#: On such a machine, where teams pay in all loops, a loop that has too few registers even with one
#: SIMD-group may need so many times as many with a team: what all share is then loaded once.
OVERFULL = 4 / 3
#: A section is long if it has so many instructions for each vector that the SIMD-group keeps until
#: its next one: loading and storing these then costs little, so they need no registers.
LONG_SECTION = 24


#: What is known of launches that have teams.
_LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)


class _TeamShapes(Shapes):
    """How values vary over a whole team whose threads are one row."""

    def _op_call(self, instr: Instr, shapes: list[Shape]) -> Shape:
        if instr.arg == "__am_thread_x":
            return strided(1, multiple=self.width)
        if instr.arg.startswith("__am_") and not instr.arg.endswith(("_x", "_y", "_z")):
            return VARYING  # it differs between SIMD-groups
        return UNIFORM if all(s.is_uniform for s in shapes) else VARYING

    def _op_guarded_load(self, instr: Instr, shapes: list[Shape]) -> Shape:
        # The first SIMD-group has a value for the others only where all of them load.
        return UNIFORM if all(s.is_uniform for s in shapes) else VARYING


def form(known: Analyses, most: int, in_row: bool) -> int:
    """Makes the program that of a team of up to `most` SIMD-groups; returns how many they are.

    `in_row`: SIMD-groups are neighbours in x; else all have the same x.
    """
    program = known.program
    if most == 1 or 2 * program.size > MOST_INSTRUCTIONS:
        return 1
    if not _is_free(known):
        return 1
    gathers = _gathers_scattered(known, in_row)
    if not (gathers or _promising(known)):
        return 1
    common = _most_in_common(known, most) if in_row else _InCommon(most, set())
    most = common.size
    divergence = _divergence(known, common, in_row)
    if not divergence.possible:
        return 1
    distances = Distances(known, steps(in_row))
    choice = _Choice(known, divergence, common, gathers, distances)
    most = choice.most(most)
    if most > 1:
        room = known.machine.registers // choice.each
        pieces = SectionSplitter(choice.lanes, distances, most, room)
        coarsen.run(program, divergence, steps(in_row), most, pieces)
        reassociate.run(program)
    return most


class _InCommon(NamedTuple):
    """What follows from positions in a row and is the same in all threads of a team of a size."""

    size: int
    values: set[Value]


def _most_in_common(known: Analyses, most: int) -> _InCommon:
    """Of teams of `most`; or of the largest part of it that has most in common, if a quarter of the
    program comes in: where each point of a picture has 64 channels, two SIMD-groups compute the
    same point."""
    program, tree = known.program, known(regions)
    places = (i for i in program.instructions() if i.op == "call" and i.arg in steps(True))
    placed = made_from(known(users), places)

    def of(size: int) -> _InCommon:
        of_team = _TeamShapes(program, tree, _LAUNCH, {}, SIMD_GROUP * size)
        return _InCommon(size, {v for v in placed if v.type is not VOID and of_team[v].is_uniform})

    whole, *parts = (of(size) for size in range(most, 1, -1) if most % size == 0)
    best = max(parts, key=lambda common: len(common.values), default=whole)
    gain = len(best.values) - len(whole.values)
    return best if 4 * gain >= program.size else whole


def _divergence(known: Analyses, common: _InCommon, in_row: bool) -> Divergence:
    divergence = Divergence(known, frozenset(steps(in_row)), common.values.__contains__)
    if divergence.parts:
        known.forget()  # they have been given new blocks
    return divergence


def steps(in_row: bool, count: int = 1) -> dict[str, int]:
    """By how much positions grow from one team of `count` SIMD-groups to the next."""
    return {"__am_gang": count} | ({"__am_thread_x": SIMD_GROUP * count} if in_row else {})


def _promising(known: Analyses) -> bool:
    """A quick look: whether there are barriers, loops, an interior or what was a loop."""
    program = known.program
    if program.calls(BARRIER, ALL) or known(innermost):
        return True
    loads = (sum(i.op == "load" for i in block.instrs) for block in program.blocks)
    return any(count >= MANY_LOADS for count in loads)


def _is_free(known: Analyses) -> bool:
    """Whether there are no products of matrices, which fill the registers, and no loops in which a
    SIMD-group would wait for what another one does behind them."""
    program, blocks = known.program, known(innermost)
    if program.calls(MATRIX_FMA):
        return False
    return not any(_may_wait(i, known(used)) for block in blocks for i in block.instrs)


def _gathers_scattered(known: Analyses, in_row: bool) -> bool:
    """Whether there is an access of which one SIMD-group alone makes pieces, and several together
    do not: what a lane accesses in one and in the next are neighbours in memory, as where a matrix
    is transposed, or the same, as where each column of threads reads a row."""
    distances = Distances(known, steps(in_row))
    for instr in known.program.instructions():
        if instr.op in ("load", "store") and is_plain(instr):
            pointer = pointer_of(instr)
            element = accessed(instr).type.size
            shape = known(shapes)[pointer]
            if shape.is_uniform or shape.stride == element or pointer.type.space == THREAD:
                continue
            distance = distances.to_next(pointer)
            if distance == {(): element} or (instr.op == "load" and distance == {}):
                return True
    return False


def _may_wait(instr: Instr, used: set[Value]) -> bool:
    """Whether an instruction may see what other threads write at the same time."""
    if instr.op in LOADS:
        return not is_plain(instr)
    return instr.op == "cmpxchg" or (instr.op == "atomicrmw" and instr in used)


class _Needs(NamedTuple):
    """Registers that a block needs at each point: for what each SIMD-group keeps until its next
    section, and for everything else."""

    points: list[tuple[int, int]]
    waits: bool  #: sections are long, so what is kept may lie in memory

    def most(self, size: int) -> int:
        """The registers that a team of `size` needs at most."""
        kept_by = 1 if self.waits else size
        return max(kept * kept_by + rest for kept, rest in self.points)


class _Choice:
    def __init__(
        self,
        known: Analyses,
        divergence: Divergence,
        common: _InCommon,
        gathers: bool,
        distances: Distances,
    ) -> None:
        self.program, self.loops = known.program, known(loops)
        self.divergence = divergence
        self.common = common
        self.distances = distances
        self.gathers = gathers  #: accesses of all SIMD-groups together are not scattered
        self.lanes = known(shapes)
        self.machine = known.machine
        crowded = CROWDED if known.machine.operates_on_memory else 1
        self.most_registers = crowded * known.machine.registers
        #: Registers that 32 lanes of 32 bits take.
        self.each = SIMD_GROUP // known.machine.words

    def most(self, most: int) -> int:
        """The largest team that pays; 1 if none does."""
        program, barriers = self.program, bool(self.program.calls(BARRIER))
        apart = {block for part in self.divergence.parts for block in part.blocks}
        together = [loop for loop in self.loops if not loop.blocks & apart]
        loops = [loop for loop in together if not any(map(_has_barrier, loop.blocks))]
        paying = loops if barriers else self._sharing(loops)
        straight: list[Block] = []
        if not (paying or barriers):
            blocks = [b for b in program.blocks if b not in apart]
            if self.gathers:
                straight = blocks
            elif not (straight := [b for b in blocks if self._shares_many(b)]):
                straight = blocks if self._shares_most(blocks) else []
                straight = straight or [b for b in blocks if self._shares_much(b)]
                most = MOST_STRAIGHT if most % MOST_STRAIGHT == 0 else most
                if not (straight and program.calls(ALL)):
                    return 1
        spares_loads = self.machine.operates_on_memory and len(paying) == len(loops)
        limits = self._limits(straight, paying, OVERFULL if spares_loads else 0)
        total = program.size
        arrays = SIMD_GROUP * program.private_bytes
        for size in (s for s in (8, 7, 6, 5, 4, 3, 2) if most % s == 0):
            if arrays * size > self.machine.private_bytes or total * size > MOST_INSTRUCTIONS:
                continue
            if all(_crowd(needs, size) <= limit for needs, limit in limits):
                return size
        return 1

    def _sharing(self, loops: list[Loop]) -> list[Loop]:
        """The innermost loops around blocks in which SIMD-groups share vectors."""
        around = {block: loop for loop in loops for block in loop.blocks}  # outer ones first
        return list(dict.fromkeys(loop for b, loop in around.items() if self._shares(b)))

    def _limits(
        self, straight: list[Block], loops: list[Loop], overfull: float
    ) -> list[tuple[list[_Needs], float]]:
        """What straight code and each loop need, and how many registers that may be; in a loop,
        `overfull` times what one SIMD-group needs."""
        behind = live_behind(self.program)
        inside = dict.fromkeys(block for loop in loops for block in loop.ordered)
        of_blocks = {b: self._needs(b, behind[b]) for b in (*straight, *inside)}
        limits = [([of_blocks[b] for b in straight], self.most_registers)]
        for loop in loops:
            needs = [of_blocks[b] for b in loop.ordered]
            limits.append((needs, max(self.most_registers, overfull * _crowd(needs, 1))))
        return limits

    def _needs(self, block: Block, behind: set[Value]) -> _Needs:
        passing = set(block.body) - behind
        needed = [self._registers(point, passing) for point in points(block, behind)]
        section = sum(i in self.divergence.values for i in block.instrs) * self.each
        kept = max(kept for kept, _ in needed)
        return _Needs(needed, waits=section >= LONG_SECTION * kept)

    def _shares(self, block: Block) -> bool:
        """Whether vectors are loaded that are the same for all SIMD-groups."""
        return any(
            i.op == "load" and i not in self.divergence.values and self.lanes[i].is_varying
            for i in block.instrs
        )

    def _shares_many(self, block: Block) -> bool:
        """Whether most of many vectors that are loaded are the same for all SIMD-groups."""
        loads = [i for i in block.instrs if i.op == "load" and self.lanes[i].is_varying]
        shared = sum(i not in self.divergence.values for i in loads)
        return shared >= MANY_LOADS and 2 * shared >= len(loads)

    def _shares_most(self, blocks: list[Block]) -> bool:
        """Whether most instructions are the same for all SIMD-groups."""
        instrs = [i for b in blocks for i in b.instrs if i.op != "call" or i.arg not in POSITIONS]
        own = sum(i in self.divergence.values for i in instrs)
        common = sum(i in self.common.values for i in instrs)
        return 5 * own <= 2 * len(instrs) or 4 * common >= len(instrs)

    def _shares_much(self, block: Block) -> bool:
        """Whether a third of the loaded vectors are the same for all SIMD-groups; or, in code
        without loops, what the next one loads as well: rows of a picture around its own."""
        loads = [i for i in block.instrs if i.op == "load" and self.lanes[i].is_varying]
        own = [i for i in loads if i in self.divergence.values]
        shared = len(loads) - len(own)
        if not self.loops:
            shared += sum(self._meets_next(load, own) for load in own)
        return 3 * shared >= len(loads) > 0

    def _meets_next(self, load: Instr, others: list[Instr]) -> bool:
        """Whether the next SIMD-group loads there what this one loads elsewhere."""
        pointer = pointer_of(load)
        step = self.distances.to_next(pointer)
        return bool(step) and any(
            self.distances.between(pointer, pointer_of(other)) == step for other in others
        )

    def _registers(self, point: set[Value], passing: set[Instr]) -> tuple[int, int]:
        """Registers for values that each SIMD-group keeps during the sections of others,
        and for all other values: shared ones, and those of the section that runs, which are gone
        (`passing`) at its end."""
        vectors = [v for v in point if self.lanes[v].is_varying]
        kept = sum(v in self.divergence.values and v not in passing for v in vectors)
        return kept * self.each, (len(vectors) - kept) * self.each


def _crowd(needs: list[_Needs], size: int) -> int:
    """The registers that a team of a size needs at most."""
    return max((need.most(size) for need in needs), default=0)


def _has_barrier(block: Block) -> bool:
    return any(i.op == "call" and i.arg == BARRIER for i in block.instrs)
