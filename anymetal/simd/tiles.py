"""Tiles: accesses whose lanes together cover a few rows of memory, however far those are apart.

Lanes of a SIMD-group often stand for places in a small block of a matrix:

    base + (row(lane) * elements_per_row + column(lane)) * size

which no lane stride describes, and which would be a gather. But where `row` and `column` follow
from the lane number alone, one knows when compiling which elements lie side by side: each run of
them becomes one scalar address and one vector access, and constant shuffles do the rest. As with
groups (groups.py), accesses at neighbouring addresses are taken together, so that a lane may have
several elements of its row. Several lanes may load one element; each is stored only once.

The pattern holds for a whole SIMD-group. Under a mask, a test at run time tells whether all lanes
are active; if not, each access takes the usual way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anymetal.ir import types as t
from anymetal.ir.model import Instr, Program, Value
from anymetal.ir.walk import from_below
from anymetal.simd.accesses import Accesses
from anymetal.simd.ahead import ask_for_runs
from anymetal.simd.groups import Origins, accessed, pointer_of, runs
from anymetal.simd.lane_numbers import LaneNumbers, signed
from anymetal.simd.linear import ONE, Distance, LinearForms
from anymetal.simd.masks import Mask, Masks
from anymetal.simd.shape import Shapes
from anymetal.simd.values import Values
from anymetal.simd.whole import whole_or_some
from anymetal.simd.writer import Writer

MOST_RUNS = 16
SHORTEST_RUN = 4  #: unless there are few of them
FEW_RUNS = 4


class Run(NamedTuple):
    """Elements side by side in memory: for each, the (lane, number of the member) that access it,
    of which a store has one."""

    cells: tuple[tuple[tuple[int, int], ...], ...]


class Tile:
    """Loads, or stores, of one block; `members` in the order of their addresses."""

    def __init__(
        self, members: list[Instr], anchor: Instr, runs: list[Run], distances: tuple[int, ...]
    ) -> None:
        self.members = members
        #: The member in whose place the tile is emitted: first load, last store.
        self.anchor = anchor
        self.runs = runs  #: all of one length; a power of two of them
        self.distances = distances  #: bytes from the first run to each; none if they are not known


class TileFinder:
    """Looks for tiles in a program; `leaves` are the uniform values that their addresses need."""

    def __init__(
        self,
        program: Program,
        shapes: Shapes,
        private: dict[Value, Instr],
        origins: Origins,
        numbers: LaneNumbers,
        counters: dict[Value, Instr],
    ) -> None:
        self.numbers = numbers
        self.counters = counters
        self.shapes = shapes
        self.private = private
        self.width = shapes.width
        self.linear = LinearForms(shapes, numbers)
        self.tiles: dict[Instr, Tile] = {}
        self.leaves: set[Value] = set()
        self.kept: set[Value] = set()
        self.place = {instr: number for number, instr in enumerate(program.instructions())}
        for block in program.blocks:
            for op in ("load", "store"):
                for run in runs(block, op, self._key, origins):
                    self._split(run, op)
            for instr in block.instrs:
                if instr.op == "guarded_load" and self._key(instr) is not None:
                    self._take([instr])

    # -- tiles ----------------------------------------------------------------------------

    def _key(self, instr: Instr) -> tuple[object, int] | None:
        """What accesses of one tile have in common, and the offset in which they differ."""
        pointer = pointer_of(instr)
        if pointer in self.private or not self.shapes[pointer].is_varying:
            return None
        linear = self.linear(pointer)
        if linear is None:
            return None
        constant = linear.get(ONE, (0,) * self.width)
        relative = tuple(n - constant[0] for n in constant)
        rest = frozenset(item for item in linear.items() if item[0] != ONE)
        return (rest, relative, accessed(instr).type), constant[0]

    def _split(self, run: list[tuple[int, Instr]], op: str) -> None:
        """Cut a run of accesses where there is a gap; take what makes a tile."""
        if op == "load":  # what a lane shares with its whole row is best loaded by itself
            run = [(offset, instr) for offset, instr in run if not self._take([instr], longest=1)]
        by_offset = dict(run)
        if len(by_offset) < len(run) or not run:
            return
        size = accessed(run[0][1]).type.size
        chunk: list[Instr] = []
        for offset in sorted(by_offset):
            if offset - size not in by_offset:
                self._take(chunk)
                chunk = []
            chunk.append(by_offset[offset])
        self._take(chunk)

    def _take(self, members: list[Instr], longest: int = 1 << 30) -> bool:
        """Make a tile of the members, if they are one whose runs are not longer than `longest`."""
        found = self._runs(members) if members else None
        if found is None or len(found[0][0].cells) > longest:
            return False
        assert members[0].block is not None
        ends = max if members[0].op == "store" else min
        tile = Tile(members, ends(members, key=self.place.__getitem__), *found)
        self.tiles.update(dict.fromkeys(members, tile))
        for member in members:
            self._keep(pointer_of(member))
        return True

    def _runs(self, members: list[Instr]) -> tuple[list[Run], tuple[int, ...]] | None:
        """The runs of memory that the members cover, if they are few and of one length, and their
        distances."""
        size = accessed(members[0]).type.size
        once = members[0].op == "store"
        rows: dict[object, dict[int, list[tuple[int, int]]]] = {}
        for number, member in enumerate(members):
            linear = self.linear(pointer_of(member)) or {}
            for lane in range(self.width):
                row = frozenset((k, f[lane]) for k, f in linear.items() if k != ONE)
                offset = linear[ONE][lane] if ONE in linear else 0
                cell = rows.setdefault(row, {}).setdefault(offset, [])
                if cell and once:
                    return None
                cell.append((lane, number))
        parts = [part for cells in rows.values() for part in _side_by_side(cells, size)]
        found = [Run(tuple(part.values())) for part in parts]
        lengths = {len(run.cells) for run in found}
        count = len(found)
        if len(lengths) > 1 or count & (count - 1) or count > MOST_RUNS:
            return None
        if count > FEW_RUNS and min(lengths) < SHORTEST_RUN:
            return None
        starts = [min(part) for part in parts] if len(rows) == 1 else []
        return found, tuple(start - starts[0] for start in starts)

    def _keep(self, value: Value) -> None:
        """Note the uniform values that `scalar_at` will ask for."""
        work = [value]
        while work:
            one = work.pop()
            if one in self.kept or self.numbers(one) is not None:
                continue
            self.kept.add(one)
            if self.shapes[one].is_uniform:
                self.leaves |= {one, self.counters.get(one, one)}
            elif isinstance(one, Instr):
                work += one.operands


def _side_by_side(
    cells: dict[int, list[tuple[int, int]]], size: int
) -> list[dict[int, tuple[tuple[int, int], ...]]]:
    """Cells by their offset, cut where there is a gap."""
    parts: list[dict[int, tuple[tuple[int, int], ...]]] = []
    for offset in sorted(cells):
        if offset - size not in cells:
            parts.append({})
        parts[-1][offset] = tuple(cells[offset])
    return parts


class TileAccess:
    """Emits tiles."""

    def __init__(
        self,
        writer: Writer,
        values: Values,
        masks: Masks,
        numbers: LaneNumbers,
        accesses: Accesses,
        counters: dict[Value, Instr],
        next_steps: dict[Tile, Distance],
        loaded: Callable[[Tile, str, list[str]], None],
    ) -> None:
        self.w = writer
        self.v = values
        self.masks = masks
        self.numbers = numbers
        self.accesses = accesses
        self.counters = counters  #: those that are there in 64 bits, too
        self.next_steps = next_steps  #: how far those lie that are asked for ahead
        self.loaded = loaded  #: is told where a tile begins, and the runs that were loaded

    def emit(self, tile: Tile, mask: Mask) -> None:
        """All members, in the place of the anchor."""
        vectors = whole_or_some(
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
        """The same accesses one lane at a time; what was loaded."""
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
        if tile in self.next_steps:
            ask_for_runs(self.w, self.v, places, length * type_.size, self.next_steps[tile])
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
        """Vectors of `size` elements, a power of two of them, one behind the other."""
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
        """The address of the first element of a run, computed by the instructions of the anchor:
        the other members' may come later."""
        lane, number = run.cells[0][0]
        anchor = self.scalar_at(pointer_of(tile.anchor), lane)
        distance = self._distance(tile, number)
        return self.w.value(f"getelementptr i8, ptr {anchor}, i64 {distance}")

    def scalar_at(self, value: Value, lane: int) -> str:
        """A value in one lane; what it is made of is there for others of this block."""
        forms = {f"in lane {lane}": False, f"in lane {lane}, 64 bits": True}
        narrow, wide = forms

        def parts(one: tuple[object, str]) -> list[tuple[object, str]]:
            made_of = self._made_of(*_value_of(one, forms))
            return [(v, wide if is_wide else narrow) for v, is_wide in made_of]

        def at_lane(one: tuple[object, str]) -> str:
            operands = [self.v.local[part] for part in parts(one)]
            return self._at(*_value_of(one, forms), lane, operands)

        return from_below((value, narrow), self.v.local, parts, at_lane)

    def _made_of(self, value: Value, wide: bool) -> list[tuple[Value, bool]]:
        """What a value in one lane is computed from, and whether that is `wide`: an index of 32
        bits, computed in 64. If it wraps in 32, it addresses nothing valid (linear.py); and LLVM
        need not extend it anew in each iteration of a loop."""
        if self.numbers(value) is not None or (wide and value in self.counters):
            return []
        uniform = self.v.shape(value).is_uniform
        if wide and not (isinstance(value, Instr) and _is_sum(value) and not uniform):
            return [(value, False)]
        if uniform:
            return []
        assert isinstance(value, Instr)
        extends = not wide and value.op == "sext" and value.type == t.I64
        return [(v, wide or extends) for v in value.operands]

    def _at(self, value: Value, wide: bool, lane: int, operands: list[str]) -> str:
        """A value in one lane, made of these."""
        numbers = self.numbers(value)
        if numbers is not None:
            return str(signed(numbers[lane], value.type))
        if not operands:
            return self.v.scalar(self.counters[value] if wide else value)
        assert isinstance(value, Instr) or wide
        if not isinstance(value, Instr) or (wide and len(operands) == 1):
            return self.w.value(f"sext {value.type} {operands[0]} to i64")
        if value.op == "gep":
            return self._moved(value, operands)
        if value.op == "sext" and value.type == t.I64:
            return operands[0]  # which is wide
        if len(operands) == 1:
            return self.w.value(
                f"{value.op} {value.operands[0].type} {operands[0]} to {value.type}"
            )
        op = "add" if value.op == "or" else value.op
        return self.w.value(f"{op} {t.I64 if wide else value.type} {operands[0]}, {operands[1]}")

    def _moved(self, pointer: Instr, operands: list[str]) -> str:
        result = operands[0]
        for index, source, scale in zip(
            operands[1:], pointer.operands[1:], pointer.arg[:-1], strict=True
        ):
            result = self.w.value(
                f"getelementptr [{scale} x i8], ptr {result}, {source.type} {index}"
            )
        return self.w.value(f"getelementptr i8, ptr {result}, i64 {pointer.arg[-1]}")


def _value_of(one: tuple[object, str], forms: dict[str, bool]) -> tuple[Value, bool]:
    value, form = one
    assert isinstance(value, Value)
    return value, forms[form]


def _is_sum(value: Instr) -> bool:
    """Of numbers of 32 bits, or their product."""
    disjoint = value.op == "or" and "disjoint" in value.flags
    return value.type == t.I32 and (disjoint or value.op in ("add", "sub", "mul"))
