"""Arrays of floats that a program adds to, atomically, and uses in no other way.

    atomic_fetch_add_explicit(&x_grad[north_west + lane], a, …); gx -= x[north_west + lane];
    atomic_fetch_add_explicit(&x_grad[north_east + lane], b, …); gx += x[north_east + lane];

While one thread works on a launch, these are plain additions. Else whoever adds a run of elements
to an array takes a lock (targets/cpu/additions.cpp), if no lane adds to an element of its own. Such
additions are the processor's own: locks are those of pages, and all threads would wait for each
other. Nobody can tell when additions happen, so those of a block under locks wait for the last of
them: neighbours are added under one lock, and loads in between wait for none, as they would behind
any locked instruction.
"""

from __future__ import annotations

from collections.abc import Mapping

from anymetal.analysis.effects import touches_nothing
from anymetal.analysis.objects import Origin
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import BARRIER
from anymetal.ir.model import Argument, Block, Instr, Program, Value
from anymetal.simd.access.strategies import is_run


def find_accumulations(
    program: Program, origins: dict[Value, frozenset[Origin]], used: set[Value]
) -> dict[Instr, frozenset[Origin]]:
    """The additions to such arrays, with the arrays that each may be to."""
    if program.shared_buffers:
        return {}
    elsewhere: set[Origin] = set()
    adds: dict[Instr, frozenset[Origin]] = {}
    for instr in program.instructions():
        if _adds(instr) and instr not in used:
            adds[instr] = origins.get(instr.operands[0], frozenset())
        elif not touches_nothing(instr):
            for value in instr.operands:
                elsewhere |= origins.get(value, frozenset())
    if not all(adds.values()):
        return {}
    arrays = {place for places in adds.values() for place in places}
    return _in(adds, {a for a in arrays if isinstance(a, Argument) and a not in elsewhere})


def find_locked(adds: dict[Instr, frozenset[Origin]], shapes: Shapes) -> set[Instr]:
    """The additions, of all that there are, to arrays to which runs are added, or a lane for all,
    and at least one run."""

    with_runs: set[Origin] = set()
    scattered: set[Origin] = set()
    for instr, places in adds.items():
        if is_run(instr, shapes):
            with_runs |= places
        elif not shapes[instr.operands[0]].is_uniform:
            scattered |= places
    return set(_in(adds, with_runs - scattered))


def _in(
    adds: dict[Instr, frozenset[Origin]], arrays: set[Origin]
) -> dict[Instr, frozenset[Origin]]:
    """Additions to these arrays. An array to which something is added that may be to another one,
    which is none of these, is none either: all is added to an array in the same way."""
    while strays := [to for to in adds.values() if not to <= arrays and to & arrays]:
        arrays = arrays.difference(*strays)
    return {instr: to for instr, to in adds.items() if to <= arrays}


def _adds(instr: Instr) -> bool:
    if instr.op != "atomicrmw" or instr.type.size != 4:
        return False
    operation, access = instr.arg
    return operation == "fadd" and not access.volatile


def add_together(
    blocks: list[Block], arrays: Mapping[Instr, frozenset[Origin]], most: int
) -> dict[Instr, list[Instr]]:
    """Additions that happen at the last of them: up to `most` to the same arrays, in a block,
    between two barriers; for each of them the list. `arrays`: those of each addition that may wait.
    """
    found: dict[Instr, list[Instr]] = {}
    for block in blocks:
        waiting: dict[frozenset[Origin], list[Instr]] = {}
        for instr in block.instrs:
            if instr.op == "call" and instr.arg == BARRIER:
                waiting.clear()
            elif to := arrays.get(instr):
                found[instr] = waiting.setdefault(to, [])
                found[instr].append(instr)
                if len(found[instr]) == most:
                    del waiting[to]
    return found
