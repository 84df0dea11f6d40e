"""Which products of 8 x 8 matrices are computed together, and which sums stay rows in between.

A call of `__am_matrix_fma` gives one element to each lane: four columns of a product. Calls of one
block with the same left matrix are a step: one product whose rows are as long as all their columns,
so that an element of the left matrix is multiplied with whole vectors (simd/lanes/matrices.py).
Steps that add to each other's results are one product. Where its sums come from phis that a product
has filled, as in a loop, the phis are kept as rows, too.

Products with the same right matrices are one above the other: a tall product, whose rows may all go
through one loop.
"""

from __future__ import annotations

from collections.abc import Iterable

from anymetal.ir.calls import MATRIX_FMA
from anymetal.ir.cfg import Dominators, Loop, dominates
from anymetal.ir.model import Block, Instr, Program, Value
from anymetal.simd.access.matrix_places import Columns, MatrixPlaces

#: Calls in a step: four matrices, of which a lane has two elements each, so 32 columns.
MOST_CALLS = 8


class Step:
    """Calls with one left matrix that do not need each other's results, in the order of their right
    matrices. There are 2, 4 or 8; a call without partner is there twice."""

    def __init__(self, left: Columns, calls: list[Instr], last: Instr) -> None:
        self.left = left
        self.calls = calls
        self.last = last  #: of the calls, where they stand in the block

    @property
    def right(self) -> Columns:
        return tuple(call.operands[2] for call in self.calls)

    @property
    def sums(self) -> Columns:
        return tuple(call.operands[3] for call in self.calls)


class Product:
    """Steps, each of which adds to the result of the one before."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps

    @property
    def anchor(self) -> Instr:
        """The call in whose place the whole product is computed."""
        return self.steps[-1].last

    @property
    def sums(self) -> Columns:
        return self.steps[0].sums

    @property
    def results(self) -> Columns:
        return tuple(self.steps[-1].calls)


def find_products(
    program: Program, users: dict[Value, list[Instr]], places: MatrixPlaces
) -> dict[Instr, Product]:
    """The product that each call is a part of."""
    found: list[Product] = []
    for block in program.blocks:
        ends: dict[Columns, Product] = {}
        for step in _of_block(block):
            before = ends.pop(step.sums, None)
            if before and _continues(before, step, users, places):
                before.steps.append(step)
            else:
                before = Product([step])
                found.append(before)
            ends[before.results] = before
    return {call: product for product in found for s in product.steps for call in s.calls}


def find_tall_products(
    products: Iterable[Product],
    users: dict[Value, list[Instr]],
    places: MatrixPlaces,
    homes: dict[Columns, Columns],
) -> dict[Product, list[Product]]:
    """Products that can be computed together, in the place of the last one's anchor: for each all
    of them, in order."""
    together: dict[tuple[object, ...], list[Product]] = {}
    for product in products:
        rights = tuple(step.right for step in product.steps)
        together.setdefault((places.times[product.anchor], rights), []).append(product)
    blocks = {product.anchor.block for many in together.values() for product in many}
    order = {instr: at for block in blocks if block for at, instr in enumerate(block.instrs)}
    tall: dict[Product, list[Product]] = {}
    taken: dict[Columns, list[Columns]] = {}
    for many in together.values():
        last = order[many[-1].anchor]
        results = [homes.get(product.results, product.results) for product in many]
        if len({*results}) < len(many) or any(taken.get(r, results) != results for r in results):
            continue  # another tall product has these sums in another order
        early = (user for p in many for value in p.results for user in users[value])
        if any(order.get(user, last + 1) <= last and user.op != "phi" for user in early):
            continue
        tall.update(dict.fromkeys(many, many))
        taken.update(dict.fromkeys(results, results))
    return {product: many for product, many in tall.items() if len(many) > 1}


def _continues(
    product: Product, step: Step, users: dict[Value, list[Instr]], places: MatrixPlaces
) -> bool:
    """Whether a step can be added to the product that gives its sums: nothing else uses those, and
    the step's right matrices can still be read from memory when the product is computed."""
    calls, last = set(step.calls), step.last
    right = step.right
    pairs = [right[i : i + 2] for i in range(0, len(right), 2)]
    return (
        all(_only_sum(v, users[v], calls) for v in step.sums)
        and places.times[product.anchor] == places.times[last]
        and all(places.at(pair, last) for pair in pairs)
    )


def _of_block(block: Block) -> list[Step]:
    """The steps of a block, in the order of their last calls."""
    open_: dict[Columns, list[Instr]] = {}
    rights: dict[Value, int] = {}
    done: list[Step] = []
    for instr in block.instrs:
        needed = [k for k, calls in open_.items() if any(v in calls for v in instr.operands)]
        for left in needed:
            done += _steps(left, open_.pop(left), rights)
        if instr.op == "call" and instr.arg == MATRIX_FMA:
            open_.setdefault(tuple(instr.operands[:2]), []).append(instr)
            rights.setdefault(instr.operands[2], len(rights))
    for left, calls in open_.items():
        done += _steps(left, calls, rights)
    return done


def _steps(left: Columns, calls: list[Instr], rights: dict[Value, int]) -> list[Step]:
    """The calls, cut so that the number in each step is a power of two. Some kernels go through the
    right matrices of every other row backwards; all steps have them in the order of `rights`."""
    steps = []
    while calls:
        size = min(MOST_CALLS, 1 << (len(calls).bit_length() - 1))
        part, calls = calls[:size], calls[size:]
        ordered = sorted(part, key=lambda call: rights[call.operands[2]])
        steps.append(Step(left, ordered * 2 if size == 1 else ordered, part[-1]))
    return steps


def find_row_phis(products: Iterable[Product], joins: set[Block]) -> dict[Block, list[Columns]]:
    """Phis that hold columns of products, by block; those of `joins` blend lanes."""
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


def find_homes(
    products: Iterable[Product],
    users: dict[Value, list[Instr]],
    phis: dict[Block, list[Columns]],
    loops: list[Loop],
    idom: Dominators[Block],
) -> dict[Columns, Columns]:
    """Sums that are kept in one place: the results of a product lie where the sums were that it
    began with, if nothing else uses those. So do the phis of a loop, if what they become in the
    next turn is there already."""
    before: dict[Columns, Columns] = {}
    blocks = {columns: block for block, many in phis.items() for columns in many}
    places = blocks | {product.results: product.anchor.block for product in products}
    for product in products:
        sums, block = product.sums, product.anchor.block
        if sums in places and all(_only_sum(v, users[v], {*product.steps[0].calls}) for v in sums):
            if all(places[sums] in loop.blocks for loop in loops if block in loop.blocks):
                before[product.results] = sums

    def home(columns: Columns) -> Columns:
        return home(before[columns]) if columns in before else columns

    for columns, block in blocks.items():
        again = (source for source in _sources(columns) if dominates(idom, block, source))
        if any(home(incoming(columns, source)) != columns for source in again):
            before = {result: sums for result, sums in before.items() if sums != columns}
    return {columns: home(columns) for columns in (*before, *before.values())}


def _reached(start: Columns, joins: set[Block]) -> dict[Columns, Block]:
    """Columns that are phis of one block, found from `start` by way of the phis' operands."""
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
    """The columns that come from each predecessor."""
    return [incoming(columns, source) for source in _sources(columns)]


def _sources(columns: Columns) -> list[Block]:
    """The blocks that phis have values from."""
    first = columns[0]
    assert isinstance(first, Instr)
    return list(first.arg)


def incoming(columns: Columns, source: Block) -> Columns:
    """The columns that come from one predecessor."""
    phis = [v for v in columns if isinstance(v, Instr)]
    return tuple(phi.operands[phi.arg.index(source)] for phi in phis)


def _only_sum(value: Value, users: list[Instr], calls: set[Instr]) -> bool:
    """Whether a value is used as a sum of these calls, and for nothing else."""
    return all(user in calls and value not in user.operands[:3] for user in users)
