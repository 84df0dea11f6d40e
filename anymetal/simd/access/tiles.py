"""Tiles: accesses whose lanes together cover a few rows of memory, however far those are apart.

    base + (row(lane) * elements_per_row + column(lane)) * size

Lanes of a SIMD-group often stand for places in a small block of a matrix. Such an address has no
lane stride and would need a gather. But if `row` and `column` follow from the lane number, the
compiler knows which elements are neighbours: each run of them becomes one scalar address and one
vector access, and shuffles put the elements where they belong:

    a[lane / 8 * n + lane % 8]      becomes      4 loads of 8 elements, at a, a + n, a + 2n, a + 3n

As with groups (groups.py), accesses at neighbouring addresses are taken together, so a lane may
have several elements of its row. Several lanes may load one element; each is stored only once.

Under a mask, a few rows have masks of their own where the machine has these; else a test at run
time decides between the tile, for which all lanes must be active, and the usual way of each access.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.affine import ONE, LinearForms
from anymetal.analysis.effects import accessed, pointer_of
from anymetal.analysis.lane_numbers import LaneNumbers
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.access.groups import Origins, runs

MOST_RUNS = 16
SHORTEST_RUN = 4  #: unless there are few of them
FEW_RUNS = 4


class Run(NamedTuple):
    """Neighbouring elements in memory. A cell lists who accesses the element: (lane, number of the
    member); one for a store."""

    cells: tuple[tuple[tuple[int, int], ...], ...]


class Tile:
    """Loads or stores of one block; `members` are in the order of their addresses."""

    def __init__(
        self,
        members: list[Instr],
        start: tuple[object, int],
        anchor: Instr,
        runs: list[Run],
        distances: tuple[int, ...],
    ) -> None:
        self.members = members
        self.start = start  #: as addresses are compared: what they have in common, and bytes
        #: The member in whose place the tile is emitted: first load, last store.
        self.anchor = anchor
        self.runs = runs  #: of equal length; their number is a power of two
        self.distances = distances  #: bytes from the first run to each; empty if unknown

    def goes_on(self, other: Tile) -> bool:
        """Whether each run of another tile begins where the run of this one ends."""
        (base, offset), (other_base, other_offset) = self.start, other.start
        width = len(self.runs[0].cells) * accessed(self.anchor).type.size
        if not self.distances or self.distances != other.distances:
            return False
        return other_base == base and other_offset - offset == width


class TileFinder:
    """Finds a program's tiles; `leaves` are the uniform values in their addresses."""

    def __init__(
        self,
        program: Program,
        shapes: Shapes,
        private: dict[Value, Instr],
        origins: Origins,
        numbers: LaneNumbers,
    ) -> None:
        self.numbers = numbers
        self.shapes = shapes
        self.private = private
        self.width = shapes.width
        self.linear = LinearForms(shapes, numbers)
        self.tiles: dict[Instr, Tile] = {}
        self.leaves: set[Value] = set()
        self.kept: set[Value] = set()
        self.place = {instr: number for number, instr in enumerate(program.instructions())}
        for block in program.blocks:
            for op in ("load", "store"):
                for run in runs(block, op, self._key, origins):
                    self._split(run, op)
            for instr in block.instrs:
                if instr.op == "guarded_load" and self._key(instr) is not None:
                    self._take([instr])

    # -- tiles ----------------------------------------------------------------------------

    def _key(self, instr: Instr) -> tuple[object, int] | None:
        """What the accesses of a tile have in common, and the offset in which they differ."""
        pointer = pointer_of(instr)
        if pointer in self.private or not self.shapes[pointer].is_varying:
            return None
        linear = self.linear(pointer)
        if linear is None:
            return None
        constant = linear.get(ONE, (0,) * self.width)
        relative = tuple(n - constant[0] for n in constant)
        rest = frozenset(item for item in linear.items() if item[0] != ONE)
        return (rest, relative, accessed(instr).type), constant[0]

    def _split(self, run: list[tuple[int, Instr]], op: str) -> None:
        """Cuts a run of accesses at gaps; makes tiles of the parts where possible."""
        if op == "load":  # an element that all lanes of a row share is best loaded by itself
            run = [(offset, instr) for offset, instr in run if not self._take([instr], longest=1)]
        by_offset = dict(run)
        if len(by_offset) < len(run) or not run:
            return
        size = accessed(run[0][1]).type.size
        chunk: list[Instr] = []
        for offset in sorted(by_offset):
            if offset - size not in by_offset:
                self._take(chunk)
                chunk = []
            chunk.append(by_offset[offset])
        self._take(chunk)

    def _take(self, members: list[Instr], longest: int = 1 << 30) -> bool:
        """Makes a tile of the members, if they can be one with runs no longer than `longest`."""
        found = self._runs(members) if members else None
        if found is None or len(found[0][0].cells) > longest:
            return False
        start = self._key(members[0])
        assert start is not None
        ends = max if members[0].op == "store" else min
        tile = Tile(members, start, ends(members, key=self.place.__getitem__), *found)
        self.tiles.update(dict.fromkeys(members, tile))
        for member in members:
            self._keep(pointer_of(member))
        return True

    def _runs(self, members: list[Instr]) -> tuple[list[Run], tuple[int, ...]] | None:
        """The runs that the members cover, and their distances; None if they make no tile."""
        size = accessed(members[0]).type.size
        once = members[0].op == "store"
        rows: dict[object, dict[int, list[tuple[int, int]]]] = {}
        for number, member in enumerate(members):
            linear = self.linear(pointer_of(member)) or {}
            for lane in range(self.width):
                row = frozenset((k, f[lane]) for k, f in linear.items() if k != ONE)
                offset = linear[ONE][lane] if ONE in linear else 0
                cell = rows.setdefault(row, {}).setdefault(offset, [])
                if cell and once:
                    return None
                cell.append((lane, number))
        parts = [part for cells in rows.values() for part in _side_by_side(cells, size)]
        found = [Run(tuple(part.values())) for part in parts]
        lengths = {len(run.cells) for run in found}
        count = len(found)
        if len(lengths) > 1 or count & (count - 1) or count > MOST_RUNS:
            return None
        if count > FEW_RUNS and min(lengths) < SHORTEST_RUN:
            return None
        starts = [min(part) for part in parts] if len(rows) == 1 else []
        return found, tuple(start - starts[0] for start in starts)

    def _keep(self, value: Value) -> None:
        """Notes the uniform values that `scalar_at` will ask for (simd/emit/tile_access.py)."""
        work = [value]
        while work:
            one = work.pop()
            if one in self.kept or self.numbers(one) is not None:
                continue
            self.kept.add(one)
            if self.shapes[one].is_uniform:
                self.leaves.add(one)
            elif isinstance(one, Instr):
                work += one.operands


def _side_by_side(
    cells: dict[int, list[tuple[int, int]]], size: int
) -> list[dict[int, tuple[tuple[int, int], ...]]]:
    """The cells by their offset, cut at gaps."""
    parts: list[dict[int, tuple[tuple[int, int], ...]]] = []
    for offset in sorted(cells):
        if offset - size not in cells:
            parts.append({})
        parts[-1][offset] = tuple(cells[offset])
    return parts
