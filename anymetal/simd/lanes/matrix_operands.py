"""Where products of 8 x 8 matrices get their operands from (matrices.py): from memory.

An element of the left matrix is the factor of a whole row. Processors spread a number over a vector
as they load it; a permutation of registers would cost as much as the multiplication. Rows of right
matrices are loaded again and again: beside the sums there are no registers for them.

Both are read where the kernel has loaded them, as long as they stay there. Halves are converted
once and kept in memory as floats.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from anymetal.emission.writer import Writer
from anymetal.ir.model import Instr
from anymetal.simd import questions
from anymetal.simd.access.matrix_places import ROWS, Columns
from anymetal.simd.access.tiles import Tile
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.lanes.row_forms import RowForms

_FLOAT = 4
_ROW = _FLOAT * ROWS  #: bytes
_POINTER = 8


class Left(NamedTuple):
    """A left matrix, or its lower rows."""

    address: str
    stride: int  #: bytes from row to row


class Column:
    """Left matrices one above the other, at any places, with the same stride."""

    def __init__(self, w: Writer, matrices: list[Left]) -> None:
        self.w, self.matrices = w, matrices
        if len(matrices) > 1:
            self.table = w.alloca(f"[{len(matrices)} x ptr]", "lefts")
            for i, left in enumerate(matrices):
                w.do(f"store ptr {left.address}, ptr {_behind(w, self.table, i * _POINTER)}")

    def behind(self, rows: str) -> Left:
        """What is left of it without so many rows, an i64: to the end of a matrix at least."""
        (address, stride), rest = self.matrices[0], rows
        if len(self.matrices) > 1:
            number = self.w.value(f"lshr i64 {rows}, {ROWS.bit_length() - 1}")
            entry = self.w.value(f"getelementptr ptr, ptr {self.table}, i64 {number}")
            address = self.w.value(f"load ptr, ptr {entry}")
            rest = self.w.value(f"and i64 {rows}, {ROWS - 1}")
        skipped = self.w.value(f"mul i64 {rest}, {stride}")
        return Left(self.w.value(f"getelementptr i8, ptr {address}, i64 {skipped}"), stride)


class Lefts(GangEmitter):
    """Left matrices, as floats in memory."""

    def __init__(self, c: GangContext, rows: RowForms) -> None:
        super().__init__(c)
        self.rows = rows
        #: Those that have to be copied, by the loads that they come from.
        self.leaving = {
            (product.anchor.block, self._origin(step.left)): step.left
            for product in c.known(questions.matrix_products).values()
            for step in product.steps
            if not self._stays(step.left, product.anchor)
        }

    def _origin(self, columns: Columns) -> Columns:
        """The columns that these are conversions of."""
        while source := self.rows.source(columns):
            columns = source
        return columns

    def _stays(self, left: Columns, user: Instr) -> bool:
        tile = self.rows.in_memory.at(left, user)
        return tile is not None and not self.rows.source(left) and _is_even(tile)

    def loaded(self, columns: Columns, tile: Tile) -> None:
        """Copies a left matrix that has just been loaded, if it will not stay: until its product
        comes it would take registers."""
        left = self.leaving.get((tile.anchor.block, columns))
        if left:
            self._copy(left, None)

    def place(self, left: Columns, user: Instr, mask: Mask) -> Left:
        """Where a matrix is; inactive lanes count as zeros."""
        if mask is None and self._stays(left, user) and self.rows.stay(left, user):
            tile = self.rows.in_memory.loaded(left)
            assert tile is not None
            return Left(self.rows.place(left, 0), tile.distances[1])
        return Left(self._copy(left, mask), _ROW)

    def factor(self, type_: str, left: Left, row: int, k: int) -> str:
        """An element of a matrix, spread over a vector."""
        place = _behind(self.w, left.address, row * left.stride + k * _FLOAT)
        one = self.w.value(f"load float, ptr {place}, align {_FLOAT}")
        vector = self.w.value(f"insertelement {type_} poison, float {one}, i64 0")
        picks = f"<{type_.split()[0][1:]} x i32> zeroinitializer"
        return self.w.value(f"shufflevector {type_} {vector}, {type_} poison, {picks}")

    def _copy(self, left: Columns, mask: Mask) -> str:
        key = left, f"factors {mask}"
        if key not in self.v.local:
            self.v.local[key] = _unknown(self.w, f"[{ROWS * ROWS} x float]", "factors")
            for r, row in enumerate(self.rows.of(left, mask)):
                at = _behind(self.w, self.v.local[key], r * _ROW)
                self.w.do(f"store <{ROWS} x float> {row}, ptr {at}, align {_ROW}")
        return self.v.local[key]


class Right:
    """The right matrices of one step of a product."""

    def __init__(self, rows: RowForms, columns: Columns, user: Instr, mask: Mask) -> None:
        self.w, self.v = rows.w, rows.v
        self.rows = rows
        self.columns = columns
        self.stays = mask is None and rows.stay(columns, user)
        self.known = [] if self.stays else rows.of(columns, mask)

    def prepare(self) -> None:
        """Converts all rows, if they must be, for a loop that reads them more than once."""
        if self.stays and self.rows.source(self.columns[:2]):
            for k in range(ROWS):
                self._floats(k)

    def row(self, k: int) -> list[str]:
        """The vectors of row `k`."""
        if not self.stays:
            vectors = self.rows.vectors(self.columns)
            return self.known[k * vectors : (k + 1) * vectors]
        if self.rows.source(self.columns[:2]):
            return self._floats(k)
        return self.rows.read(self.columns, k)

    def _floats(self, k: int) -> list[str]:
        """A row that is converted when it is first needed, and then kept in memory."""
        type_, count = self.rows.type(self.columns), self.rows.vectors(self.columns)
        size = _FLOAT * int(type_.split()[0][1:])
        buffer, kept = (self.columns, "floats"), (self.columns, f"floats {k}")
        if buffer not in self.v.local:
            self.v.local[buffer] = _unknown(self.w, f"[{ROWS * count} x {type_}]", "floats")
        start = self.v.local[buffer]
        places = [_behind(self.w, start, (k * count + i) * size) for i in range(count)]
        if kept in self.v.local:
            return [self.w.value(f"load {type_}, ptr {at}, align {size}") for at in places]
        self.v.local[kept] = start
        names = self.rows.read(self.columns, k)
        for name, at in zip(names, places, strict=True):
            self.w.do(f"store {type_} {name}, ptr {at}, align {size}")
        return names


def _is_even(tile: Tile) -> bool:
    """Whether all runs of a tile are as far from the next."""
    return len({b - a for a, b in pairwise(tile.distances)}) == 1


def _unknown(w: Writer, type_: str, prefix: str) -> str:
    """Memory that LLVM cannot look into: it would permute registers instead of loading what was
    stored, or keep vectors for which there are no registers."""
    return w.hidden(w.alloca(type_, prefix, 64))


def _behind(w: Writer, address: str, bytes_: int) -> str:
    return w.value(f"getelementptr i8, ptr {address}, i64 {bytes_}")
