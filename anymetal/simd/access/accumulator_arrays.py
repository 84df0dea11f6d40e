"""Arrays of floats that a program adds to, atomically, and uses in no other way.

    atomic_fetch_add_explicit(&x_grad[north_west + lane], a, …); gx -= x[north_west + lane];
    atomic_fetch_add_explicit(&x_grad[north_east + lane], b, …); gx += x[north_east + lane];

Whoever adds a run of elements takes a lock for it (targets/cpu/additions.cpp). Nobody can tell when
such additions happen, so those of a block wait for the last of them: neighbours are added under one
lock, and loads in between wait for none, as they would behind any locked instruction.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.objects import Origin
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import BARRIER
from anymetal.ir.model import Argument, Block, Instr, Program, Value


def find_accumulations(
    program: Program, shapes: Shapes, origins: dict[Value, frozenset[Origin]], used: set[Value]
) -> set[Instr]:
    """The additions to such arrays that are under locks.

    Arrays to which all lanes of a gang add one element are none of them: the processor's own
    addition costs what a lock does, and neighbours do not wait for each other.
    """
    if program.shared_buffers:
        return set()
    elsewhere: set[Origin] = set()
    adds: dict[Instr, frozenset[Origin]] = {}
    for instr in program.instructions():
        if _adds(instr) and instr not in used:
            adds[instr] = origins.get(instr.operands[0], frozenset())
        elif instr.op not in ("gep", "phi", "select", "freeze"):
            for value in instr.operands:
                elsewhere |= origins.get(value, frozenset())
    by_lanes = {
        place
        for instr, places in adds.items()
        if not shapes[instr.operands[0]].is_uniform
        for place in places
    }
    arrays = {p for p in by_lanes if isinstance(p, Argument) and p not in elsewhere}
    # An array is added to under locks everywhere, or nowhere.
    while strays := [p for p in adds.values() if not p <= arrays and (not p or p & arrays)]:
        if not all(strays):
            return set()
        arrays.difference_update(*strays)
    return {instr for instr, places in adds.items() if places <= arrays}


def _adds(instr: Instr) -> bool:
    if instr.op != "atomicrmw" or instr.type.size != 4:
        return False
    operation, access = instr.arg
    return operation == "fadd" and not access.volatile


def add_together(
    blocks: list[Block], arrays: Callable[[Instr], frozenset[Origin]], most: int
) -> dict[Instr, list[Instr]]:
    """Additions that happen at the last of them: up to `most` to the same arrays, in a block,
    between two barriers; for each of them the list. `arrays` of no addition that may wait is empty.
    """
    found: dict[Instr, list[Instr]] = {}
    for block in blocks:
        waiting: dict[frozenset[Origin], list[Instr]] = {}
        for instr in block.instrs:
            if instr.op == "call" and instr.arg == BARRIER:
                waiting.clear()
            elif to := arrays(instr):
                found[instr] = waiting.setdefault(to, [])
                found[instr].append(instr)
                if len(found[instr]) == most:
                    del waiting[to]
    return found
