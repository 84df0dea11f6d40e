"""Products of 8 x 8 matrices that are spread over the 32 lanes of a SIMD-group.

    d(row, column) = c(row, column) + sum over k of a(row, k) * b(k, column)

Rows of c and b are vectors (row_forms.py), and an element of `a` is the factor of a whole row. It
comes out of memory, where processors spread a number over a vector as they load it; a permutation
of registers would cost as much as the multiplication. The products of an element are added in the
order of k.

A kernel that holds many sums has more of them than there are registers. LLVM's scheduler would mix
their products and move sums between registers and memory for each single addition; so rows that
fit end a block, with a branch that LLVM must not look through and that costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from anymetal.ir.model import Block
from anymetal.simd.masks import Mask
from anymetal.simd.products import Columns, Product, incoming
from anymetal.simd.row_forms import ROWS, RowForms
from anymetal.simd.tiles import Tile
from anymetal.simd.values import Values
from anymetal.simd.writer import Writer

_ROW_BYTES = 4 * ROWS


class MatrixRegisters(Protocol):
    """What a target says of its registers."""

    def rows_at_once(self, columns: int) -> int:
        """How many rows of so many float sums it can hold while it adds to them."""


class Matrices:
    """Emits products, and the phis between them that are rows."""

    def __init__(
        self,
        writer: Writer,
        values: Values,
        rows: RowForms,
        products: Iterable[Product],
        phis: dict[Block, list[Columns]],
        target: MatrixRegisters,
    ) -> None:
        self.w = writer
        self.v = values
        self.rows = rows
        self.lefts = {(p.anchor.block, self._source(p.left)): p.left for p in products}
        self.phis = phis
        self.target = target
        self.merged = {value for many in phis.values() for columns in many for value in columns}

    def emit(self, product: Product, mask: Mask) -> None:
        """All calls of a product, in the place of its anchor."""
        factors = self._factors(product.left, mask)
        right, sums = self.rows.of(product.right, mask), self.rows.of(product.sums)
        vectors, type_ = self.rows.vectors(product.right), self.rows.type(product.right)
        height = self.target.rows_at_once(4 * len(product.calls))
        for first in range(0, ROWS, height):
            for k in range(ROWS):
                for row in range(first, first + height):
                    factor = self._factor(type_, factors, row * ROWS + k)
                    for i in range(vectors):
                        at = row * vectors + i
                        terms = factor, right[k * vectors + i], sums[at]
                        callee = f"llvm.fmuladd.v{type_.split()[0][1:]}f32"
                        sums[at] = self.w.call(type_, callee, [(type_, name) for name in terms])
            self.w.end_block()
        self.rows.define(product.results, sums)

    def _source(self, columns: Columns) -> Columns:
        """What the columns are conversions of."""
        while source := self.rows.converted(columns):
            columns = source
        return columns

    def loaded(self, tile: Tile, rows: list[str]) -> None:
        """A tile has been loaded run by run. A left matrix goes back to memory at once, as numbers:
        it would only take registers until its product comes."""
        columns = self.rows.loaded(tile, rows)
        left = self.lefts.get((tile.anchor.block, columns))
        if left:
            self._factors(left, None)

    def _factors(self, left: Columns, mask: Mask) -> str:
        """Where the left matrix lies in memory, row by row."""
        key = left, f"factors {mask}"
        if key in self.v.local:
            return self.v.local[key]
        buffer = self.w.alloca(f"[{ROWS * ROWS} x float]", "factors", 64)
        for r, row in enumerate(self.rows.of(left, mask)):
            at = self.w.value(f"getelementptr i8, ptr {buffer}, i64 {r * _ROW_BYTES}")
            self.w.do(f"store <{ROWS} x float> {row}, ptr {at}, align {_ROW_BYTES}")
        # LLVM must not see that they come out of registers: it would permute those.
        self.v.local[key] = self.w.value(f'call ptr asm sideeffect "", "=r,0"(ptr {buffer})')
        return self.v.local[key]

    def _factor(self, type_: str, factors: str, number: int) -> str:
        size = type_.split()[0][1:]
        at = self.w.value(f"getelementptr i8, ptr {factors}, i64 {4 * number}")
        one = self.w.value(f"load float, ptr {at}, align 4")
        vector = self.w.value(f"insertelement {type_} poison, float {one}, i64 0")
        return self.w.value(
            f"shufflevector {type_} {vector}, {type_} poison, <{size} x i32> zeroinitializer"
        )

    # -- phis -----------------------------------------------------------------------------

    def enter(self, block: Block) -> None:
        """Take over the rows that predecessors have left."""
        for columns in self.phis.get(block, ()):
            self.rows.define(columns, self.rows.load(columns, "phi"))

    def leave(self, source: Block, target: Block) -> Iterable[tuple[Columns, list[str]]]:
        """The rows that the phis of `target` shall have."""
        return [(c, self.rows.of(incoming(c, source))) for c in self.phis.get(target, ())]

    def hand_over(self, moves: Iterable[tuple[Columns, list[str]]]) -> None:
        """All are read before any is written."""
        for columns, names in moves:
            for i, name in enumerate(names):
                self.rows.store(columns, "phi", i, name)
