"""In which order a team goes through what its SIMD-groups do without each other (jam.py).

    for (uint k = 0; k < 32; k += 8) out[(y + k) * columns + x] = tile[x][y + k];

One SIMD-group after the other, a team would write the rows 0, 8, 16, 24, 1, 9, … Where a turn falls
into pieces that hand no vectors to each other, and the pieces of one SIMD-group lie farther apart
in memory than those of its neighbours, the team does the first piece of all, then the second of
all: the order of memory, which processors follow, and neighbouring columns of the tile are loaded
together, used, and gone again before the next ones come.
"""

from __future__ import annotations

from itertools import pairwise

from anymetal.ir.model import Instr
from anymetal.passes.distances import Distances
from anymetal.simd.shape import Shapes


class Pieces:
    """Cuts turns of a team of `count` into pieces. `shapes` are those of a SIMD-group."""

    def __init__(self, shapes: Shapes, distances: Distances, count: int) -> None:
        self.shapes = shapes
        self.distances = distances
        self.count = count

    def __call__(self, turn: list[Instr]) -> list[list[Instr]]:
        """What all SIMD-groups do before any goes on: the whole turn, or its pieces."""
        pieces = self._cut(turn)
        stores = [s for s in map(_last_store, pieces) if s]
        in_order = len(stores) > 1 and all(self._far(a, b) for a, b in pairwise(stores))
        return pieces if in_order else [turn]

    def _cut(self, turn: list[Instr]) -> list[list[Instr]]:
        """Behind each store behind which no vector is needed that is there."""
        last = {v: at for at, instr in enumerate(turn) for v in instr.operands}
        pieces: list[list[Instr]] = [[]]
        needed = 0
        for at, instr in enumerate(turn):
            pieces[-1].append(instr)
            if self.shapes[instr].is_varying:
                needed = max(needed, last.get(instr, 0))
            if instr.op == "store" and needed <= at < len(turn) - 1:
                pieces.append([])
        return pieces

    def _far(self, a: Instr, b: Instr) -> bool:
        """Whether the whole team stores between what two stores of a SIMD-group do."""
        distance = self.distances.between(a.operands[1], b.operands[1])
        step = self.distances.to_next(a.operands[1])
        if not distance or not step or len(distance) > 1 or distance.keys() != step.keys():
            return False
        ((product, size),) = distance.items()
        return abs(size) >= self.count * abs(step[product])


def _last_store(piece: list[Instr]) -> Instr | None:
    return next((i for i in reversed(piece) if i.op == "store"), None)
