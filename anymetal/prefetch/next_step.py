"""Which tiles of a product of matrices are asked for a step ahead.

A threadgroup that multiplies matrices copies tiles of them to threadgroup memory, multiplies those,
and goes on to the next ones. Each row of a tile is a run of memory of its own, too short for a
processor to see where it goes on. But where the next step's rows lie follows from the counter of
the loop. So with each tile that is loaded, the next step's is asked for, for the second-level
cache: until it is needed there are all the multiplications of a step, and in the first-level cache
it would drive out what they work with.
"""

from __future__ import annotations

from anymetal.analysis.affine import Distance
from anymetal.analysis.cache import Analyses
from anymetal.analysis.distances import Distances
from anymetal.analysis.effects import pointer_of
from anymetal.analysis.induction import growths, inductions
from anymetal.analysis.objects import in_arrays, origins
from anymetal.ir.calls import MATRIX_FMA
from anymetal.ir.model import Instr
from anymetal.simd.access.groups import Origins
from anymetal.simd.access.tiles import Tile


def find_next_steps(known: Analyses, tiles: dict[Instr, Tile]) -> dict[Tile, Distance]:
    """Such tiles, and how far from each that of the next step lies."""
    found: dict[Tile, Distance] = {}
    for loop, variables in known(inductions).items() if tiles else ():
        instrs = [i for block in loop.ordered for i in block.instrs]
        if not any(i.op == "call" and i.arg == MATRIX_FMA for i in instrs):
            continue
        distances = Distances(known, {}, growths(loop, variables))
        for instr in instrs:
            tile = tiles.get(instr)
            if tile and instr is tile.anchor and _from_arrays(instr, known(origins)):
                distance = distances.to_next(pointer_of(instr))
                if distance:
                    found[tile] = distance
    return found


def _from_arrays(instr: Instr, leads_to: Origins) -> bool:
    """Whether an access loads what the kernel is given."""
    return instr.op == "load" and in_arrays(leads_to.get(pointer_of(instr), frozenset()))
