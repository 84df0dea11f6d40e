"""Emits tiles (simd/access/tiles.py): an access for each run of memory, and constant shuffles.

Numbers that are widened and stored are shuffled while they are narrow, which takes half as much:

    store float(h)      becomes      shuffle h, fpext, store
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.effects import accessed, pointer_of
from anymetal.analysis.lane_numbers import lane_numbers, signed
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.ir.walk import from_below
from anymetal.simd.access.tiles import FEW_RUNS, Run, Tile
from anymetal.simd.code.deinterleave import join
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.emit.arithmetic import Arithmetic

#: The lanes to which the elements of a row belong, once or several times.
_Orders = list[list[int]]


class TileAccess(GangEmitter):
    """Emits tiles. `loaded` is called with each that is, its address and the runs."""

    def __init__(
        self, c: GangContext, arithmetic: Arithmetic,
        loaded: Callable[[Tile, str, list[str]], None],
    ) -> None:  # fmt: skip
        super().__init__(c)
        self.numbers, self.arithmetic, self.loaded = c.known(lane_numbers), arithmetic, loaded

    def emit(self, tile: Tile, mask: Mask) -> None:
        """All members, in the place of the anchor."""
        type_ = accessed(tile.anchor).type
        what = "store" if tile.anchor.op == "store" else "load"
        in_row = mask is not None and self.machine.masked(what, type_.size)
        orders = _orders(tile) if in_row else []

        def partial() -> list[str]:
            return self._under_mask(tile, orders, mask) if orders else self._lanes(tile, mask)

        if orders and all(len(of_row) == 1 for of_row in orders):
            vectors = partial()
        else:
            vectors = self.full_or_partial(
                mask, lambda: self._runs(tile), partial, self.w.vector(type_)
            )
        for member, vector in zip(tile.members, vectors, strict=False):  # none of stores
            self.v.define(member, vector=vector)

    def _runs(self, tile: Tile) -> list[str]:
        if tile.anchor.op != "store":
            return self._load(tile)
        self._store(tile)
        return []

    def _under_mask(self, tile: Tile, orders: list[_Orders], mask: Mask) -> list[str]:
        """A few rows of memory, each under a mask of its own. If an element belongs to several
        lanes and one of them is active, it is loaded."""
        (member,) = tile.members
        type_, align, length = accessed(member).type, member.arg.align, len(tile.runs[0].cells)
        masks = [self._row_mask(of_row, mask) for of_row in orders]
        places = [self._address(tile, run) for run in tile.runs]
        if member.op == "store":
            vector, name = self.w.vector(type_), self.v.vector(accessed(member))
            rows = [self.w.shuffle(vector, of_row[0], name) for of_row in orders]
            for row, address, active in zip(rows, places, masks, strict=True):
                self.accesses.store_row(type_, length, row, address, align, active)
            return []
        rows = [
            self.accesses.load_row(type_, length, address, align, active)
            for address, active in zip(places, masks, strict=True)
        ]
        return self._spread(tile, rows)

    def _row_mask(self, orders: _Orders, mask: Mask) -> str:
        """Which elements of a row belong to an active lane."""
        name, kind = self.masks.text(mask), self.masks.type
        first, *others = [self.w.shuffle(kind, order, name) for order in orders]
        for other in others:
            first = self.w.value(f"or <{len(orders[0])} x i1> {first}, {other}")
        return first

    def _lanes(self, tile: Tile, mask: Mask) -> list[str]:
        """The same accesses as gathers or scatters; returns what was loaded."""
        addresses, vectors = self.v.vector(pointer_of(tile.anchor)), []
        for number, member in enumerate(tile.members):
            type_, align = accessed(member).type, member.arg.align
            distance = self.w.splat_constant(t.I64, str(self._distance(tile, number)))
            offsets = f"{self.w.vector(t.PTR)} {addresses}, {self.w.vector(t.I64)} {distance}"
            address = self.w.value(f"getelementptr i8, {offsets}")
            if member.op == "store":
                vector = self.v.vector(accessed(member))
                self.accesses.store(type_, vector, address, False, align, mask)
            else:
                vectors.append(self.accesses.load(type_, address, False, align, mask))
        return vectors

    @staticmethod
    def _distance(tile: Tile, number: int) -> int:
        """From the anchor's address to that of a member."""
        return (number - tile.members.index(tile.anchor)) * accessed(tile.anchor).type.size

    def _load(self, tile: Tile) -> list[str]:
        type_, length = tile.anchor.type, len(tile.runs[0].cells)
        align = min(int(m.arg.align) for m in tile.members)
        row = f"<{length} x {type_}>"
        places = [self._address(tile, run) for run in tile.runs]
        rows = [self.w.value(f"load {row}, ptr {place}, align {align}") for place in places]
        self.loaded(tile, places[0], rows)
        return self._spread(tile, rows)

    def _spread(self, tile: Tile, rows: list[str]) -> list[str]:
        """What the lanes have of rows of memory, a vector for each member."""
        type_, length = tile.anchor.type, len(tile.runs[0].cells)
        everything, size = join(self.w, type_, rows, length)
        elements = [element for run in tile.runs for element in run.cells]
        cells = {cell: i for i, element in enumerate(elements) for cell in element}
        orders = [
            [cells[lane, number] for lane in range(self.w.width)]
            for number in range(len(tile.members))
        ]
        return [self.w.shuffle(f"<{size} x {type_}>", order, everything) for order in orders]

    def _store(self, tile: Tile) -> None:
        type_, length, width = accessed(tile.anchor).type, len(tile.runs[0].cells), self.w.width
        align = min(int(m.arg.align) for m in tile.members)
        cells = [cell for run in tile.runs for (cell,) in run.cells]
        order = [number * width + lane for lane, number in cells]
        values, widenings = self._before_widening([accessed(m) for m in tile.members])
        parts = [self.v.vector(value) for value in values]
        if widenings:
            parts = self._in_order(values[0].type, parts, order)
            order = list(range(len(order)))
            for instr in reversed(widenings):
                parts = [self.arithmetic.of_lanes(instr, [part]) for part in parts]
        everything, size = self._together(type_, parts)
        for at, run in enumerate(tile.runs):
            picks = order[at * length : (at + 1) * length]
            row = self.w.shuffle(f"<{size} x {type_}>", picks, everything)
            address = self._address(tile, run)
            self.w.do(f"store <{length} x {type_}> {row}, ptr {address}, align {align}")

    def _before_widening(self, values: list[Value]) -> tuple[list[Value], list[Instr]]:
        """Narrower values of which casts make all of these, and the casts of the first, last cast
        first; else the values as they are."""
        narrow, found = values, list[Instr]()
        while casts := [v for v in narrow if isinstance(v, Instr) and _is_cast(v)]:
            kinds = {(cast.op, cast.type, cast.operands[0].type) for cast in casts}
            if len(casts) < len(narrow) or len(kinds) > 1:
                break
            found.append(casts[0])
            narrow = [cast.operands[0] for cast in casts]
        pays = narrow[0].type.size < values[0].type.size and all(map(self.v.at_hand, narrow))
        return (narrow, found) if pays else (values, [])

    def _in_order(self, type_: t.Type, parts: list[str], order: list[int]) -> list[str]:
        """The elements of several vectors, as many vectors again."""
        everything, size = self._together(type_, parts)
        starts = range(0, len(order), self.w.width)
        picks = [order[start : start + self.w.width] for start in starts]
        return [self.w.shuffle(f"<{size} x {type_}>", some, everything) for some in picks]

    def _together(self, type_: t.Type, parts: list[str]) -> tuple[str, int]:
        """Vectors of all lanes as one, and its length."""
        missing = -len(parts) % (1 << (len(parts) - 1).bit_length())
        return join(self.w, type_, [*parts, *["poison"] * missing], self.w.width)

    def _address(self, tile: Tile, run: Run) -> str:
        """The address of a run's first element. It is computed like the anchor's: instructions of
        other members may come later."""
        lane, number = run.cells[0][0]
        anchor = self.scalar_at(pointer_of(tile.anchor), lane)
        distance = self._distance(tile, number)
        return self.w.value(f"getelementptr i8, ptr {anchor}, i64 {distance}")

    def scalar_at(self, value: Value, lane: int) -> str:
        """A value in one lane, as a scalar. Its parts are kept for other values of this block."""
        form = f"in lane {lane}"

        def parts(one: tuple[object, str]) -> list[tuple[object, str]]:
            return [(v, form) for v in self._made_of(_value_of(one), lane)]

        def at_lane(one: tuple[object, str]) -> str:
            operands = [self.v.local[part] for part in parts(one)]
            return self._at(_value_of(one), lane, operands)

        return from_below((value, form), self.v.local, parts, at_lane)

    def _made_of(self, value: Value, lane: int) -> list[Value]:
        """The operands from which a value in one lane is computed."""
        if self.numbers(value) is not None or self.v.shape(value).is_uniform:
            return []
        assert isinstance(value, Instr)
        if value.op == "select":
            choice = self.numbers(value.operands[0])
            assert choice
            return [value.operands[1 if choice[lane] else 2]]
        return value.operands

    def _at(self, value: Value, lane: int, operands: list[str]) -> str:
        """A value in one lane, computed from these operands."""
        numbers = self.numbers(value)
        if numbers is not None:
            return str(signed(numbers[lane], value.type))
        if not operands:
            return self.v.scalar(value)
        assert isinstance(value, Instr)
        if value.op == "gep":
            return self._moved(value, operands)
        if value.op == "select":
            return operands[0]
        if len(operands) == 1:
            return self.w.value(
                f"{value.op} {value.operands[0].type} {operands[0]} to {value.type}"
            )
        op = "add" if value.op == "or" else value.op
        return self.w.value(f"{op} {value.type} {operands[0]}, {operands[1]}")

    def _moved(self, pointer: Instr, operands: list[str]) -> str:
        result = operands[0]
        for index, source, scale in zip(
            operands[1:], pointer.operands[1:], pointer.arg[:-1], strict=True
        ):
            result = self.w.value(
                f"getelementptr [{scale} x i8], ptr {result}, {source.type} {index}"
            )
        return self.w.value(f"getelementptr i8, ptr {result}, i64 {pointer.arg[-1]}")


def _is_cast(instr: Instr) -> bool:
    """Whether it is a cast behind a shuffle as well. Processors shuffle no single bits."""
    return instr.op in ("fpext", "zext", "sext", "bitcast") and instr.operands[0].type != t.I1


def _orders(tile: Tile) -> list[_Orders]:
    """For each row of memory the lanes to which its elements belong, several times if each belongs
    to several. None if there are many rows."""
    if len(tile.members) > 1 or len(tile.runs) > FEW_RUNS:
        return []
    rows = [[[lane for lane, _ in cell] for cell in run.cells] for run in tile.runs]
    if any(len({len(cell) for cell in row}) > 1 for row in rows):
        return []
    return [[*map(list, zip(*row, strict=True))] for row in rows]


def _value_of(one: tuple[object, str]) -> Value:
    value, _ = one
    assert isinstance(value, Value)
    return value
