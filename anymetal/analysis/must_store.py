"""Must-store analysis: outputs that a kernel certainly stores as a whole.

    uint i = thread_position_in_grid.y * 1024 + thread_position_in_grid.x;
    out[i] = …;          // in every thread

stores 4 bytes at 4096 * y + 4 * x. Where a launch has 1024 x 8 threads, that is every byte of an
output of 32 KiB, whatever was there before; so nobody has to fill it with `init_value`. An address
is a sum of positions and loop counters times constants. The number of values that a position has is
known to launches only, so they do the rest (targets/cpu/covered.py).

An output that the kernel also reads, or hands to an atomic operation, does not count.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators
from anymetal.analysis.effects import accessed, is_plain
from anymetal.analysis.induction import Induction, inductions, trips
from anymetal.analysis.must_execute import loops_of
from anymetal.analysis.objects import only_stored
from anymetal.ir.calls import POSITIONS
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Argument, Const, Instr, Value
from anymetal.ir.types import I32, I64
from anymetal.ir.walk import from_below

MOST_TERMS = 16
#: A product of an array's address, positions, by name, and loops, which stand for the number of
#: iterations before; the empty product is 1.
Product = tuple[Argument | str | Loop, ...]
Sum = dict[Product, int]
_PREFIX = "__am_"
_THROUGH = ("gep", "add", "or", "mul", "shl", "zext", "sext", "trunc")


class Term(NamedTuple):
    """A part of an address: `stride` times each number below `times`, times the positions; the
    positions alone if there is one such number."""

    stride: int
    times: int
    positions: tuple[str, ...] = ()


class Stored(NamedTuple):
    """Certainly stored: so many bytes from every value of a sum on. No number in it is negative."""

    slot: int  #: the position of the output among the parameters
    bytes: int
    terms: tuple[Term, ...]


def stored(known: Analyses) -> list[Stored]:
    """What the threads of every launch store to outputs that they only store to."""
    arrays = known(only_stored)
    if not arrays:
        return []
    sums = _Sums(known)
    #: Constant distances and sizes, by the rest of the address.
    pieces: dict[frozenset[tuple[Product, int]], set[tuple[int, int]]] = {}
    for block in known(dominators):
        stores = [i for i in block.instrs if i.op == "store" and is_plain(i)]
        if not stores or loops_of(known, block) is None:
            continue
        for store in stores:
            address = sums(store.operands[1])
            if address is None:
                continue
            terms = frozenset((one, stride) for one, stride in address.items() if one)
            pieces.setdefault(terms, set()).add((address.get((), 0), accessed(store).type.size))
    found = (_stored(dict(terms), sorted(parts), known) for terms, parts in pieces.items())
    return [one for one in found if one and known.program.args[one.slot] in arrays]


def _stored(terms: Sum, parts: list[tuple[int, int]], known: Analyses) -> Stored | None:
    """Stores that differ in constant distances only, if these are equally long runs of bytes with
    equal distances, the first of them at the array's beginning."""
    runs: list[list[int]] = []
    for at, size in parts:
        if runs and at == runs[-1][1]:
            runs[-1][1] += size
        else:
            runs.append([at, at + size])
    begin, bytes_ = runs[0][0], runs[0][1] - runs[0][0]
    step = runs[1][0] if len(runs) > 1 else bytes_
    if begin or any(run != [i * step, i * step + bytes_] for i, run in enumerate(runs)):
        return None
    arrays = [one for product in terms for one in product if isinstance(one, Argument)]
    counters = [one for product in terms for one in product if isinstance(one, Loop)]
    if len(arrays) != 1 or terms.pop((arrays[0],), 0) != 1 or len(set(counters)) < len(counters):
        return None  # terms with the same counter are not independent
    # Sorted, or two processes would tell it in different orders: the terms come out of a set.
    rest = sorted(_term(product, stride, known) for product, stride in terms.items())
    return Stored(arrays[0].index, bytes_, (Term(step, len(runs)), *rest))


def _term(product: Product, stride: int, known: Analyses) -> Term:
    (count,) = [known(trips)[one] for one in product if isinstance(one, Loop)] or [1]
    return Term(stride, count, tuple(one for one in product if isinstance(one, str)))


class _Sums:
    """Integers and addresses as sums, found when they are asked for.

    They are taken as unlimited integers. Since no number in them is negative, none of their parts
    is larger than an offset that comes of them: launches see whether that has 31 bits. A counter
    has all of its values, since behind its loop it goes by another name, that of a phi.
    """

    def __init__(self, known: Analyses) -> None:
        self._trips = known(trips)
        self._inductions: dict[Value, tuple[Loop, Induction]] = {
            one.phi: (loop, one) for loop, several in known(inductions).items() for one in several
        }
        self._known: dict[Value, Sum | None] = {}

    def __call__(self, value: Value) -> Sum | None:
        return from_below(value, self._known, self._parts, self._sum)

    def _parts(self, value: Value) -> list[Value]:
        if not isinstance(value, Instr):
            return []
        if value in self._inductions:
            start = self._inductions[value][1].start
            return [] if start is None else [start]
        return value.operands if value.op in _THROUGH else []

    def _sum(self, value: Value) -> Sum | None:
        if isinstance(value, Argument):
            return {(value,): 1}
        if isinstance(value, Const):
            number = value.int_value
            return None if number is None or number < 0 else {(): number} if number else {}
        if not isinstance(value, Instr) or not (value.type.is_ptr or value.type in (I32, I64)):
            return None
        if value in self._inductions:
            return self._counted(*self._inductions[value])
        if value.op == "call" and value.arg in POSITIONS:
            return {(value.arg.removeprefix(_PREFIX),): 1}
        return self._of_parts(value) if value.op in _THROUGH else None

    def _counted(self, loop: Loop, one: Induction) -> Sum | None:
        if one.start is None or one.growth <= 0 or loop not in self._trips:
            return None
        return _added([self._known[one.start], {(loop,): one.growth}])

    def _of_parts(self, value: Instr) -> Sum | None:
        parts = [self._known[operand] for operand in value.operands]
        if value.op == "gep":
            offsets = [_times(p, {(): n}) for p, n in zip(parts[1:], value.arg[:-1], strict=True)]
            constant: Sum | None = {(): value.arg[-1]} if value.arg[-1] >= 0 else None
            return _added([parts[0], *offsets, constant])
        if value.op == "add" or (value.op == "or" and "disjoint" in value.flags):
            return _added(parts)
        if value.op == "mul":
            return _times(*parts)
        if value.op == "shl" and isinstance(value.operands[1], Const):
            return _times(parts[0], {(): 1 << (value.operands[1].int_value or 0)})
        return parts[0] if value.op in ("zext", "sext", "trunc") else None


def _added(parts: list[Sum | None]) -> Sum | None:
    total: Sum = {}
    for part in parts:
        if part is None:
            return None
        for product, factor in part.items():
            total[product] = total.get(product, 0) + factor
    return total if len(total) <= MOST_TERMS else None


def _times(left: Sum | None, right: Sum | None) -> Sum | None:
    """None where a product has two loops or arrays: the numbers that it has are not dense."""
    if left is None or right is None:
        return None
    total: Sum = {}
    for one, factor in left.items():
        for other, times in right.items():
            product = tuple(sorted(one + other, key=str))
            if sum(not isinstance(part, str) for part in product) > 1:
                return None
            total[product] = total.get(product, 0) + factor * times
    return total if len(total) <= MOST_TERMS else None
