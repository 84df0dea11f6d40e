"""Affine forms: addresses as sums of products, with the part of each lane known when compiling.

    base + (row(lane) * elements_per_row + column(lane)) * size

`base` and `elements_per_row` are uniform; `row` and `column` follow from the lane number. The form
of this address gives, for each product of uniform values, its factor in every lane, and under the
empty product the constant of every lane:

    {base: 1 … 1,  elements_per_row: row(0) * size … row(31) * size,  (): column(0) * size … }

Deep forms also take uniform sums apart, so that the distance between two addresses can be seen. A
strided value that is no sum is then its value in lane 0 plus a constant for each lane.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.cache import Analyses
from anymetal.analysis.lane_numbers import LaneNumbers, lane_numbers, signed
from anymetal.analysis.ranges import Bounds
from anymetal.analysis.uniformity import Shapes, shapes
from anymetal.ir.model import Const, Instr, Value
from anymetal.ir.walk import from_below

MOST_TERMS = 12
MOST_FACTORS = 8  #: uniform values in one product
LARGEST = 1 << 64  #: factors are smaller
#: The uniform values of a product, in the order of their identity; the empty product is 1.
Product = tuple[Value, ...]
Linear = dict[Product, tuple[int, ...]]
#: How far apart two addresses are: the factor of each product, in bytes.
Distance = dict[Product, int]
ONE: Product = ()
_SUMS = frozenset("add sub or xor mul shl zext sext trunc".split())


def forms(known: Analyses) -> LinearForms:
    """The deep forms of a program's values."""
    return LinearForms(known(shapes), known(lane_numbers), True, Bounds(known.program.limits))


class LinearForms:
    """The linear forms of a program's values, found when they are asked for."""

    def __init__(
        self,
        shapes: Shapes,
        numbers: LaneNumbers,
        deep: bool = False,
        bound: Callable[[Value], int] | None = None,
    ) -> None:
        self.shapes = shapes
        self.deep = deep
        self.numbers = numbers
        self.bound = bound or Bounds()
        self.width = shapes.width
        self.known: dict[Value, Linear | None] = {}

    def __call__(self, value: Value) -> Linear | None:
        """The form of a value; None if what it is in a lane is known at run time only."""
        return from_below(value, self.known, self._parts, self._compute)

    def _parts(self, value: Value) -> list[Value]:
        """The operands whose forms the form of a value is made of."""
        if not isinstance(value, Instr) or self.numbers(value) is not None:
            return []
        if value.op == "gep":
            return value.operands
        if value.op == "select" and self.numbers(value.operands[0]) is not None:
            return value.operands[1:]
        sums = value.op in _SUMS and (self.deep or not self.shapes[value].is_uniform)
        return value.operands if sums and _may_not_wrap(value) else []

    def _compute(self, value: Value) -> Linear | None:
        numbers = self.numbers(value)
        if numbers is not None:
            return {ONE: tuple(signed(n, value.type) for n in numbers)}
        if isinstance(value, Instr) and value.op == "gep":
            scales = (1, *value.arg[:-1])
            offset: Linear = {ONE: (value.arg[-1],) * self.width}
            return self._sum([offset, *map(self._scaled, value.operands, scales)])
        shape = self.shapes[value]
        if isinstance(value, Instr) and (self.deep or not shape.is_uniform):
            form = self._arithmetic(value)
            if form is not None:
                return form
        if shape.is_uniform:
            return {(value,): (1,) * self.width}
        if self.deep and shape.is_strided and shape.exact:
            lanes = tuple(lane * shape.stride for lane in range(self.width))
            return {(value,): (1,) * self.width, ONE: lanes}
        return None

    def _arithmetic(self, value: Instr) -> Linear | None:
        if not _may_not_wrap(value):
            return None
        if value.op == "select":
            return self._chosen(value)
        if value.op in ("zext", "sext", "trunc"):
            return self.known[value.operands[0]]
        if value.op == "sub":
            first, second = value.operands
            return self._sum([self.known[first], self._scaled(second, -1)])
        if value.op == "xor" and self._turns_all_bits(value):  # LLVM's way to write `255 - x`
            first, second = value.operands
            return self._sum([self.known[second], self._scaled(first, -1)])
        if value.op == "add" or (value.op == "or" and "disjoint" in value.flags):
            return self._sum([self.known[v] for v in value.operands])
        if value.op == "mul":
            return self._multiplied(*(self.known[v] for v in value.operands))
        if value.op == "shl":
            numbers = self.numbers(value.operands[1])
            powers: Linear | None = {ONE: tuple(1 << n for n in numbers)} if numbers else None
            return self._multiplied(self.known[value.operands[0]], powers)
        return None

    def _chosen(self, select: Instr) -> Linear | None:
        """What a condition that is known for each lane chooses: of two arrays in turn, perhaps."""
        condition, yes, no = select.operands
        choice = self.numbers(condition)
        if choice is None:
            return None
        others = tuple(1 - chosen for chosen in choice)
        return self._sum(
            [
                self._multiplied(self.known[yes], {ONE: choice}),
                self._multiplied(self.known[no], {ONE: others}),
            ]
        )

    def _turns_all_bits(self, value: Instr) -> bool:
        """Whether `x ^ 255` has an x that is known to be within these bits."""
        first, second = value.operands
        mask = second.int_value if isinstance(second, Const) else None
        return mask is not None and not mask & (mask + 1) and 0 < self.bound(first) <= mask + 1

    def _scaled(self, value: Value, scale: int) -> Linear | None:
        linear = self.known[value]
        return linear and {key: tuple(n * scale for n in f) for key, f in linear.items()}

    def _sum(self, terms: list[Linear | None]) -> Linear | None:
        total: Linear = {}
        for term in terms:
            if term is None:
                return None
            for key, factors in term.items():
                old = total.get(key, (0,) * self.width)
                total[key] = tuple(a + b for a, b in zip(old, factors, strict=True))
        if len(total) > MOST_TERMS or any(_is_far(factors) for factors in total.values()):
            return None
        return total

    def _multiplied(self, left: Linear | None, right: Linear | None) -> Linear | None:
        if left is None or right is None:
            return None
        if max(map(len, left), default=0) + max(map(len, right), default=0) > MOST_FACTORS:
            return None
        products: list[Linear | None] = [
            {
                tuple(sorted(a + b, key=id)): tuple(
                    x * y for x, y in zip(left[a], right[b], strict=True)
                )
            }
            for a in left
            for b in right
        ]
        return self._sum(products)


def _is_far(factors: tuple[int, ...]) -> bool:
    return max(factors) >= LARGEST or min(factors) <= -LARGEST


def _may_not_wrap(value: Instr) -> bool:
    """Whether an operation may be taken as one on unlimited integers.

    Integers below 32 bits do wrap, unless LLVM knows better. A wider index that wraps is no valid
    address, so no active lane has one; and tiles are accessed with all lanes active.
    """
    if value.type.size >= 4 or (value.op == "or" and "disjoint" in value.flags):
        return True
    return {"nuw", "nsw"} <= set(value.flags.split())
