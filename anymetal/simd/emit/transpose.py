"""Transposition of long rows: each lane has 16 or 32 words in memory, one or two cache lines.

    row of lane 0: a0 a1 a2 …               vector of column 0: a0 b0 c0 …
    row of lane 1: b0 b1 b2 …     becomes   vector of column 1: a1 b1 c1 …

The rows are cut into squares: as many lanes as a register has words, and as many words of each. One
strip of squares is transposed at a time, as it fits into the registers. A square takes log2(lanes)
shuffles a register, however long the rows are: first pairs within 16 bytes are unpacked, then units
of 16 bytes are moved. Both are instructions that need no table of lane numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.simd.code.deinterleave import QUAD, WORD, join

STRIP = 16  #: columns that are transposed at a time

#: Types, names and addresses of vectors that go to memory.
Rows = list[tuple[str, str, str]]


class Transposition:
    """Moves rows of `count` words between memory and vectors of one word a lane, in registers of
    `size` words."""

    def __init__(self, writer: Writer, type_: t.Type, count: int, size: int) -> None:
        self.w = writer
        self.type = type_
        self.count = count
        self.size = size
        self.spelling = f"<{size} x {type_}>"

    def load(self, address: str, align: int) -> list[str]:
        """The columns of the rows at `address`."""
        parts: list[list[str]] = [[] for _ in range(self.count)]
        for lane, column in self._strips():
            rows = [
                [self.w.value(f"load {self.spelling}, ptr {at}, align {align}") for at in places]
                for places in self._places(address, lane, column)
            ]
            for i, square in enumerate(zip(*rows, strict=True)):
                for k, part in enumerate(self._transposed(list(square))):
                    parts[column + i * self.size + k].append(part)
            self.w.boundary()  # or LLVM's scheduler would mix strips until most of them is spilled
        return [join(self.w, self.type, part, self.size)[0] for part in parts]

    def store(self, parts: list[str], address: str, write: Callable[[Rows], None]) -> None:
        """Hands the rows of each strip's lanes to `write`, whole and in the order of memory. Single
        lines in another order would hold up stores that bypass the caches, and loads at the same
        offset in a page."""
        for lane in range(0, self.w.width, self.size):
            rows: list[Rows] = [[] for _ in range(self.size)]
            for column in range(0, self.count, STRIP):
                squares = [
                    self._transposed(
                        [self._of_lanes(part, lane) for part in parts[at:][: self.size]]
                    )
                    for at in range(column, column + STRIP, self.size)
                ]
                places = self._places(address, lane, column)
                for row, names, at in zip(rows, zip(*squares, strict=True), places, strict=True):
                    row += [(self.spelling, *one) for one in zip(names, at, strict=True)]
                self.w.boundary()
            write([one for row in rows for one in row])

    def _strips(self) -> Iterator[tuple[int, int]]:
        """The first lane and column of each strip."""
        for lane in range(0, self.w.width, self.size):
            for column in range(0, self.count, STRIP):
                yield lane, column

    def _places(self, address: str, lane: int, column: int) -> list[list[str]]:
        """The addresses of the registers in each row of a strip."""
        return [
            [
                self.w.value(
                    f"getelementptr i8, ptr {address}, i64 {WORD * (row * self.count + at)}"
                )
                for at in range(column, column + STRIP, self.size)
            ]
            for row in range(lane, lane + self.size)
        ]

    def _of_lanes(self, part: str, first: int) -> str:
        picks = list(range(first, first + self.size))
        return self.w.shuffle(self.w.vector(self.type), picks, part)

    # -- one square -----------------------------------------------------------------------

    def _transposed(self, rows: list[str]) -> list[str]:
        """The columns of a square."""
        for step in (1, 2):
            rows = self._unpacked(rows, step)
        columns = [self._units(rows[k::QUAD]) for k in range(QUAD)]
        return [column for several in zip(*columns, strict=True) for column in several]

    def _unpacked(self, rows: list[str], step: int) -> list[str]:
        """Pairs of rows that are `step` apart, with their low and high halves interleaved within
        each 16 bytes, `step` words at a time."""
        result: list[str] = []
        for first in range(0, self.size, 2 * step):
            for i in range(first, first + step):
                for half in (0, 2):
                    picks = [
                        unit + half + at + k + side * self.size
                        for unit in range(0, self.size, QUAD)
                        for at in range(0, 2, step)
                        for side in range(2)
                        for k in range(step)
                    ]
                    result.append(self.w.shuffle(self.spelling, picks, rows[i], rows[i + step]))
        return result

    def _units(self, rows: list[str]) -> list[str]:
        """The first 16 bytes of all rows one behind the other, the second ones, …"""
        if len(rows) == 1:
            return rows
        halves = []
        for first in (0, QUAD):
            units = range(first, 2 * self.size, 2 * QUAD)
            picks = [unit + k for unit in units for k in range(QUAD)]
            pairs = zip(rows[::2], rows[1::2], strict=True)
            halves.append(self._units([self.w.shuffle(self.spelling, picks, *p) for p in pairs]))
        return [row for pair in zip(*halves, strict=True) for row in pair]
