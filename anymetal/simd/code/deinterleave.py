"""Separates and joins elements of which each lane has several neighbours in memory.

    x0 y0 x1 y1 x2 y2 …      to and from      x0 x1 x2 …, y0 y1 y2 …

For `count` elements a lane, a power of two, this takes log2(count) rounds that separate even and
odd elements of pairs of vectors, one shuffle for each register. LLVM's own way, one wide shuffle,
takes about count / 2 for each.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.sizes import is_power_of_two

#: Words in 16 bytes, within which all processors shuffle fast.
QUAD = 4


def deinterleave(w: Writer, type_: t.Type, vectors: list[str]) -> list[str]:
    """From consecutive vectors in memory: the first elements of all lanes, the second ones, …"""
    if len(vectors) == 1:
        return vectors
    pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
    orders = [list(range(odd, 2 * w.width, 2)) for odd in range(2)]
    halves = [
        deinterleave(w, type_, [w.shuffle(w.vector(type_), order, *pair) for pair in pairs])
        for order in orders
    ]
    return [vector for pair in zip(*halves, strict=True) for vector in pair]


def transposed(w: Writer, type_: t.Type, vectors: list[str], size: int) -> list[str]:
    """Four vectors of `size` words, whose parts of four words are squares of 4 x 4: transposed."""
    vector = f"<{size} x {type_}>"

    def pick(order: tuple[int, ...], first: str, second: str) -> str:
        """Of each part: the first two from one vector, the others from the other one, or mixed."""
        picks = [n % QUAD + n // QUAD * size + at for at in range(0, size, QUAD) for n in order]
        return w.shuffle(vector, picks, first, second)

    pairs = [pick(half, *two) for half in ((0, 4, 1, 5), (2, 6, 3, 7))
             for two in (vectors[:2], vectors[2:])]  # fmt: skip
    return [pick(half, *two) for two in (pairs[:2], pairs[2:])
            for half in ((0, 1, 4, 5), (2, 3, 6, 7))]  # fmt: skip


def interleave(w: Writer, type_: t.Type, parts: list[str]) -> list[str]:
    """The inverse: consecutive vectors as they go to memory."""
    if len(parts) == 1:
        return parts
    even, odd = (interleave(w, type_, parts[start::2]) for start in range(2))
    picks = [lane + side * w.width for lane in range(w.width) for side in range(2)]
    return [
        w.shuffle(w.vector(type_), picks[at : at + w.width], *pair)
        for pair in zip(even, odd, strict=True)
        for at in (0, w.width)
    ]


def part_of_lanes(w: Writer, type_: t.Type, rows: list[str], number: int) -> str:
    """Element `number` of all lanes, from consecutive vectors in memory."""
    if is_power_of_two(len(rows)):
        return deinterleave(w, type_, rows)[number]
    return every(w, type_, *join(w, type_, rows, w.width), number, len(rows))


def every(w: Writer, type_: t.Type, vector: str, size: int, first: int, step: int) -> str:
    """The elements first, first + step, … of a vector of `size` elements, one for each lane."""
    return w.shuffle(f"<{size} x {type_}>", [first + i * step for i in range(w.width)], vector)


def join(w: Writer, type_: t.Type, parts: list[str], size: int) -> tuple[str, int]:
    """Concatenates vectors of `size` elements pairwise; returns the whole and its length."""
    while len(parts) > 1:
        parts = [*parts, "poison"] if len(parts) % 2 else parts
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [w.shuffle(f"<{size} x {type_}>", list(range(2 * size)), *pair) for pair in pairs]
        size *= 2
    return parts[0], size


def in_chunks(w: Writer, names: list[str], count: int, one: Callable[[list[str]], str]) -> str:
    """A function of vectors of floats, `count` lanes at a time."""
    if count == w.width:
        return one(names)
    chunks = []
    for first in range(0, w.width, count):
        picks = list(range(first, first + count))
        chunks.append(one([w.shuffle(w.vector(t.FLOAT), picks, name) for name in names]))
    return join(w, t.FLOAT, chunks, count)[0]
