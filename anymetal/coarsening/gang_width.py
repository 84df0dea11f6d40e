"""Decides how many lanes a gang has, where that need not be the 32 of a SIMD-group.

With AVX-512 the 32 lanes of a SIMD-group are two vectors: two chains of operations, each of which
waits four cycles for the one before, where the processor could begin eight meanwhile. Kernels that
compute more than they move have gangs of four vectors, if all of them find registers. With vectors
of 16 bytes, 32 lanes are eight, and four values of theirs fill 32 registers. Straight code that
keeps more has gangs of four vectors, too: 16 lanes. So have loops with more sums than registers
hold, if these do not wait for each other, as the 16 sums of each thread in a product of matrices by
blocks; there 16 lanes often are also a row of the threadgroup.

    while (dot(z, z) <= 4) …         becomes    one loop for 64 threads, four chains at a time
    y[i] = exp(x[i])                 becomes    16 threads with NEON, whose values stay in registers
    for … s[4][4] += a[4] * b[4]     becomes    16 threads with AVX-512, where 32 have too many sums

The lanes of a gang are in one control flow, and those of half a SIMD-group are not in that of the
other half, so what SIMD-groups do together must not tell. Teams (teams.py) run the parts of several
SIMD-groups one after the other; they are better where these share what they load.
"""

from __future__ import annotations

from collections.abc import Iterator

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost, loops
from anymetal.analysis.effects import accessed, is_plain, is_pure, pointer_of
from anymetal.analysis.liveness import live_behind, points
from anymetal.analysis.uniformity import shapes
from anymetal.ir.calls import BARRIER, POSITIONS
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Instr, Program, Value
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.ir.types import CONSTANT, DEVICE
from anymetal.ir.walk import made_in

#: Vectors of a gang, so that as many chains of operations are under way.
_CHAINS = 4
#: Operations on vectors, beside what addresses take, for each access to memory: with fewer, memory
#: is what a kernel waits for.
_COMPUTING = 12
#: How many times the registers of a machine may be needed at one point: constants come from memory,
#: and a few vectors that wait there cost less than operations that wait for each other.
_CROWDED = 2
#: Elements beside each other that a lane of half a SIMD-group may access: a float4.
_NEIGHBOURS = 4
_TELLING = ("__am_lane", "__am_gang")
#: Lanes of half a SIMD-group.
HALF = SIMD_GROUP // 2


def width(known: Analyses, most: int) -> int:
    """The lanes that gangs are to have, at most `most`; 0 for those of a SIMD-group."""
    wanted = min(_CHAINS * known.machine.words, most)
    if wanted == SIMD_GROUP or not all(map(_is_simple, known.program.instructions())):
        return 0
    registers = known.machine.registers
    if wanted > SIMD_GROUP:
        pays = _computes(known) and _fits(known, wanted, _CROWDED * registers)
        return wanted if pays and _moves_runs(known, 1) else 0
    pays = len(known.program.blocks) == 1 and not _fits(known, SIMD_GROUP, registers)
    return wanted if pays and _moves_runs(known, _NEIGHBOURS) else 0


def halves(known: Analyses) -> bool:
    """Whether gangs are to be half of a SIMD-group, which still fills vectors: some loop keeps more
    than registers hold, and has sums enough that do not wait for each other."""
    if HALF % known.machine.words or not all(map(_is_of_thread, known.program.instructions())):
        return False
    if not known(loops):
        return False
    crowded = set(_crowded(known, SIMD_GROUP, known.machine.registers))
    inside = (loop for loop in known(loops) if not crowded.isdisjoint(loop.own))
    return any(len(_sums(known, loop)) >= _CHAINS for loop in inside)


def _sums(known: Analyses, loop: Loop) -> list[Instr]:
    """What lanes carry from one iteration to the next, and need for nothing else that they carry:
    then none waits for another."""
    carried = {phi for phi in loop.header.phis if known(shapes)[phi].is_varying}
    return [phi for phi in carried if carried.intersection(made_in(loop.blocks, phi)) == {phi}]


def _is_of_thread(instr: Instr) -> bool:
    """Whether it is nothing that SIMD-groups do together; that they are counted does not tell."""
    threadgroup = instr.op == "call" and instr.arg in (BARRIER, *_TELLING)
    return threadgroup or _is_simple(instr)


def _is_simple(instr: Instr) -> bool:
    """Whether it is nothing that lanes, or memory, know each other by."""
    if instr.op == "call" and instr.arg in POSITIONS:
        return instr.arg not in _TELLING
    return is_plain(instr) or is_pure(instr) or instr.is_terminator


def _accesses(program: Program) -> list[Instr]:
    return [i for i in program.instructions() if is_plain(i)]


def _moves_runs(known: Analyses, beside: int) -> bool:
    """Whether arrays are accessed in runs, of up to so many neighbours a lane, or everywhere at the
    same place."""
    for instr in _accesses(known.program):
        pointer = pointer_of(instr)
        element = accessed(instr).type.size
        shape = known(shapes)[pointer]
        if pointer.type.space not in (DEVICE, CONSTANT):
            return False
        if not (shape.is_uniform or 0 < shape.stride <= beside * element):
            return False
    return True


def _computes(known: Analyses) -> bool:
    """Whether all loops do nothing but compute, or there are many operations for each access."""
    accesses = _accesses(known.program)
    if looping := known(innermost):
        return all(access.block not in looping for access in accesses)
    of = known(shapes)
    vectors = sum(i.has_result and of[i].is_varying for i in known.program.instructions())
    return vectors >= _COMPUTING * len(accesses)


def _fits(known: Analyses, lanes: int, registers: int) -> bool:
    """Whether the vectors that are live at a time find room in so many registers."""
    return not any(True for _ in _crowded(known, lanes, registers))


def _crowded(known: Analyses, lanes: int, registers: int) -> Iterator[Block]:
    """The blocks in which, at some point, they do not."""
    behind = live_behind(known.program)
    room = registers * known.machine.words

    def needed(values: set[Value]) -> int:
        return sum(max(v.type.size, 4) // 4 for v in values if known(shapes)[v].is_varying)

    for block in known.program.blocks:
        if any(needed(values) * lanes > room for values in points(block, behind[block])):
            yield block
