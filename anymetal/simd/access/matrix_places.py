"""Where in memory matrices of SIMD-groups lie, and for how long.

As long as memory is not written, the rows of a matrix that was loaded (tiles.py) can be read once
more where they lie; lanes need not keep their elements.
"""

from __future__ import annotations

from anymetal.analysis.effects import writes
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.access.tiles import Tile

#: Values of the lanes of a SIMD-group, each of which holds four columns of a matrix.
Columns = tuple[Value, ...]

ROWS = 8
#: The lanes of a row, counted from its first: see simd/lanes/row_forms.py.
LANES = (0, 1, 8, 9)
#: The cells of a matrix in the order of memory: lane, and which of its two loads.
_CELLS = [
    tuple(
        (((row & 4) << 2 | (row & 3) << 1 | lane, element),)
        for lane in LANES
        for element in range(2)
    )
    for row in range(ROWS)
]


class MatrixPlaces:
    """The matrices that a program loads; `tiles` are its accesses to rows of memory."""

    def __init__(self, program: Program, tiles: dict[Instr, Tile]) -> None:
        self.tiles = tiles
        self.times: dict[Instr, tuple[object, int]] = {}  #: equal if nothing writes in between
        for block in program.blocks:
            count = 0
            for instr in block.instrs:
                count += writes(instr)
                self.times[instr] = block, count

    def at(self, pair: Columns, user: Instr) -> Tile | None:
        """The loads of a matrix, perhaps before a conversion, if its rows still lie there when
        `user` runs, at known distances."""
        tile = self.loaded(pair)
        stays = tile and self.times[tile.anchor] == self.times[user]
        return tile if tile and tile.distances and stays else None

    def loaded(self, pair: Columns) -> Tile | None:
        """The loads of a matrix, perhaps before a conversion."""
        first = pair[0]
        tile = self.tiles.get(first) if isinstance(first, Instr) else None
        if tile:
            return tile if tuple(tile.members) == pair and is_matrix(tile) else None
        source = converted(pair)
        return self.loaded(source) if source else None


def is_matrix(tile: Tile) -> bool:
    """Whether the runs of a tile are the rows of a matrix, in order."""
    return len(tile.members) == 2 and [run.cells for run in tile.runs] == _CELLS


def converted(pair: Columns) -> Columns:
    """The values that both are conversions of, if whole rows can be converted so."""
    both = [v for v in pair if isinstance(v, Instr) and _converts(v)]
    if len(both) < len(pair) or len({v.op for v in both}) > 1:
        return ()
    return tuple(v.operands[0] for v in both)


def _converts(instr: Instr) -> bool:
    if instr.op == "bitcast":
        return instr.operands[0].type == t.I16
    return instr.op == "fpext" and instr.operands[0].type == t.HALF and instr.type == t.FLOAT
