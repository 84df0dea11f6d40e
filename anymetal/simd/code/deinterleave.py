"""Separates and joins elements of which each lane has several neighbours in memory.

    x0 y0 x1 y1 x2 y2 …      to and from      x0 x1 x2 …, y0 y1 y2 …

For `count` elements a lane, a power of two, this takes log2(count) rounds that separate even and
odd elements of pairs of vectors, one shuffle for each register. LLVM's own way, one wide shuffle,
takes about count / 2 for each.

Where the processor has no such shuffle, elements are moved four at a time:

* With AVX2 a shuffle of two registers stays within their halves of 16 bytes, so a round takes two.
  There registers are filled with four words each of two lanes that are four lanes apart, and
  squares of 4 x 4 words are transposed within the halves: three shuffles for each register, not
  four.
* Neither AVX2 nor SSE pick every second element of one or two bytes. But one shuffle gives the
  elements in 16 bytes any order, so it brings those of neighbouring lanes together to words.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.sizes import is_power_of_two
from anymetal.machine import Machine

#: Words in 16 bytes, within which all processors shuffle fast.
QUAD = 4
_PAIR = 2 * QUAD  #: words in a register of AVX2
WORD = 4  #: bytes


def deinterleave(w: Writer, type_: t.Type, vectors: list[str], machine: Machine) -> list[str]:
    """From consecutive vectors in memory: the first elements of all lanes, the second ones, …"""
    return _apart(w, type_, vectors, w.width, machine)


def _apart(w: Writer, type_: t.Type, vectors: list[str], lanes: int, machine: Machine) -> list[str]:
    if len(vectors) == 1:
        return vectors
    if in_squares(machine, type_, len(vectors)):
        return _from_squares(w, type_, vectors, lanes)
    if _in_words(machine, type_, len(vectors)):
        each = WORD // type_.size
        order = [lane * QUAD + i for i in range(QUAD) for lane in range(each)]
        words = [_as_words(w, type_, vector, lanes, order) for vector in vectors]
        parts = _apart(w, t.I32, words, lanes // each, machine)
        return [_cast(w, t.I32, part, lanes // each, type_) for part in parts]
    pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
    vector = f"<{lanes} x {type_}>"
    halves = [
        _apart(w, type_, [w.shuffle(vector, order, *pair) for pair in pairs], lanes, machine)
        for order in (list(range(odd, 2 * lanes, 2)) for odd in range(2))
    ]
    return [vector for pair in zip(*halves, strict=True) for vector in pair]


def interleave(w: Writer, type_: t.Type, parts: list[str], machine: Machine) -> list[str]:
    """The inverse: consecutive vectors as they go to memory."""
    return _together(w, type_, parts, w.width, machine)


def _together(
    w: Writer, type_: t.Type, parts: list[str], lanes: int, machine: Machine
) -> list[str]:
    if len(parts) == 1:
        return parts
    if in_squares(machine, type_, len(parts)):
        return _to_squares(w, type_, parts, lanes)
    if _in_words(machine, type_, len(parts)):
        each = WORD // type_.size
        order = [i * each + lane for lane in range(each) for i in range(QUAD)]
        words = [_cast(w, type_, part, lanes, t.I32) for part in parts]
        rows = _together(w, t.I32, words, lanes // each, machine)
        return [
            _ordered(w, type_, _cast(w, t.I32, row, lanes // each, type_), lanes, order)
            for row in rows
        ]
    even, odd = (_together(w, type_, parts[start::2], lanes, machine) for start in range(2))
    picks = [lane + side * lanes for lane in range(lanes) for side in range(2)]
    return [
        w.shuffle(f"<{lanes} x {type_}>", picks[at : at + lanes], *pair)
        for pair in zip(even, odd, strict=True)
        for at in (0, lanes)
    ]


def interleave_odd(w: Writer, type_: t.Type, parts: list[str]) -> list[str]:
    """The same for any number of elements a lane.

    Each 16 bytes get their elements from one part after the other, by shuffles of two registers.
    LLVM's own way, one wide shuffle, moves every element by itself unless it has AVX-512.
    """
    count, size = len(parts), QUAD * WORD // type_.size
    pieces: list[str] = []
    for start in range(0, w.width, size):
        lanes = list(range(start, start + size))
        ours = [w.shuffle(w.vector(type_), lanes, part) for part in parts]
        for first in range(0, count * size, size):
            places = [divmod(first + i, count) for i in range(size)]
            pieces.append(_gathered(w, f"<{size} x {type_}>", ours, places))
    return _rows(w, type_, pieces, size, w.width)


def _gathered(w: Writer, vector: str, parts: list[str], places: list[tuple[int, int]]) -> str:
    """Elements by lane and part."""
    size = len(places)
    found = "poison"
    for number, part in enumerate(parts):
        if all(other != number for _, other in places):
            continue
        picks = [
            size + lane if other == number else i if other < number else -1
            for i, (lane, other) in enumerate(places)
        ]
        found = w.shuffle(vector, picks, found, part)
    return found


# -- words in squares --------------------------------------------------------------------


def in_squares(machine: Machine, type_: t.Type, count: int) -> bool:
    """Whether words of which each lane has `count` are moved in squares."""
    return type_.size == WORD and count % QUAD == 0 and not machine.separates(WORD)


def _from_squares(w: Writer, type_: t.Type, vectors: list[str], lanes: int) -> list[str]:
    count = len(vectors)
    columns: list[list[str]] = [[] for _ in vectors]

    def two_quads(lane: int, first: int) -> str:
        rows = (lane, lane + QUAD)
        (one, at), (other, behind) = (divmod(row * count + first, lanes) for row in rows)
        picks = _two_quads(at, lanes + behind)
        return w.shuffle(f"<{lanes} x {type_}>", picks, vectors[one], vectors[other])

    for start in range(0, lanes, _PAIR):
        for first in range(0, count, QUAD):
            filled = [two_quads(start + lane, first) for lane in range(QUAD)]
            square = transposed(w, type_, filled, _PAIR)
            for column, part in zip(columns[first : first + QUAD], square, strict=True):
                column.append(part)
    return [join(w, type_, column, _PAIR)[0] for column in columns]


def _to_squares(w: Writer, type_: t.Type, parts: list[str], lanes: int) -> list[str]:
    registers: list[str] = []
    for start in range(0, lanes, _PAIR):
        some = list(range(start, start + _PAIR))
        words = [w.shuffle(f"<{lanes} x {type_}>", some, part) for part in parts]
        squares = [
            transposed(w, type_, words[first : first + QUAD], _PAIR)
            for first in range(0, len(parts), QUAD)
        ]
        quads = [
            (square[lane % QUAD], lane - lane % QUAD) for lane in range(_PAIR) for square in squares
        ]
        for (one, at), (other, behind) in zip(quads[::2], quads[1::2], strict=True):
            picks = _two_quads(at, _PAIR + behind)
            registers.append(w.shuffle(f"<{_PAIR} x {type_}>", picks, one, other))
    return _rows(w, type_, registers, _PAIR, lanes)


def _two_quads(one: int, other: int) -> list[int]:
    return [*range(one, one + QUAD), *range(other, other + QUAD)]


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


# -- smaller elements as words -----------------------------------------------------------


def _in_words(machine: Machine, type_: t.Type, count: int) -> bool:
    """Whether elements of several lanes, four of each, become words."""
    return type_ in (t.I8, t.I16) and count == QUAD and not machine.separates(type_.size)


def _as_words(w: Writer, type_: t.Type, vector: str, lanes: int, order: list[int]) -> str:
    return _cast(w, type_, _ordered(w, type_, vector, lanes, order), lanes, t.I32)


def _ordered(w: Writer, type_: t.Type, vector: str, lanes: int, order: list[int]) -> str:
    """A vector with every so many elements, 16 bytes, in this order."""
    picks = [start + i for start in range(0, lanes, len(order)) for i in order]
    return w.shuffle(f"<{lanes} x {type_}>", picks, vector)


def _cast(w: Writer, source: t.Type, vector: str, lanes: int, target: t.Type) -> str:
    count = lanes * source.size // target.size
    return w.value(f"bitcast <{lanes} x {source}> {vector} to <{count} x {target}>")


# -- others ------------------------------------------------------------------------------


def part_of_lanes(w: Writer, type_: t.Type, rows: list[str], number: int, machine: Machine) -> str:
    """Element `number` of all lanes, from consecutive vectors in memory."""
    if is_power_of_two(len(rows)):
        return deinterleave(w, type_, rows, machine)[number]
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


def split(w: Writer, type_: t.Type, whole: str, length: int, size: int) -> list[str]:
    """The inverse: a vector of `length` elements as vectors of `size`."""
    vector = f"<{length} x {type_}>"
    return [
        w.shuffle(vector, list(range(first, first + size)), whole)
        for first in range(0, length, size)
    ]


def _rows(w: Writer, type_: t.Type, pieces: list[str], size: int, lanes: int) -> list[str]:
    """Pieces of `size` elements, in the order of memory, as vectors of `lanes` elements."""
    each = lanes // size
    rows = [pieces[i : i + each] for i in range(0, len(pieces), each)]
    return [join(w, type_, row, size)[0] for row in rows]


def in_chunks(w: Writer, names: list[str], count: int, one: Callable[[list[str]], str]) -> str:
    """A function of vectors of floats, `count` lanes at a time."""
    if count == w.width:
        return one(names)
    chunks = []
    for first in range(0, w.width, count):
        picks = list(range(first, first + count))
        chunks.append(one([w.shuffle(w.vector(t.FLOAT), picks, name) for name in names]))
    return join(w, t.FLOAT, chunks, count)[0]
