"""Tiles: accesses whose lanes together cover a few rows of memory, however far those are apart.

Lanes of a SIMD-group often stand for places in a small block of a matrix:

    base + (row(lane) * elements_per_row + column(lane)) * size

which no lane stride describes, and which would be a gather. But where `row` and `column` follow
from the lane number alone, one knows when compiling which elements lie side by side: each run of
them becomes one scalar address and one vector access, and constant shuffles do the rest. As with
groups (groups.py), accesses at neighbouring addresses are taken together, so that a lane may have
several elements of its row. Several lanes may load one element; each is stored only once.

The pattern holds for a whole SIMD-group. Under a mask, a test at run time tells whether all lanes
are active; if not, each access takes the usual way.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.affine import ONE, LinearForms
from anymetal.analysis.effects import pointer_of
from anymetal.analysis.lane_numbers import LaneNumbers
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.access.groups import Origins, accessed, runs

MOST_RUNS = 16
SHORTEST_RUN = 4  #: unless there are few of them
FEW_RUNS = 4


class Run(NamedTuple):
    """Elements side by side in memory: for each, the (lane, number of the member) that access it,
    of which a store has one."""

    cells: tuple[tuple[tuple[int, int], ...], ...]


class Tile:
    """Loads, or stores, of one block; `members` in the order of their addresses."""

    def __init__(
        self, members: list[Instr], anchor: Instr, runs: list[Run], distances: tuple[int, ...]
    ) -> None:
        self.members = members
        #: The member in whose place the tile is emitted: first load, last store.
        self.anchor = anchor
        self.runs = runs  #: all of one length; a power of two of them
        self.distances = distances  #: bytes from the first run to each; none if they are not known


class TileFinder:
    """Looks for tiles in a program; `leaves` are the uniform values that their addresses need."""

    def __init__(
        self,
        program: Program,
        shapes: Shapes,
        private: dict[Value, Instr],
        origins: Origins,
        numbers: LaneNumbers,
        counters: dict[Value, Instr],
    ) -> None:
        self.numbers = numbers
        self.counters = counters
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
        """What accesses of one tile have in common, and the offset in which they differ."""
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
        """Cut a run of accesses where there is a gap; take what makes a tile."""
        if op == "load":  # what a lane shares with its whole row is best loaded by itself
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
        """Make a tile of the members, if they are one whose runs are not longer than `longest`."""
        found = self._runs(members) if members else None
        if found is None or len(found[0][0].cells) > longest:
            return False
        assert members[0].block is not None
        ends = max if members[0].op == "store" else min
        tile = Tile(members, ends(members, key=self.place.__getitem__), *found)
        self.tiles.update(dict.fromkeys(members, tile))
        for member in members:
            self._keep(pointer_of(member))
        return True

    def _runs(self, members: list[Instr]) -> tuple[list[Run], tuple[int, ...]] | None:
        """The runs of memory that the members cover, if they are few and of one length, and their
        distances."""
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
        """Note the uniform values that `scalar_at` will ask for."""
        work = [value]
        while work:
            one = work.pop()
            if one in self.kept or self.numbers(one) is not None:
                continue
            self.kept.add(one)
            if self.shapes[one].is_uniform:
                self.leaves |= {one, self.counters.get(one, one)}
            elif isinstance(one, Instr):
                work += one.operands


def _side_by_side(
    cells: dict[int, list[tuple[int, int]]], size: int
) -> list[dict[int, tuple[tuple[int, int], ...]]]:
    """Cells by their offset, cut where there is a gap."""
    parts: list[dict[int, tuple[tuple[int, int], ...]]] = []
    for offset in sorted(cells):
        if offset - size not in cells:
            parts.append({})
        parts[-1][offset] = tuple(cells[offset])
    return parts
