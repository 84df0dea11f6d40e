"""Emits tiles (simd/access/tiles.py): an access for each run of memory, and constant shuffles."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.effects import pointer_of
from anymetal.analysis.lane_numbers import LaneNumbers, signed
from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.ir.walk import from_below
from anymetal.simd.access.groups import accessed
from anymetal.simd.access.tiles import Run, Tile
from anymetal.simd.code.accesses import Accesses
from anymetal.simd.code.full_mask import full_or_partial
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.code.values import Values


class TileAccess:
    """Emits tiles."""

    def __init__(
        self,
        writer: Writer,
        values: Values,
        masks: Masks,
        numbers: LaneNumbers,
        accesses: Accesses,
        loaded: Callable[[Tile, str, list[str]], None],
    ) -> None:
        self.w = writer
        self.v = values
        self.masks = masks
        self.numbers = numbers
        self.accesses = accesses
        self.loaded = loaded  #: called with the tile, its address and the loaded runs

    def emit(self, tile: Tile, mask: Mask) -> None:
        """All members, in the place of the anchor."""
        vectors = full_or_partial(
            self.w, self.v, self.masks, mask,
            lambda: self._runs(tile),
            lambda: self._lanes(tile, mask),
            self.w.vector(accessed(tile.anchor).type),
        )  # fmt: skip
        for member, vector in zip(tile.members, vectors, strict=False):  # none of stores
            self.v.define(member, vector=vector)

    def _runs(self, tile: Tile) -> list[str]:
        if tile.anchor.op != "store":
            return self._load(tile)
        self._store(tile)
        return []

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
        everything = self._joined(type_, rows, length)
        elements = [element for run in tile.runs for element in run.cells]
        cells = {cell: i for i, element in enumerate(elements) for cell in element}
        return [
            self._shuffled(
                type_,
                everything,
                len(elements),
                [cells[lane, number] for lane in range(self.w.width)],
            )
            for number in range(len(tile.members))
        ]

    def _store(self, tile: Tile) -> None:
        type_, length, width = accessed(tile.anchor).type, len(tile.runs[0].cells), self.w.width
        align = min(int(m.arg.align) for m in tile.members)
        parts = [self.v.vector(accessed(m)) for m in tile.members]
        parts += ["poison"] * (-len(parts) % (1 << (len(parts) - 1).bit_length()))
        everything = self._joined(type_, parts, width)
        for run in tile.runs:
            picks = [number * width + lane for ((lane, number),) in run.cells]
            row = self._shuffled(type_, everything, len(parts) * width, picks)
            address = self._address(tile, run)
            self.w.do(f"store <{length} x {type_}> {row}, ptr {address}, align {align}")

    def _joined(self, type_: t.Type, parts: list[str], size: int) -> str:
        """Vectors of `size` elements concatenated; their number is a power of two."""
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [
                self._shuffled(type_, a, size, list(range(2 * size)), second=b) for a, b in pairs
            ]
            size *= 2
        return parts[0]

    def _shuffled(
        self, type_: t.Type, first: str, size: int, picks: list[int], second: str = "poison"
    ) -> str:
        vector, order = f"<{size} x {type_}>", self.w.numbers(t.I32, picks)
        return self.w.value(
            f"shufflevector {vector} {first}, {vector} {second}, <{len(picks)} x i32> {order}"
        )

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
            return [(v, form) for v in self._made_of(_value_of(one))]

        def at_lane(one: tuple[object, str]) -> str:
            operands = [self.v.local[part] for part in parts(one)]
            return self._at(_value_of(one), lane, operands)

        return from_below((value, form), self.v.local, parts, at_lane)

    def _made_of(self, value: Value) -> list[Value]:
        """The operands from which a value in one lane is computed."""
        if self.numbers(value) is not None or self.v.shape(value).is_uniform:
            return []
        assert isinstance(value, Instr)
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


def _value_of(one: tuple[object, str]) -> Value:
    value, _ = one
    assert isinstance(value, Value)
    return value
