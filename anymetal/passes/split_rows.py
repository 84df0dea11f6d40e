"""Loads by a row and a column that follow from one index: a gang has elements of a few rows.

    for (uint q = id; q < 324; q += 256) tile[q / 18][q % 18] = x[(y + q / 18) * width + q % 18];

If `q` counts on from lane to lane, 32 lanes have elements of at most three rows of 18. Each row is
one access to neighbours under a mask, where the addresses of all lanes would need a gather:

    x[(y + first / 18 + k) * width + column],  where 0 <= column < 18

with `column = first % 18 + lane - 18 * k`; `first` is the index of lane 0. Where rows follow each
other, as in the tile, all is one row: such stores, too, are plain.

The address of a row is that of its column 0, which may lie in front of the array. So 32-bit sums
are signed there, as the elements that are loaded lie below 2^31 (frontend/indices.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anymetal.analysis.affine import ONE, LinearForms, forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import accessed, is_plain, pointer_of
from anymetal.analysis.lane_numbers import lane_numbers, signed
from anymetal.analysis.uniformity import UNIFORM, Shape, Shapes, shapes
from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.rewrite import rewrite
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.ir.walk import from_below

#: Rows in which the elements of a gang may lie.
_MOST_ROWS = 4
_SUMS = ("add", "sub", "mul", "shl", "or", "zext", "sext", "trunc", "gep")


def run(known: Analyses) -> bool:
    """Whether there were such accesses."""
    if not any(i.op == "urem" and _divisor(i) for i in known.program.instructions()):
        return False
    split = _Split(known)
    changed = rewrite(known.program, split.instead)
    return changed or split.moved


class _Rows:
    """Elements by quotient and remainder of one index."""

    def __init__(self, index: Value, length: int, remainder: Instr, quotient: Instr | None) -> None:
        self.index, self.length = index, length
        self.remainder, self.quotient = remainder, quotient
        self.number = 1  #: rows of a gang; 1 if all are one
        #: Rows in front of index 0 in which lanes may be that do not take part.
        self.before = -(-(SIMD_GROUP - 1) // length)


class _Leaves(Shapes):
    """Shapes, as if a quotient and a remainder were the same for all lanes."""

    def __init__(self, shapes: Shapes, leaves: set[Value]) -> None:
        self.own, self.leaves, self.width = shapes, leaves, shapes.width

    def __getitem__(self, value: Value) -> Shape:
        return UNIFORM if value in self.leaves else self.own[value]


class _Split:
    def __init__(self, known: Analyses) -> None:
        self.shapes, self.numbers, self.forms = known(shapes), known(lane_numbers), known(forms)
        self.width = known.width
        self.moved = False
        self.found = {i: rows for i in known.program.instructions() if (rows := self._rows(i))}

    def instead(self, block: Block, instr: Instr) -> Value | None:
        """The elements of all rows, in place of a load; a store gets another address."""
        rows = self.found.get(instr)
        if rows is None:
            return None
        one = _AtLane0(self, block, rows)
        if rows.number == 1:
            place = one.row(instr, 0)
            if instr.op != "store":
                return block.append(
                    Instr(instr.type, instr.op, [place, *instr.operands[1:]], instr.arg,
                          instr.flags, instr.loc)
                )  # fmt: skip
            instr.operands[-1], self.moved = place, True
            return None
        result: Value | None = None
        for k in range(rows.number):
            inside = one.inside(k)
            condition = inside
            if instr.op == "guarded_load":
                condition = block.append(Instr(t.I1, "and", [instr.operands[1], inside]))
            load = Instr(instr.type, "guarded_load", [one.row(instr, k), condition], instr.arg,
                         "", instr.loc)  # fmt: skip
            loaded = block.append(load)
            result = loaded if result is None else block.append(
                Instr(instr.type, "select", [inside, loaded, result])
            )  # fmt: skip
        return result

    def _rows(self, instr: Instr) -> _Rows | None:
        """The rows of a plain access, if it is one by quotient and remainder of such an index."""
        if not is_plain(instr) or instr.flags:
            return None
        pointer = pointer_of(instr)
        if not self.shapes[pointer].is_varying or self.forms(pointer) is not None:
            return None
        parts = self._parts(pointer)
        remainders = [one for one in parts if one.op == "urem"]
        if len(remainders) != 1 or len(parts) > 2:
            return None
        (remainder,) = remainders
        quotient = next((one for one in parts if one.op == "udiv"), None)
        index, length = _dividend(remainder), _divisor(remainder)
        same = quotient is None or (_dividend(quotient), _divisor(quotient)) == (index, length)
        if not length or not same or index.type not in (t.I32, t.I64) or not self._counts(index):
            return None
        rows = _Rows(index, length, remainder, quotient)
        return rows if self._lies_in_rows(instr, rows) else None

    def _lies_in_rows(self, instr: Instr, rows: _Rows) -> bool:
        size = accessed(instr).type.size
        if pointer_of(instr).type.space not in (t.DEVICE, t.CONSTANT, t.THREADGROUP):
            return False
        leaves = {rows.remainder, *([rows.quotient] if rows.quotient else [])}
        form = LinearForms(_Leaves(self.shapes, set(leaves)), self.numbers)(pointer_of(instr))
        if form is None or any(len(set(factors)) > 1 for factors in form.values()):
            return False
        with_column = [key for key in form if rows.remainder in key]
        if with_column != [(rows.remainder,)] or form[(rows.remainder,)][0] != size:
            return False
        with_row = [key for key in form if rows.quotient in key]
        if any(key.count(rows.quotient) > 1 for key in with_row if rows.quotient):
            return False
        apart = form.get((rows.quotient,), (0,))[0] if rows.quotient else 0
        if rows.quotient is None or with_row != [(rows.quotient,)] or apart != rows.length * size:
            rows.number = (rows.length + self.width - 2) // rows.length + 1
        return rows.number == 1 or (instr.op != "store" and rows.number <= _MOST_ROWS)

    def _parts(self, pointer: Value) -> list[Instr]:
        """The varying divisions that an address is a sum of."""
        found: dict[Instr, None] = {}
        work, seen = [pointer], set[Value]()
        while work:
            value = work.pop()
            if not isinstance(value, Instr) or value in seen or not self.shapes[value].is_varying:
                continue
            seen.add(value)
            if value.op in ("udiv", "urem"):
                found[value] = None
            elif value.op in _SUMS:
                work += value.operands
                if value.op == "zext" and _of_sum(value) and "nneg" not in value.flags:
                    return []  # it may be beyond 2^31
        return list(found)

    def _counts(self, index: Value) -> bool:
        """Whether an index counts on from lane to lane."""
        form = self.forms(index)
        if form is None:
            return False
        first, *_ = lanes = form.get(ONE, (0,) * self.width)
        rest = (factors for key, factors in form.items() if key != ONE)
        on = all(n == first + lane for lane, n in enumerate(lanes))
        return on and all(len(set(factors)) == 1 for factors in rest)


class _AtLane0:
    """Computes, in a block, what the lanes of a gang have in common, from the values of lane 0."""

    def __init__(self, split: _Split, block: Block, rows: _Rows) -> None:
        self.split, self.block, self.rows = split, block, rows
        self.lane = self._do(t.I32, "call", [], "__am_lane")
        type_ = rows.index.type
        length, before, spare = (
            Const(type_, str(number))
            for number in (rows.length, rows.before, rows.before * rows.length)
        )
        first = self._do(type_, "add", [self._common(rows.index, {}), spare])
        self.quotient = self._do(type_, "sub", [self._do(type_, "udiv", [first, length]), before])
        remainder = self._as(self._do(type_, "urem", [first, length]), t.I32)
        self.column = self._do(t.I32, "add", [remainder, self.lane], flags="nuw nsw")

    def row(self, access: Instr, k: int) -> Value:
        """The address of each lane's element, if it is in row `k` of the gang."""
        rows, type_ = self.rows, self.quotient.type
        values: dict[Value, Value] = {rows.remainder: Const(rows.remainder.type, "0")}
        if rows.quotient:
            row = self._do(type_, "add", [self.quotient, Const(type_, str(k))])
            values[rows.quotient] = self._as(row, rows.quotient.type)
        pointer = pointer_of(access)
        first, size = self._common(pointer, values), accessed(access).type.size
        column = self._do(t.I64, "zext", [self.column], flags="nneg")
        return self._do(pointer.type, "gep", [first, column], (size, -k * rows.length * size))

    def inside(self, k: int) -> Value:
        """Whether a lane's element is in row `k`."""
        length = self.rows.length
        column = self._do(t.I32, "sub", [self.column, Const(t.I32, str(k * length))])
        return self._do(t.I1, "icmp", [column, Const(t.I32, str(length))], "ult")

    def _common(self, value: Value, values: Mapping[Value, Value]) -> Value:
        """A value in lane 0; `values` are those of some of its parts."""
        done = dict(values)

        def parts(one: Value) -> list[Value]:
            is_sum = isinstance(one, Instr) and one.op in _SUMS
            known = self.split.numbers(one) is not None or self.split.shapes[one].is_uniform
            return [] if known or not is_sum or not isinstance(one, Instr) else one.operands

        return from_below(value, done, parts, lambda one: self._made(one, parts(one), done))

    def _made(self, value: Value, parts: list[Value], done: Mapping[Value, Value]) -> Value:
        numbers, shape = self.split.numbers(value), self.split.shapes[value]
        if numbers is not None:
            return Const(value.type, str(signed(numbers[0], value.type)))
        if shape.is_uniform:
            return value
        if not parts:  # it counts on from lane to lane
            lanes = self._do(t.I32, "mul", [self.lane, Const(t.I32, str(shape.stride))])
            return self._do(value.type, "sub", [value, self._as(lanes, value.type)])
        assert isinstance(value, Instr)
        op = {"or": "add", "zext": "sext" if _of_sum(value) else "zext"}.get(value.op, value.op)
        return self._do(value.type, op, [done[part] for part in parts], value.arg)

    def _as(self, value: Value, type_: t.Type) -> Value:
        if value.type == type_:
            return value
        return self._do(type_, "trunc" if value.type.size > type_.size else "zext", [value])

    def _do(
        self, type_: t.Type, op: str, operands: list[Value], arg: Any = None, flags: str = ""
    ) -> Instr:
        return self.block.append(Instr(type_, op, operands, arg, flags))


def _of_sum(cast: Instr) -> bool:
    """Whether a sum is widened, and no quotient or remainder."""
    value = cast.operands[0]
    return isinstance(value, Instr) and value.op not in ("udiv", "urem")


def _divisor(division: Instr) -> int:
    """A constant that is no power of two; 0 if it is none."""
    divisor = division.operands[1]
    number = divisor.int_value if isinstance(divisor, Const) else None
    return number if number and number > 0 and number & (number - 1) else 0


def _dividend(division: Instr) -> Value:
    """What is divided, as it is before it loses bits that are 0."""
    value = division.operands[0]
    while isinstance(value, Instr) and value.op == "trunc" and "nuw" in value.flags:
        value = value.operands[0]
    return value
