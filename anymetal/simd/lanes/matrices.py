"""Products of 8 x 8 matrices that are spread over the 32 lanes of a SIMD-group.

    d(row, column) = c(row, column) + sum over k of a(row, k) * b(k, column)

Rows of c and b are vectors (row_forms.py), and an element of `a` is the factor of a whole row
(matrix_operands.py). The products for an element are added in the order of k.

A kernel may hold more sums than there are registers. So as many rows as fit go through all steps of
a product before the next rows begin: in a loop, since the code for all rows would not stay in the
processor's instruction cache, and with the sums in memory in between. Where all rows fit, products
end their block, with a branch that LLVM must not look through and that costs nothing: its scheduler
would mix products, and move sums between registers and memory for each addition.

Products with the same right matrices are one above the other: their rows are those of one product.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from anymetal.ir import types as t
from anymetal.ir.model import Block
from anymetal.simd import questions
from anymetal.simd.access.matrix_places import ROWS, Columns
from anymetal.simd.access.matrix_products import Product, incoming
from anymetal.simd.access.tiles import Tile
from anymetal.simd.code.deinterleave import join, split
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.lanes.matrix_operands import Column, Left, Lefts, Right
from anymetal.simd.lanes.row_forms import RowForms


class Matrices(GangEmitter):
    """Emits products, and the phis that hold their rows."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.rows = RowForms(c)
        self.lefts = Lefts(c, self.rows)
        self.phis = c.known(questions.row_phis)
        self.tall = c.known(questions.tall_products)
        self.merged = {v for many in self.phis.values() for columns in many for v in columns}

    def emit(self, product: Product, mask: Mask) -> None:
        """The whole product, in the place of its anchor, or of the last one's if several are
        computed together."""
        many = self.tall.get(product, [product])
        if product is many[-1]:
            self._emit_all(many, mask)

    def _emit_all(self, many: list[Product], mask: Mask) -> None:
        height = self.machine.rows_at_once(4 * len(many[0].results))
        if height == ROWS and len(many) == 1:
            self._emit_whole(many[0], mask)
        else:
            self._emit_by_rows(many, height, mask)

    def _emit_whole(self, product: Product, mask: Mask) -> None:
        """A product whose rows fit registers."""
        lefts, rights = self._lefts(product, product, mask), self._rights(product, mask)
        sums = self.rows.of(product.sums)
        self._add(product.results, sums, lefts, rights)
        sums = [self._made_here(row, self.rows.length(product.results)) for row in sums]
        self.w.end_block()
        self.rows.define(product.results, sums)

    def _made_here(self, row: str, length: int) -> str:
        """A row of so many floats that is not computed behind the block, register by register."""
        words, register = min(length, self.machine.words), self.machine.any_register
        parts = split(self.w, t.FLOAT, row, length, words)
        parts = [self.w.made_here(one, f"<{words} x float>", register) for one in parts]
        return join(self.w, t.FLOAT, parts, words)[0]

    def _emit_by_rows(self, many: list[Product], height: int, mask: Mask) -> None:
        """Products one above the other, some rows at a time."""
        last, first = many[-1], many[0].results
        lefts = [*zip(*(self._lefts(product, last, mask) for product in many), strict=True)]
        if any(len({left.stride for left in of_step}) > 1 for of_step in lefts):
            for product in many:
                self._emit_all([product], mask)
            return
        rights = self._rights(last, mask)
        for right in rights:
            right.prepare()
        columns = [Column(self.w, [*of_step]) for of_step in lefts]
        for product in many:
            if not self.rows.share(product.sums, product.results):
                for i, name in enumerate(self.rows.of(product.sums)):
                    self.rows.store(product.results, "row", i, name)
        self.w.repeat(
            ROWS * len(many),
            height,
            lambda row: self._add_rows(
                first, [column.behind(row) for column in columns], rights, row, height
            ),
        )
        for product in many:
            self.rows.defined(product.results)

    def _lefts(self, product: Product, last: Product, mask: Mask) -> list[Left]:
        return [self.lefts.place(step.left, last.anchor, mask) for step in product.steps]

    def _rights(self, product: Product, mask: Mask) -> list[Right]:
        return [Right(self.rows, step.right, product.anchor, mask) for step in product.steps]

    def _add_rows(
        self, results: Columns, lefts: list[Left], rights: list[Right], first: str, height: int
    ) -> None:
        """Adds the products of all steps to some rows of the sums, from row `first` on."""
        vectors, type_ = self.rows.vectors(results), self.rows.type(results)
        at = self.w.value(f"mul nuw nsw i64 {first}, {vectors}")
        start = self.rows.address(results, "row", at)
        places = [
            self.w.value(f"getelementptr {type_}, ptr {start}, i64 {i}")
            for i in range(height * vectors)
        ]
        sums = [self.w.value(f"load {type_}, ptr {place}") for place in places]
        self._add(results, sums, lefts, rights)
        for place, name in zip(places, sums, strict=True):
            self.w.do(f"store {type_} {name}, ptr {place}")

    def _add(
        self, results: Columns, sums: list[str], lefts: list[Left], rights: list[Right]
    ) -> None:
        """Adds the products of all steps to sums, the vectors of as many rows."""
        vectors, type_ = self.rows.vectors(results), self.rows.type(results)
        callee = f"llvm.fmuladd.v{type_.split()[0][1:]}f32"
        self.w.forget_loads()  # or LLVM keeps rows of right matrices in registers
        steps = zip(lefts, rights, strict=True)
        for (left, right), k in itertools.product(steps, range(ROWS)):
            others = right.row(k)
            for row in range(len(sums) // vectors):
                factor = self.lefts.factor(type_, left, row, k)
                for at, other in enumerate(others, row * vectors):
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
            if columns in self.rows.homes:
                self.rows.defined(columns)
            else:
                self.rows.define(columns, self.rows.load(columns, "phi"))

    def leave(self, source: Block, target: Block) -> Iterable[tuple[Columns, list[str]]]:
        """The rows for the phis of `target`."""
        moves = [(c, incoming(c, source)) for c in self.phis.get(target, ())]
        return [(c, self.rows.of(new)) for c, new in moves if not self.rows.share(c, new)]

    def hand_over(self, moves: Iterable[tuple[Columns, list[str]]]) -> None:
        """Writes rows to phis; they have all been read, as one may be another's value."""
        for columns, names in moves:
            for i, name in enumerate(names):
                self.rows.store(columns, "phi", i, name)
