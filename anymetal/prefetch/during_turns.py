"""A SIMD-group that reads much and then computes for long asks meanwhile for what the next reads.

    for (uint j = 0; j < 32; ++j) row[j] = a[start + j];
    … a thousand instructions on the row …

The processor looks a few hundred instructions ahead: while it computes, nothing is on its way from
memory, and then everything is to come at once. Asked for all at once, it would be in the way of
what is needed now; so there is a line every now and then, for the first-level cache, since little
else is read until its turn comes.
"""

from __future__ import annotations

from collections.abc import Iterable

from anymetal.analysis.affine import ONE, Distance
from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost
from anymetal.analysis.distances import Distances
from anymetal.analysis.effects import is_plain
from anymetal.analysis.objects import in_arrays, origins
from anymetal.analysis.uniformity import Shapes, shapes
from anymetal.ir import types as t
from anymetal.ir.calls import APART, LINE_READ
from anymetal.ir.model import Block, Instr
from anymetal.machine import Machine
from anymetal.prefetch.tile_rows import moved

SIMD_GROUP = 32
LONG = 16  #: instructions for each line

#: Offsets of lines from the address of the first lane of a load.
_Lines = tuple[Instr, list[int]]


def run(known: Analyses, ways: Iterable[dict[str, int]]) -> bool:
    """`ways`: by how much the results of calls for positions grow to the next SIMD-group; of those,
    the first that makes a difference to an address is its."""
    machine, blocks = known.machine, known.program.blocks
    long = [b for b in blocks if b not in known(innermost) and _is_long(b, machine)]
    if not long:
        return False
    moves = [Distances(known, steps) for steps in ways]
    shapes_of, leads_to, changed = known(shapes), known(origins), False
    for block in long:
        loads = [
            i
            for i in block.instrs
            if i.op == "load"
            and is_plain(i)
            and shapes_of[i.operands[0]].is_strided
            and in_arrays(leads_to.get(i.operands[0], frozenset()))
        ]
        runs = _runs(loads, moves[0], machine.line)
        count = sum(len(lines) for _, lines in runs)
        if machine.few_lines <= count <= min(machine.many_lines, len(block.instrs) // LONG):
            changed |= _ask(block, loads[-1], runs, moves, shapes_of)
    return changed


def _is_long(block: Block, machine: Machine) -> bool:
    """Whether one SIMD-group, and no team in turns, does much in a block."""
    teams = any(i.op == "call" and i.arg == APART for i in block.instrs)
    return not teams and len(block.instrs) >= machine.few_lines * LONG


def _runs(loads: list[Instr], distances: Distances, line: int) -> list[_Lines]:
    """What lies together: one load of it, and its lines."""
    places: dict[object, tuple[Instr, int, set[int]]] = {}
    for load in loads:
        form = distances.forms(load.operands[0])
        if form is not None:
            at = form.get(ONE, (0,) * SIMD_GROUP)
            root = frozenset((product, f) for product, f in form.items() if product != ONE)
            _, first, lines = places.setdefault(root, (load, at[0], set()))
            lines.update((offset - first) // line for offset in at)
    return [(load, [line * n for n in sorted(lines)]) for load, _, lines in places.values()]


def _ask(
    block: Block, last: Instr, runs: list[_Lines], moves: list[Distances], shapes: Shapes
) -> bool:
    """Behind the last of the loads; from there they spread over the block
    (simd/emit/prefetch.py)."""
    made: list[Instr] = []
    for load, lines in runs:
        distance = _distance(load, moves, shapes)
        if distance:
            there = moved(load.operands[0], distance, made)
            for offset in lines:
                made.append(line := Instr(there.type, "gep", [there], (offset,)))
                made.append(Instr(t.VOID, "call", [line], LINE_READ, "", load.loc))
    for instr in made:
        instr.block = block
    at = block.instrs.index(last) + 1
    block.instrs[at:at] = made
    return bool(made)


def _distance(load: Instr, moves: list[Distances], shapes: Shapes) -> Distance | None:
    """To what the next SIMD-group loads, if it loads something else."""
    for distances in moves:
        distance = distances.to_next(load.operands[0])
        if distance and all(shapes[v].is_uniform for product in distance for v in product):
            return distance
    return None
