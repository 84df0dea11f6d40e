"""Which products of 8 x 8 matrices are computed together, and which sums stay rows in between.

A call of `__am_matrix_fma` gives one element to each lane: four columns of a product. Calls of one
block with the same left matrix are one product with as many columns as they have together, so that
an element of the left matrix meets whole vectors of the right ones (matrix.py). Where such columns
come out of a phi that another product has filled, as the sums of a loop do, the phi is one of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from anymetal.ir.model import Block, Instr, Program, Value

MATRIX_FMA = "__am_matrix_fma"
#: Calls in a product: four matrices of two elements a lane have 32 columns.
MOST_CALLS = 8
#: What lanes hold of some columns, four columns each.
Columns = tuple[Value, ...]


@dataclass(eq=False)
class Product:
    """Calls with one left matrix, of which none needs the result of another; two or more, a power
    of two: one that has no partner stands there twice."""

    left: Columns
    calls: list[Instr] = field(default_factory=list)

    @property
    def anchor(self) -> Instr:
        """The call in whose place all are computed."""
        return self.calls[-1]

    @property
    def right(self) -> Columns:
        return tuple(call.operands[2] for call in self.calls)

    @property
    def sums(self) -> Columns:
        return tuple(call.operands[3] for call in self.calls)

    @property
    def results(self) -> Columns:
        return tuple(self.calls)


def find_products(program: Program) -> dict[Instr, Product]:
    """Every product of matrices, by each of its calls."""
    products = [p for block in program.blocks for p in _of_block(block)]
    return {call: product for product in products for call in product.calls}


def _of_block(block: Block) -> list[Product]:
    open_: dict[Columns, Product] = {}
    done: list[Product] = []
    for instr in block.instrs:
        needed = [p for p in open_.values() if any(v in p.calls for v in instr.operands)]
        done += [open_.pop(p.left) for p in needed]
        if instr.op == "call" and instr.arg == MATRIX_FMA:
            left = tuple(instr.operands[:2])
            open_.setdefault(left, Product(left)).calls.append(instr)
    return [part for product in [*done, *open_.values()] for part in _parts(product)]


def _parts(product: Product) -> list[Product]:
    """A product in pieces whose numbers of calls are powers of two."""
    parts, calls = [], product.calls
    while calls:
        size = min(MOST_CALLS, 1 << (len(calls).bit_length() - 1))
        part, calls = calls[:size], calls[size:]
        parts.append(Product(product.left, part * 2 if size == 1 else part))
    return parts


def row_phis(products: Iterable[Product], joins: set[Block]) -> dict[Block, list[Columns]]:
    """Phis that hold columns of products together; `joins` are blocks whose phis blend lanes."""
    filled = {product.results for product in products}
    found: dict[Columns, Block] = {}
    for product in products:
        reached = _reached(product.sums, joins)
        if any(columns in filled for one in reached for columns in _incoming(one)):
            found.update(reached)
    by_block: dict[Block, list[Columns]] = {}
    taken: set[Value] = set()
    for columns, block in found.items():
        if taken.isdisjoint(columns):
            taken.update(columns)
            by_block.setdefault(block, []).append(columns)
    return by_block


def _reached(start: Columns, joins: set[Block]) -> dict[Columns, Block]:
    """Columns of phis of one block each, from `start` on against the flow of values."""
    found: dict[Columns, Block] = {}
    work = [start]
    while work:
        columns = work.pop()
        block = _block_of_phis(columns)
        if block is not None and block not in joins and columns not in found:
            found[columns] = block
            work += _incoming(columns)
    return found


def _block_of_phis(columns: Columns) -> Block | None:
    blocks = {v.block for v in columns if isinstance(v, Instr) and v.op == "phi"}
    together = len(blocks) == 1 and all(isinstance(v, Instr) and v.op == "phi" for v in columns)
    return blocks.pop() if together else None


def _incoming(columns: Columns) -> list[Columns]:
    """What the phis take over from each predecessor."""
    first = columns[0]
    assert isinstance(first, Instr)
    return [incoming(columns, source) for source in first.arg]


def incoming(columns: Columns, source: Block) -> Columns:
    """What phis take over from a block."""
    phis = [v for v in columns if isinstance(v, Instr)]
    return tuple(phi.operands[phi.arg.index(source)] for phi in phis)
