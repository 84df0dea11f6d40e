"""In which order the sections of a team's SIMD-groups go through memory (see coarsen.py).

    for (uint k = 0; k < 32; k += 8) out[(y + k) * columns + x] = tile[x][y + k];

One section after the other, this writes the rows 0, 8, 16, 24, 1, 9, … If one can be cut into
pieces that hand no vectors to each other, and the stores of one SIMD-group are farther apart than
those of its neighbours, the team does the first piece of all sections, then the second of all, and
so on. That is the order of memory, which processors foresee, and each piece's loads and stores
share registers.

    for (uint k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];

Here all SIMD-groups need the same 16 rows of `right`. Beside sums the registers have room for one
of these rows, not for all. So sections are cut behind each row's last use, and as many SIMD-groups
as have their sums in half of the registers go through the pieces together: one alone would wait for
each addition before the next. Those who come next load the rows again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from anymetal.analysis.distances import Distances
from anymetal.analysis.effects import writes
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.model import Instr, Value


class Pieces(NamedTuple):
    """How SIMD-groups go through their sections."""

    pieces: list[list[Instr]]  #: of a section, in order
    together: int  #: SIMD-groups that all do a piece before any of them begins the next
    shared: frozenset[Value] = frozenset()  #: loads whose values all of them need


class SectionSplitter:
    """Cuts sections of a team of `count` into pieces. `shapes` are those of a SIMD-group; `room`
    says how many of its vectors fit into the registers."""

    def __init__(self, shapes: Shapes, distances: Distances, count: int, room: int) -> None:
        self.shapes = shapes
        self.distances = distances
        self.count = count
        self.room = room

    def __call__(self, section: list[Instr]) -> Pieces:
        """The pieces of a section."""
        pieces = self._cut(section)
        stores = [s for s in map(_last_store, pieces) if s]
        in_order = len(stores) > 1 and all(self._far(a, b) for a, b in pairwise(stores))
        return Pieces(pieces, self.count) if in_order else self._by_what_is_shared(section)

    def _by_what_is_shared(self, section: list[Instr]) -> Pieces:
        """Cuts behind the last use of each vector that is loaded for all, if the registers have no
        room for all of these, but have some for what several SIMD-groups hand from piece to piece;
        else the whole section."""
        whole = Pieces([section], self.count)
        last = {v: at for at, instr in enumerate(section) for v in instr.operands}
        shared = [v for v in last if self._is_shared(v, section)]
        ends = sorted({last[v] for v in shared})
        if not shared or len(ends) < len(shared) or any(map(writes, section[: ends[-1]])):
            return whole
        cuts = [0, *(end + 1 for end in ends[:-1]), len(section)]
        pieces = [section[a:b] for a, b in pairwise(cuts)]
        kept = max((self._kept(a, b) for a, b in pairwise(pieces)), default=0)
        sizes = (n for n in range(self.count, 1, -1) if self.count % n == 0)
        together = next((n for n in sizes if 2 * kept * n <= self.room), 1)
        fits = self.room >= kept * together + len(shared)
        if fits or together == 1:
            return whole
        return Pieces(pieces, together, frozenset(shared))

    def _is_shared(self, value: Value, section: list[Instr]) -> bool:
        if not isinstance(value, Instr) or value.op != "load" or value in section:
            return False
        return value.block is section[0].block and self.shapes[value].is_varying

    def _kept(self, piece: list[Instr], following: list[Instr]) -> int:
        """How many vectors of a SIMD-group one piece hands to the next."""
        handed = {v for i in following for v in i.operands if v in piece}
        return sum(self.shapes[v].is_varying for v in handed)

    def _cut(self, section: list[Instr]) -> list[list[Instr]]:
        """Cuts behind each store that no vector outlives."""
        last = {v: at for at, instr in enumerate(section) for v in instr.operands}
        pieces: list[list[Instr]] = [[]]
        needed = 0
        for at, instr in enumerate(section):
            pieces[-1].append(instr)
            if self.shapes[instr].is_varying:
                needed = max(needed, last.get(instr, 0))
            if instr.op == "store" and needed <= at < len(section) - 1:
                pieces.append([])
        return pieces

    def _far(self, a: Instr, b: Instr) -> bool:
        """Whether two stores of a SIMD-group are at least as far apart as the whole team stores."""
        distance = self.distances.between(a.operands[1], b.operands[1])
        step = self.distances.to_next(a.operands[1])
        if not distance or not step or len(distance) > 1 or distance.keys() != step.keys():
            return False
        ((product, size),) = distance.items()
        return abs(size) >= self.count * abs(step[product])


def _last_store(piece: list[Instr]) -> Instr | None:
    return next((i for i in reversed(piece) if i.op == "store"), None)
