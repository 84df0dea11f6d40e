"""Which tiles of a product of matrices are asked for a step ahead.

A threadgroup that multiplies matrices copies tiles of them to threadgroup memory, multiplies those,
and goes on to the next ones. Each row of a tile is a run of memory of its own, too short for a
processor to see where it goes on. But where the next step's rows lie follows from the counter of
the loop. So with each tile that is loaded, the next step's is asked for, for the second-level
cache: until it is needed there are all the multiplications of a step, and in the first-level cache
it would drive out what they work with.
"""

from __future__ import annotations

from anymetal.analysis.affine import Distance, LinearForms
from anymetal.analysis.effects import pointer_of
from anymetal.analysis.induction import Induction
from anymetal.analysis.objects import in_arrays
from anymetal.ir.calls import MATRIX_FMA
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Instr, Value
from anymetal.simd.access.groups import Origins
from anymetal.simd.access.tiles import Tile


def find_next_steps(
    loops: dict[Loop, list[Induction]],
    tiles: dict[Instr, Tile],
    forms: LinearForms,
    origins: Origins,
) -> dict[Tile, Distance]:
    """Such tiles, and how far from each that of the next step lies."""
    found: dict[Tile, Distance] = {}
    for loop, inductions in loops.items() if tiles else ():
        instrs = [i for block in loop.ordered for i in block.instrs]
        if not any(i.op == "call" and i.arg == MATRIX_FMA for i in instrs):
            continue
        counters = {one.phi: one.growth for one in inductions if one.growth}
        for instr in instrs:
            tile = tiles.get(instr)
            if tile and instr is tile.anchor and _from_arrays(instr, origins):
                distance = _distance(forms, pointer_of(instr), counters)
                if distance:
                    found[tile] = distance
    return found


def _from_arrays(instr: Instr, origins: Origins) -> bool:
    """Whether an access loads what the kernel is given."""
    return instr.op == "load" and in_arrays(origins.get(pointer_of(instr), frozenset()))


def _distance(forms: LinearForms, pointer: Value, counters: dict[Instr, int]) -> Distance:
    """From an address to that of the next iteration; nothing if that is not known."""
    distance: Distance = {}
    for product, factors in (forms(pointer) or {}).items():
        steps = [counters[v] for v in product if isinstance(v, Instr) and v in counters]
        if not steps:
            continue
        if len(steps) > 1 or len(set(factors)) > 1:
            return {}
        rest = tuple(v for v in product if v not in counters)
        distance[rest] = distance.get(rest, 0) + factors[0] * steps[0]
    return distance
