"""Tiles: accesses whose lanes together cover a few rows of memory, however far those are apart.

Lanes of a SIMD-group often stand for places in a small block of a matrix:

    base + (row(lane) * elements_per_row + column(lane)) * size

which no lane stride describes, and which would be a gather. But where `row` and `column` follow
from the lane number alone, one knows when compiling which elements lie side by side: each run of
them becomes one scalar address and one vector access, and constant shuffles do the rest. As with
groups (groups.py), accesses at neighbouring addresses are taken together, so that a lane may have
several elements of its row, and every element must be accessed exactly once.

Nothing here is masked: the pattern holds for a whole SIMD-group. If lanes are missing, each access
takes the usual way.
"""

from __future__ import annotations

from dataclasses import dataclass

from anymetal.ir import types as t
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.groups import accessed, pointer_of, runs
from anymetal.simd.lane_numbers import LaneNumbers, signed
from anymetal.simd.shape import Shapes
from anymetal.simd.values import Values
from anymetal.simd.writer import Writer

MOST_RUNS = 16
SHORTEST_RUN = 4
DEEPEST = 40  #: the longest chain of instructions that computes an address
#: An address: for each uniform value that takes part, its factor in every lane; None is the key of
#: what is constant.
Linear = dict[Value | None, tuple[int, ...]]


@dataclass(frozen=True)
class Run:
    """Elements side by side in memory, of these (lane, number of the member)."""

    cells: tuple[tuple[int, int], ...]


@dataclass(eq=False)
class Tile:
    """Loads, or stores, of one block; `members` in the order of their addresses."""

    members: list[Instr]
    anchor: Instr  #: the member in whose place the tile is emitted: first load, last store
    runs: list[Run]  #: all of one length; a power of two of them


class TileFinder:
    """Looks for tiles in a program; `leaves` are the uniform values that their addresses need."""

    def __init__(
        self,
        program: Program,
        shapes: Shapes,
        private: dict[Value, Instr],
        numbers: LaneNumbers,
    ) -> None:
        self.numbers = numbers
        self.shapes = shapes
        self.private = private
        self.width = shapes.width
        self.known: dict[Value, Linear | None] = {}
        self.depth = 0
        self.tiles: dict[Instr, Tile] = {}
        self.leaves: set[Value] = set()
        for block in program.blocks:
            for op in ("load", "store"):
                for run in runs(block, op, self._key):
                    self._split(run, op)

    # -- addresses as linear forms --------------------------------------------------------

    def _linear(self, value: Value) -> Linear | None:
        if value not in self.known:
            if self.depth == DEEPEST:
                return None
            self.depth += 1
            self.known[value] = self._compute(value)
            self.depth -= 1
        return self.known[value]

    def _compute(self, value: Value) -> Linear | None:
        numbers = self.numbers(value)
        if numbers is not None:
            return {None: tuple(signed(n, value.type) for n in numbers)}
        if isinstance(value, Instr) and value.op == "gep":
            scales = (1, *value.arg[:-1])
            offset: Linear = {None: (value.arg[-1],) * self.width}
            return self._sum([offset, *map(self._scaled, value.operands, scales)])
        if self.shapes[value].is_uniform:
            return {value: (1,) * self.width}
        return self._varying(value) if isinstance(value, Instr) else None

    def _varying(self, value: Instr) -> Linear | None:
        if not _may_not_wrap(value):
            return None
        if value.op in ("zext", "sext", "trunc"):
            return self._linear(value.operands[0])
        if value.op == "sub":
            first, second = value.operands
            return self._sum([self._linear(first), self._scaled(second, -1)])
        if value.op == "add" or (value.op == "or" and "disjoint" in value.flags):
            return self._sum([self._linear(v) for v in value.operands])
        if value.op in ("mul", "shl"):
            return self._product(value)
        return None

    def _scaled(self, value: Value, scale: int) -> Linear | None:
        linear = self._linear(value)
        return linear and {key: tuple(n * scale for n in f) for key, f in linear.items()}

    def _sum(self, terms: list[Linear | None]) -> Linear | None:
        total: Linear = {}
        for term in terms:
            if term is None:
                return None
            for key, factors in term.items():
                old = total.get(key, (0,) * self.width)
                total[key] = tuple(a + b for a, b in zip(old, factors, strict=True))
        return total

    def _product(self, value: Instr) -> Linear | None:
        """One side must be known in each lane."""
        left, right = value.operands
        numbers = self.numbers(right)
        if value.op == "shl":
            numbers = numbers and tuple(1 << n for n in numbers)
        elif numbers is None:
            left, numbers = right, self.numbers(left)
        linear = self._linear(left)
        if linear is None or numbers is None:
            return None
        return {
            key: tuple(a * b for a, b in zip(factors, numbers, strict=True))
            for key, factors in linear.items()
        }

    # -- tiles ----------------------------------------------------------------------------

    def _key(self, instr: Instr) -> tuple[object, int] | None:
        """What accesses of one tile have in common, and the offset in which they differ."""
        pointer = pointer_of(instr)
        if pointer in self.private or not self.shapes[pointer].is_varying:
            return None
        linear = self._linear(pointer)
        if linear is None:
            return None
        constant = linear.get(None, (0,) * self.width)
        relative = tuple(n - constant[0] for n in constant)
        rest = frozenset(item for item in linear.items() if item[0] is not None)
        return (rest, relative, accessed(instr).type), constant[0]

    def _split(self, run: list[tuple[int, Instr]], op: str) -> None:
        """Cut a run of accesses where there is a gap; take what makes a tile."""
        by_offset = dict(run)
        if len(by_offset) < len(run):
            return
        size = accessed(run[0][1]).type.size
        chunk: list[Instr] = []
        for offset in sorted(by_offset):
            if offset - size not in by_offset:
                self._take(chunk, op)
                chunk = []
            chunk.append(by_offset[offset])
        self._take(chunk, op)

    def _take(self, members: list[Instr], op: str) -> None:
        found = self._runs(members) if members else None
        if found is None:
            return
        assert members[0].block is not None
        order = [i for i in members[0].block.instrs if i in members]
        tile = Tile(members, order[0] if op == "load" else order[-1], found)
        self.tiles.update(dict.fromkeys(members, tile))
        for member in members:
            self._keep(pointer_of(member))

    def _runs(self, members: list[Instr]) -> list[Run] | None:
        """The runs of memory that the members cover, if they are few and of one length."""
        size = accessed(members[0]).type.size
        rows: dict[object, dict[int, tuple[int, int]]] = {}
        for number, member in enumerate(members):
            linear = self._linear(pointer_of(member)) or {}
            for lane in range(self.width):
                row = frozenset((k, f[lane]) for k, f in linear.items() if k is not None)
                offset = linear[None][lane] if None in linear else 0
                if offset in rows.setdefault(row, {}):
                    return None
                rows[row][offset] = lane, number
        found = [run for cells in rows.values() for run in _side_by_side(cells, size)]
        lengths = {len(run.cells) for run in found}
        count = len(found)
        if len(lengths) > 1 or min(lengths) < SHORTEST_RUN:
            return None
        return found if count <= MOST_RUNS and count & (count - 1) == 0 else None

    def _keep(self, value: Value) -> None:
        """Note the uniform values that `scalar_at` will ask for."""
        if self.numbers(value) is not None:
            return
        if self.shapes[value].is_uniform:
            self.leaves.add(value)
        elif isinstance(value, Instr):
            for operand in value.operands:
                self._keep(operand)


def _may_not_wrap(value: Instr) -> bool:
    """Whether arithmetic may be taken as that of unlimited numbers.

    Narrow counters do wrap, unless LLVM knows better. Wider indices that wrap address nothing
    valid, and in a tile all lanes are active.
    """
    if value.type.size >= 4 or (value.op == "or" and "disjoint" in value.flags):
        return True
    return {"nuw", "nsw"} <= set(value.flags.split())


def _side_by_side(cells: dict[int, tuple[int, int]], size: int) -> list[Run]:
    """Cells by their offset, cut where there is a gap."""
    parts: list[list[tuple[int, int]]] = []
    for offset in sorted(cells):
        if offset - size not in cells:
            parts.append([])
        parts[-1].append(cells[offset])
    return [Run(tuple(part)) for part in parts]


class TileAccess:
    """Emits tiles."""

    def __init__(self, writer: Writer, values: Values, numbers: LaneNumbers) -> None:
        self.w = writer
        self.v = values
        self.numbers = numbers

    def emit(self, tile: Tile) -> None:
        if tile.anchor.op == "load":
            self._load(tile)
        else:
            self._store(tile)

    def _load(self, tile: Tile) -> None:
        type_, length = tile.anchor.type, len(tile.runs[0].cells)
        align = min(int(m.arg.align) for m in tile.members)
        row = f"<{length} x {type_}>"
        rows = [
            self.w.value(f"load {row}, ptr {self._address(tile, run)}, align {align}")
            for run in tile.runs
        ]
        everything = self._joined(type_, rows, length)
        places = {cell: i for i, cell in enumerate(c for run in tile.runs for c in run.cells)}
        for number, member in enumerate(tile.members):
            picks = [places[lane, number] for lane in range(self.w.width)]
            part = self._shuffled(type_, everything, len(places), picks)
            self.v.define(member, vector=part)

    def _store(self, tile: Tile) -> None:
        type_, length, width = accessed(tile.anchor).type, len(tile.runs[0].cells), self.w.width
        align = min(int(m.arg.align) for m in tile.members)
        parts = [self.v.vector(accessed(m)) for m in tile.members]
        parts += ["poison"] * (-len(parts) % (1 << (len(parts) - 1).bit_length()))
        everything = self._joined(type_, parts, width)
        for run in tile.runs:
            picks = [number * width + lane for lane, number in run.cells]
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
        lane, number = run.cells[0]
        size = accessed(tile.anchor).type.size
        anchor = self.scalar_at(pointer_of(tile.anchor), lane)
        distance = (number - tile.members.index(tile.anchor)) * size
        return self.w.value(f"getelementptr i8, ptr {anchor}, i64 {distance}")

    def scalar_at(self, value: Value, lane: int) -> str:
        """A value in one lane."""
        numbers = self.numbers(value)
        if numbers is not None:
            return str(signed(numbers[lane], value.type))
        if self.v.shape(value).is_uniform:
            return self.v.scalar(value)
        assert isinstance(value, Instr)
        operands = [self.scalar_at(v, lane) for v in value.operands]
        if value.op == "gep":
            result = operands[0]
            for index, source, scale in zip(
                operands[1:], value.operands[1:], value.arg[:-1], strict=True
            ):
                result = self.w.value(
                    f"getelementptr [{scale} x i8], ptr {result}, {source.type} {index}"
                )
            return self.w.value(f"getelementptr i8, ptr {result}, i64 {value.arg[-1]}")
        if len(operands) == 1:
            return self.w.value(
                f"{value.op} {value.operands[0].type} {operands[0]} to {value.type}"
            )
        op = "add" if value.op == "or" else value.op
        return self.w.value(f"{op} {value.type} {operands[0]}, {operands[1]}")
