"""Matrices as rows: the second form of what the lanes of a SIMD-group hold of them.

Lane bits 4, 2 and 1 are the row of a lane's elements, bits 3 and 0 the upper bits of the column
(see simdgroup_matrix.h). So two values, a lane's two elements of a matrix, are 8 rows of 8 numbers:

    row r = the first and second value of the lanes l, l + 1, l + 8, l + 9,  l = lane bits of r

An even number of values, columns of several matrices, are rows that are as long as all of them, in
vectors of at most 16 numbers. A row comes from the lanes by a permutation, or from memory if the
matrix was loaded in this block. Products give rows (matrices.py); lanes get their elements only
where an instruction needs them.
"""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.simd import questions
from anymetal.simd.access.matrix_places import LANES, ROWS, Columns, converted, is_matrix
from anymetal.simd.access.tiles import Tile
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask

_WIDEST = 16  #: numbers in a vector
_HALF = 16  #: lanes of rows 0 to 3


class RowForms(GangEmitter):
    """The rows of columns."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.in_memory = c.known(questions.matrix_places)
        self.homes = c.known(questions.row_homes)
        self.widens = self.machine.converts(t.HALF)  #: halves to floats
        self.places: dict[Value, tuple[Columns, int]] = {}  #: values that exist as rows
        self.slots: dict[tuple[Columns, str], str] = {}
        self.tall = {
            self._key(product.results, "row"): [self._key(one.results, "row") for one in many]
            for product, many in c.known(questions.tall_products).items()
        }

    @staticmethod
    def vectors(columns: Columns) -> int:
        """How many vectors a row takes."""
        return max(1, 4 * len(columns) // _WIDEST)

    @staticmethod
    def type(columns: Columns) -> str:
        return f"<{RowForms.length(columns)} x float>"

    @staticmethod
    def length(columns: Columns) -> int:
        """How many numbers are in one vector."""
        return min(_WIDEST, 4 * len(columns))

    # -- definitions ----------------------------------------------------------------------

    def define(self, columns: Columns, names: list[str]) -> None:
        """Defines columns by their rows; other blocks find these in memory."""
        for i, name in enumerate(names):
            self.v.local[columns, f"row {i}"] = name
            self.store(columns, "row", i, name)
        self.defined(columns)

    def defined(self, columns: Columns) -> None:
        """Takes note of columns whose rows are in memory."""
        for number, value in enumerate(columns):
            self.places[value] = columns, number
            self.v.derived[value] = self._of_lanes
        for value in columns:
            if value in self.v.laid_out and isinstance(value, Instr):
                self.v.define(value, vector=self._of_lanes(value))

    def share(self, one: Columns, other: Columns) -> bool:
        """Whether both are kept in one place."""
        return one in self.homes and self.homes[one] == self.homes.get(other)

    def store(self, columns: Columns, kind: str, number: int, name: str) -> None:
        at = self.address(columns, kind, str(number))
        self.w.do(f"store {self.type(columns)} {name}, ptr {at}")

    def load(self, columns: Columns, kind: str) -> list[str]:
        places = [self.address(columns, kind, str(i)) for i in range(ROWS * self.vectors(columns))]
        return [self.w.value(f"load {self.type(columns)}, ptr {at}") for at in places]

    def address(self, columns: Columns, kind: str, number: str) -> str:
        """Where a vector of the rows is kept: its number is an i64. Rows of products that are
        computed together follow each other."""
        key = self._key(columns, kind)
        if key not in self.slots:
            many = self.tall.get(key, [key])
            type_ = f"[{ROWS * self.vectors(columns)} x {self.type(columns)}]"
            start = self.w.alloca(f"[{len(many)} x {type_}]", "rows")
            for i, one in enumerate(many):
                self.slots[one] = f"%{self.w.fresh('rows')}"
                at = f"getelementptr {type_}, ptr {start}, i64 {i}"
                self.w.entry_lines.append(f"  {self.slots[one]} = {at}")
        slot = self.slots[key]
        return self.w.value(f"getelementptr {self.type(columns)}, ptr {slot}, i64 {number}")

    def _key(self, columns: Columns, kind: str) -> tuple[Columns, str]:
        home = self.homes.get(columns)
        return (home, "home") if home else (columns, kind)

    def loaded(self, tile: Tile, address: str, rows: list[str]) -> Columns:
        """Notes a tile that was loaded; returns its columns if it is a matrix."""
        if not is_matrix(tile):
            return ()
        columns: Columns = tuple(tile.members)
        for r, row in enumerate(rows):
            self.v.local[columns, f"row {r}"] = row
        self.v.local[columns, "address"] = address
        return columns

    # -- uses -----------------------------------------------------------------------------

    def of(self, columns: Columns, mask: Mask = None) -> list[str]:
        """The vectors of all rows, one row after the other; inactive lanes count as zeros."""
        place = self.places.get(columns[0])
        if place is not None and place[0] == columns and mask is None:
            return self._known(columns)
        pairs = [self._pair(columns[i : i + 2], mask) for i in range(0, len(columns), 2)]
        if len(pairs) == 1:
            return pairs[0]
        return [
            self._joined(pairs[i][r], pairs[i + 1][r])
            for r in range(ROWS)
            for i in range(0, len(pairs), 2)
        ]

    def _known(self, columns: Columns) -> list[str]:
        keys = [(columns, f"row {i}") for i in range(ROWS * self.vectors(columns))]
        if keys[0] not in self.v.local:
            for key, name in zip(keys, self.load(columns, "row"), strict=True):
                self.v.local[key] = name
        return [self.v.local[key] for key in keys]

    def _pair(self, pair: Columns, mask: Mask) -> list[str]:
        """The rows of one matrix."""
        kind = f"row of {mask}" if mask else "row"
        keys = [(pair, f"{kind} {r}") for r in range(ROWS)]
        if keys[0] not in self.v.local:
            rows = (None if mask else self._from_memory(pair)) or self._permuted(pair, mask)
            self.v.local.update(zip(keys, rows, strict=True))
        return [self.v.local[key] for key in keys]

    def _from_memory(self, pair: Columns) -> list[str] | None:
        """The rows as they were loaded in this block, perhaps converted."""
        rows = [self.v.local.get((pair, f"row {r}")) for r in range(ROWS)]
        if all(rows):
            return [row for row in rows if row]
        source = self.source(pair)
        found = source and self._from_memory(source)
        return [self._converted(pair, source, row) for row in found] if found else None

    def source(self, pair: Columns) -> Columns:
        """The pair that this converts, if an instruction converts whole rows."""
        source = converted(pair)
        return source if source and (source[0].type != t.HALF or self.widens) else ()

    def _converted(self, pair: Columns, source: Columns, row: str, count: int = ROWS) -> str:
        kind = "fpext" if pair[0].type == t.FLOAT else "bitcast"
        types = [f"<{count} x {v.type}>" for v in (source[0], pair[0])]
        return self.w.value(f"{kind} {types[0]} {row} to {types[1]}")

    # -- rows where they lie --------------------------------------------------------------

    def stay(self, columns: Columns, user: Instr) -> bool:
        """Whether all rows can still be read from memory when `user` is emitted."""
        pairs = [columns[i : i + 2] for i in range(0, len(columns), 2)]
        return all(self.in_memory.at(pair, user) and self._address(pair) for pair in pairs)

    def _address(self, pair: Columns) -> str:
        """The address of a matrix's first row; empty if it was not loaded by rows."""
        address = self.v.local.get((pair, "address"))
        source = self.source(pair)
        return address or (self._address(source) if source else "")

    def place(self, pair: Columns, row: int) -> str:
        """The address of a row of a matrix that stays in memory."""
        tile = self.in_memory.loaded(pair)
        assert tile is not None
        return self.w.value(
            f"getelementptr i8, ptr {self._address(pair)}, i64 {tile.distances[row]}"
        )

    def read(self, columns: Columns, row: int) -> list[str]:
        """One row of matrices that stay in memory, as vectors."""
        pairs = [columns[i : i + 2] for i in range(0, len(columns), 2)]
        if len(pairs) == 1:
            return [self._read(pairs[0], row)]
        return [self._read_both(a, b, row) for a, b in zip(pairs[::2], pairs[1::2], strict=True)]

    def _read_both(self, left: Columns, right: Columns, row: int) -> str:
        """One row of two matrices: one load where they lie side by side."""
        first, second = self.in_memory.loaded(left), self.in_memory.loaded(right)
        if first and second and first.goes_on(second):
            return self._read(left, row, 2 * ROWS)
        return self._joined(self._read(left, row), self._read(right, row))

    def _read(self, pair: Columns, row: int, count: int = ROWS) -> str:
        """So many numbers of memory from where a row of a matrix begins."""
        source = self.source(pair)
        if source and (pair, "address") not in self.v.local:
            return self._converted(pair, source, self._read(source, row, count), count)
        first = pair[0]
        assert isinstance(first, Instr)
        type_ = f"<{count} x {first.type}>"
        return self.w.value(f"load {type_}, ptr {self.place(pair, row)}, align {first.arg.align}")

    def _permuted(self, pair: Columns, mask: Mask) -> list[str]:
        """Rows from the lanes, two by each permutation."""
        lanes = [self.masks.blend(t.FLOAT, self.v.vector(v), "0.0", mask) for v in pair]
        rows: list[str] = []
        for half in range(2):
            first, second = (self._part(name, 2 * _HALF, half * _HALF, _HALF) for name in lanes)
            for row in (0, 2):
                both = self._shuffle(_HALF, first, second, _row(row) + _row(row + 1))
                rows += [self._part(both, 2 * ROWS, at, ROWS) for at in (0, ROWS)]
        return rows

    def _of_lanes(self, value: Value) -> str:
        """A value of the lanes, from rows."""
        columns, number = self.places[value]
        names, vectors = self._known(columns), self.vectors(columns)
        size = min(_WIDEST, 4 * len(columns))
        vector, start = divmod(number // 2 * ROWS, size)
        picks = [start + 2 * i + number % 2 for i in range(len(LANES))]
        picks += [size + pick for pick in picks]
        picks += [-1] * (size - len(picks))
        rows = names[vector::vectors]
        pairs = [self._shuffle(size, rows[r], rows[r + 1], picks) for r in range(0, ROWS, 2)]
        first, second = (self._shuffle(size, pairs[i], pairs[i + 1], _back(size)) for i in (0, 2))
        return self._joined(first, second, size=_HALF)

    # -- permutations ---------------------------------------------------------------------

    def _shuffle(self, size: int, first: str, second: str, picks: list[int]) -> str:
        return self.w.shuffle(f"<{size} x float>", picks, first, second)

    def _part(self, name: str, size: int, first: int, count: int) -> str:
        return self._shuffle(size, name, "poison", list(range(first, first + count)))

    def _joined(self, first: str, second: str, size: int = ROWS) -> str:
        return self._shuffle(size, first, second, list(range(2 * size)))


def _row(row: int) -> list[int]:
    """Where the elements of a row are in two values of 16 lanes."""
    return [2 * row + lane + _HALF * element for lane in LANES for element in range(2)]


def _back(size: int) -> list[int]:
    """Where the elements of 16 lanes are in two pairs of rows."""
    return [(row >> 1) * size + (row & 1) * 4 + i for row, i in map(_of_lane, range(_HALF))]


def _of_lane(lane: int) -> tuple[int, int]:
    """The row of a lane, and which of that row's lanes it is."""
    return lane >> 1 & 3, LANES.index(lane & 0b1001)
