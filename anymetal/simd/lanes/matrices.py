"""Products of 8 x 8 matrices that are spread over the 32 lanes of a SIMD-group.

    d(row, column) = c(row, column) + sum over k of a(row, k) * b(k, column)

Rows of c and b are vectors (row_forms.py), and an element of `a` is the factor of a whole row
(matrix_operands.py). The products for an element are added in the order of k.

A kernel may hold more sums than there are registers. So as many rows as fit go through all steps of
a product before the next rows begin. LLVM's scheduler would mix these parts, and move sums between
registers and memory for each addition; so each part ends its block, with a branch that LLVM must
not look through and that costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from anymetal.ir.model import Block
from anymetal.simd import questions
from anymetal.simd.access.matrix_places import ROWS, Columns
from anymetal.simd.access.matrix_products import Product, incoming
from anymetal.simd.access.tiles import Tile
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.lanes.matrix_operands import Lefts, Right
from anymetal.simd.lanes.row_forms import RowForms


class Matrices(GangEmitter):
    """Emits products, and the phis that hold their rows."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.rows = RowForms(c)
        self.lefts = Lefts(c, self.rows)
        self.phis = c.known(questions.row_phis)
        self.merged = {v for many in self.phis.values() for columns in many for v in columns}

    def emit(self, product: Product, mask: Mask) -> None:
        """The whole product, in the place of its anchor."""
        anchor, sums = product.anchor, self.rows.of(product.sums)
        steps = [
            (
                self.lefts.places(step.left, anchor, mask),
                Right(self.rows, step.right, anchor, mask),
            )
            for step in product.steps
        ]
        height = self.machine.rows_at_once(4 * len(product.results))
        for first in range(0, ROWS, height):
            self.w.forget_loads()  # or LLVM keeps rows of right matrices in registers
            for left, right in steps:
                self._add(product, sums, range(first, first + height), left, right)
            self.w.end_block()
        self.rows.define(product.results, sums)

    def _add(
        self, product: Product, sums: list[str], rows: range, left: list[str], right: Right
    ) -> None:
        """Adds a step's products to these rows of sums."""
        vectors, type_ = self.rows.vectors(product.results), self.rows.type(product.results)
        callee = f"llvm.fmuladd.v{type_.split()[0][1:]}f32"
        for k in range(ROWS):
            others = right.row(k)
            for row in rows:
                factor = self.lefts.factor(type_, left[row], k)
                for i, other in enumerate(others):
                    at = row * vectors + i
                    terms = [(type_, name) for name in (factor, other, sums[at])]
                    sums[at] = self.w.call(type_, callee, terms)
            self.w.boundary()

    def loaded(self, tile: Tile, address: str, rows: list[str]) -> None:
        """Takes note of a tile that was loaded: it may be a matrix."""
        columns = self.rows.loaded(tile, address, rows)
        if columns:
            self.lefts.loaded(columns, tile)

    # -- phis -----------------------------------------------------------------------------

    def enter(self, block: Block) -> None:
        """Reads the rows that predecessors have left in phis."""
        for columns in self.phis.get(block, ()):
            self.rows.define(columns, self.rows.load(columns, "phi"))

    def leave(self, source: Block, target: Block) -> Iterable[tuple[Columns, list[str]]]:
        """The rows for the phis of `target`."""
        return [(c, self.rows.of(incoming(c, source))) for c in self.phis.get(target, ())]

    def hand_over(self, moves: Iterable[tuple[Columns, list[str]]]) -> None:
        """Writes rows to phis; they have all been read, as one may be another's value."""
        for columns, names in moves:
            for i, name in enumerate(names):
                self.rows.store(columns, "phi", i, name)
