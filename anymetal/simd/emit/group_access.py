"""Emits groups of accesses (simd/access/groups.py): wide loads and stores of runs, and shuffles."""

from __future__ import annotations

from functools import partial

from anymetal.analysis.effects import accessed, pointer_of
from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.ir.sizes import is_power_of_two
from anymetal.simd import questions
from anymetal.simd.access.groups import FILLED, Group
from anymetal.simd.code.deinterleave import (
    QUAD,
    WORD,
    deinterleave,
    every,
    in_squares,
    interleave,
    interleave_odd,
    join,
    part_of_lanes,
    transposed,
)
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.code.values import VECTOR
from anymetal.simd.emit.atomics import Atomics
from anymetal.simd.emit.reloads import Reloads
from anymetal.simd.emit.transpose import STRIP, Rows, Transposition


class GroupAccess(GangEmitter):
    """Emits groups under the mask of the current block. In gangs that lack lanes members are not in
    the order of memory (simd/access/memory_order.py)."""

    def __init__(self, c: GangContext, atomics: Atomics, reloads: Reloads) -> None:
        super().__init__(c)
        self.atomics, self.reloads = atomics, reloads
        self.streams = c.known(questions.streaming)
        self.rows: dict[Value, str] = {}  #: where the beginnings of lanes' rows are in memory
        for group in c.known(questions.groups).values():
            if group.row is not None:
                self.v.told[group.row] = partial(self._keep_rows, group.row)

    def emit(self, group: Group, mask: Mask) -> None:
        """All members, in the place of the anchor."""
        if group.anchor.op == "atomicrmw":
            self._add(group, mask)
            return
        if group.row is not None:
            self._load_in_rows(group, group.row, mask)
            return
        base = self.v.scalar(pointer_of(group.anchor))
        if group.anchor.op == "load":
            self.define(group, self.load_from(group, base, mask))
            if mask is None and self._is_ordered(group):
                self._note(group, base)
        else:
            self.store_from(group, base, self.stored(group), mask)

    def _note(self, group: Group, base: str) -> None:
        """Where the members are, which are in the order of memory."""
        for i, member in enumerate(group.members):
            offset = group.first_offset + i * self.w.width * member.type.size
            self.reloads.note(member, base, offset, group.align)

    def define(self, group: Group, vectors: list[str]) -> None:
        """Gives the members what was loaded, each as its own type."""
        for member, vector in zip(group.members, vectors, strict=True):
            self.v.define(member, vector=self._cast(vector, group.anchor.type, member.type))

    def stored(self, group: Group) -> list[str]:
        """What the members store, as the anchor's type."""
        type_ = accessed(group.anchor).type
        return [
            self._cast(self.v.vector(value), value.type, type_)
            for value in map(accessed, group.members)
        ]

    def load_from(self, group: Group, base: str, mask: Mask) -> list[str]:
        """What all members load, if `base` is the anchor's address in lane 0."""
        type_ = accessed(group.anchor).type
        address = self.w.value(f"getelementptr i8, ptr {base}, i64 {group.first_offset}")
        return self.full_or_partial(
            mask,
            lambda: self._load(group, type_, address),
            lambda: self._load_some(group, type_, address, mask),
            self.w.vector(type_),
        )

    def store_from(self, group: Group, base: str, parts: list[str], mask: Mask) -> None:
        """Stores what all members store, likewise."""
        type_ = accessed(group.anchor).type
        address = self.w.value(f"getelementptr i8, ptr {base}, i64 {group.first_offset}")
        self.full_or_partial(
            mask,
            lambda: self._store(group, type_, address, parts),
            lambda: self._store_some(group, type_, address, parts, mask),
        )

    def _load(self, group: Group, type_: t.Type, address: str) -> list[str]:
        w, count = self.w, len(group.members)
        if group.is_filled:
            return self._load_filled(group, type_, address)
        if self._has_squares(group, type_):
            return self._transposition(group, type_).load(address, group.align)
        squares = in_squares(self.machine, type_, count) and not self._is_ordered(group)
        if group.has_gaps or squares:
            places = [self._row(group, address, lane) for lane in range(w.width)]
            return self.load_rows(group, type_, places)
        if is_power_of_two(count) or self._is_ordered(group):
            vector = w.vector(type_)
            places = [self._place(type_, address, i) for i in range(count)]
            rows = [w.value(f"load {vector}, ptr {at}, align {group.align}") for at in places]
            return rows if self._is_ordered(group) else deinterleave(w, type_, rows, self.machine)
        total = w.width * count
        wide = f"<{total} x {type_}>"
        loaded = w.value(f"load {wide}, ptr {address}, align {group.align}")
        return [every(w, type_, loaded, total, i, count) for i in range(count)]

    def _load_filled(self, group: Group, type_: t.Type, address: str) -> list[str]:
        """With the gaps between lanes, but not the one behind the last lane: the last half of a
        vector is loaded from a little in front, and moved."""
        w, gap, half = self.w, FILLED - len(group.members), self.w.width // 2
        part = f"<{half} x {type_}>"

        def load(spelling: str, first: int) -> str:
            place = self._offset(address, first * type_.size)
            return w.value(f"load {spelling}, ptr {place}, align {group.align}")

        rows = [load(w.vector(type_), row * w.width) for row in range(FILLED - 1)]
        last = [load(part, (FILLED * 2 - 2) * half), load(part, (FILLED * 2 - 1) * half - gap)]
        last[1] = w.shuffle(part, [*range(gap, half)] + [-1] * gap, last[1])
        rows += join(w, type_, last, half)[:1]
        return deinterleave(w, type_, rows, self.machine)[: len(group.members)]

    def _store(self, group: Group, type_: t.Type, address: str, parts: list[str]) -> list[str]:
        def write(rows: Rows) -> None:
            def usual() -> None:
                for spelling, name, place in rows:
                    self.w.do(f"store {spelling} {name}, ptr {place}, align {group.align}")

            if group.anchor in self.streams:
                self.accesses.past_caches(rows, None, usual)
            else:
                usual()

        if self._has_squares(group, type_):
            self._transposition(group, type_).store(parts, address, write)
        else:
            write(self._rows(group, type_, address, parts))
        return []

    def _is_ordered(self, group: Group) -> bool:
        """Whether members are in the order of memory; in full gangs only."""
        return not self.partial and group.is_ordered

    def _has_squares(self, group: Group, type_: t.Type) -> bool:
        rows = len(group.members) % STRIP == 0 and type_.size == WORD and not group.has_gaps
        return rows and not self._is_ordered(group) and self.machine.words >= 4

    def _transposition(self, group: Group, type_: t.Type) -> Transposition:
        return Transposition(self.w, type_, len(group.members), self.machine.words)

    def _rows(self, group: Group, type_: t.Type, address: str, parts: list[str]) -> Rows:
        """The vectors to store, in the order of memory: types, names and addresses."""
        w, count = self.w, len(group.members)
        if group.has_gaps:
            return self._rows_apart(group, type_, address, parts)
        if self._is_ordered(group):
            rows = parts
        elif is_power_of_two(count):
            rows = interleave(w, type_, parts, self.machine)
        elif self.machine.permutes_under_masks:  # and permutes whole vectors well
            rows = self._permuted(type_, parts)
        else:
            rows = interleave_odd(w, type_, parts)
        places = [self._place(type_, address, i) for i in range(count)]
        return [(w.vector(type_), *at) for at in zip(rows, places, strict=True)]

    def _permuted(self, type_: t.Type, parts: list[str]) -> list[str]:
        """The same by a wide shuffle for each vector."""
        w, count = self.w, len(parts)
        joined, size = join(w, type_, parts, w.width)
        order = [lane + w.width * part for lane in range(w.width) for part in range(count)]
        whole = f"<{size} x {type_}>"
        return [
            w.shuffle(whole, order[i : i + w.width], joined) for i in range(0, len(order), w.width)
        ]

    def load_rows(self, group: Group, type_: t.Type, places: list[str]) -> list[str]:
        """What is loaded from a place for each lane."""
        w, count = self.w, len(group.members)
        if type_.size == WORD and count % QUAD == 0 and self.machine.words >= QUAD:
            return self._load_quads(group, type_, places)
        row = f"<{count} x {type_}>"
        rows = [w.value(f"load {row}, ptr {place}, align {group.align}") for place in places]
        lanes = w.width // count  # whose elements fill a vector
        parts = [rows[i : i + lanes] for i in range(0, w.width, lanes)]
        wholes = [join(w, type_, part, count)[0] for part in parts]
        return deinterleave(w, type_, wholes, self.machine)

    def _load_quads(self, group: Group, type_: t.Type, places: list[str]) -> list[str]:
        """Four words of each row at a time. Registers are filled so that squares of 4 x 4 words can
        be transposed without moving anything between their parts of 16 bytes."""
        w = self.w
        row, words = f"<{QUAD} x {type_}>", min(self.machine.words, w.width)
        register = self.machine.any_register

        def load(lane: int, first: int) -> str:
            place = self._offset(places[lane], first * WORD)
            return w.value(f"load {row}, ptr {place}, align {group.align}")

        def square(start: int, first: int) -> list[str]:
            lanes = [range(start + i, start + words, QUAD) for i in range(QUAD)]
            filled = [[load(lane, first) for lane in some] for some in lanes]
            vectors = [join(w, type_, some, QUAD)[0] for some in filled]
            columns = transposed(w, type_, vectors, words)
            if not group.has_gaps:
                return columns
            # Rows of a matrix become columns, each of which may be stored in a block of its own.
            return [w.made_here(column, f"<{words} x {type_}>", register) for column in columns]

        firsts = range(0, len(group.members), QUAD)
        # All that a line has of a row is taken at once: rows may be in each other's way in a cache.
        blocks = [
            [column for first in firsts for column in square(start, first)]
            for start in range(0, w.width, words)
        ]
        return [join(w, type_, list(part), words)[0] for part in zip(*blocks, strict=True)]

    def _rows_apart(self, group: Group, type_: t.Type, address: str, parts: list[str]) -> Rows:
        w, count = self.w, len(group.members)
        vector, row = w.vector(type_), f"<{count} x {type_}>"
        rows = []
        for i, whole in enumerate(interleave(w, type_, parts, self.machine)):
            for k in range(w.width // count):
                one = w.shuffle(vector, list(range(k * count, (k + 1) * count)), whole)
                at = self._row(group, address, i * (w.width // count) + k)
                rows.append((row, one, at))
        return rows

    def _row(self, group: Group, address: str, lane: int) -> str:
        return self.w.value(f"getelementptr i8, ptr {address}, i64 {lane * group.stride}")

    def _offset(self, place: str, offset: int) -> str:
        return self.w.value(f"getelementptr i8, ptr {place}, i64 {offset}") if offset else place

    def _cast(self, vector: str, source: t.Type, target: t.Type) -> str:
        """The same bits as another type of that size."""
        if source == target:
            return vector
        types = self.w.vector(source), self.w.vector(target)
        return self.w.value(f"bitcast {types[0]} {vector} to {types[1]}")

    def _place(self, type_: t.Type, address: str, row: int) -> str:
        offset = row * self.w.width * type_.size
        return self.w.value(f"getelementptr i8, ptr {address}, i64 {offset}")

    # -- rows anywhere ----------------------------------------------------------------------

    def _keep_rows(self, row: Value, name: str) -> None:
        """Stores where rows begin as soon as that is known. Volatile, or LLVM would take each out
        of registers, with two instructions, wherever it is used."""
        if row not in self.rows:
            self.rows[row] = self.w.alloca(self.w.vector(t.PTR), "rows", 64)
        self.w.do(f"store volatile {self.w.vector(t.PTR)} {name}, ptr {self.rows[row]}, align 64")

    def _load_in_rows(self, group: Group, row: Value, mask: Mask) -> None:
        """All members, as far from the beginnings of their rows as the first one's address says."""
        w, anchor = self.w, group.anchor
        pointer = pointer_of(anchor)
        assert isinstance(pointer, Instr)
        distance = str(pointer.arg[-1] + group.first_offset)
        for index, scale in zip(pointer.operands[1:], pointer.arg[:-1], strict=True):
            number = self.v.scalar(index)
            if index.type != t.I64:
                number = w.value(f"sext {index.type} {number} to i64")
            number = w.value(f"mul i64 {number}, {scale}")
            distance = w.value(f"add i64 {number}, {distance}")

        def load(rows: str) -> list[str]:
            places = []
            for lane in range(w.width):
                begin = w.value(f"load ptr, ptr {self._pointer(rows, str(lane))}, align 8")
                places.append(w.value(f"getelementptr i8, ptr {begin}, i64 {distance}"))
            return self.load_rows(group, anchor.type, places)

        def some() -> list[str]:
            """Lanes that are inactive load what an active one loads."""
            assert mask is not None
            vector, spare = w.vector(t.PTR), w.alloca(w.vector(t.PTR), "rows", 64)
            active = self._pointer(self.rows[row], self.masks.last_lane(mask))
            other = w.splat(t.PTR, w.value(f"load ptr, ptr {active}, align 8"))
            theirs = self.v.vector(row)
            chosen = w.value(
                f"select {self.masks.type} {mask}, {vector} {theirs}, {vector} {other}"
            )
            w.do(f"store volatile {vector} {chosen}, ptr {spare}, align 64")
            return load(spare)

        whole = partial(load, self.rows[row])
        self.define(group, self.full_or_partial(mask, whole, some, w.vector(anchor.type)))

    def _pointer(self, rows: str, lane: str) -> str:
        return self.w.value(f"getelementptr ptr, ptr {rows}, i32 {lane}")

    # -- atomic additions -----------------------------------------------------------------

    def _add(self, group: Group, mask: Mask) -> None:
        """Adds vectors of neighbours in the order of memory; or each member by itself, if lanes are
        inactive or neighbours cannot be added at once."""
        parts = [self.v.vector(member.operands[1]) for member in group.members]

        def each() -> list[str]:
            with self.v.apart():
                if self._is_ordered(group):
                    lanes = deinterleave(self.w, group.anchor.type, parts, self.machine)
                    for member, vector in zip(group.members, lanes, strict=True):
                        self.v.local[member.operands[1], VECTOR] = vector
                for member in group.members:
                    self.atomics.update(member, mask)
            return []

        def whole() -> list[str]:
            base = self.v.scalar(pointer_of(group.anchor))
            address = self.w.value(f"getelementptr i8, ptr {base}, i64 {group.first_offset}")
            rows = (
                parts
                if self._is_ordered(group)
                else interleave(self.w, t.FLOAT, parts, self.machine)
            )
            for i, row in enumerate(rows):
                place = self._place(t.FLOAT, address, i)
                self.atomics.add_row(group.anchor, place, row)
            return []

        if self.atomics.adds_neighbours(group.anchor) and is_power_of_two(len(group.members)):
            self.full_or_partial(mask, whole, each)
        else:
            each()

    # -- the order of memory --------------------------------------------------------------

    def convert(self, instr: Instr) -> None:
        """Out of the order of memory (simd/access/memory_order.py)."""
        if self.partial:
            vector = self.v.vector(instr.operands[instr.arg])
        else:
            parts = [self.v.vector(v) for v in instr.operands]
            vector = part_of_lanes(self.w, instr.type, parts, instr.arg, self.machine)
        self.v.define(instr, vector=vector)

    # -- lanes are missing ----------------------------------------------------------------

    def _load_some(self, group: Group, type_: t.Type, address: str, mask: Mask) -> list[str]:
        return [
            self.accesses.load(type_, at, False, group.align, mask)
            for at in self._columns(group, type_, address)
        ]

    def _store_some(
        self, group: Group, type_: t.Type, address: str, parts: list[str], mask: Mask
    ) -> list[str]:
        for at, part in zip(self._columns(group, type_, address), parts, strict=True):
            self.accesses.store(type_, part, at, False, group.align, mask)
        return []

    def _columns(self, group: Group, type_: t.Type, address: str) -> list[str]:
        """The addresses of all lanes for each member."""
        return [
            self.accesses.apart(address, group.stride, i * type_.size)
            for i in range(len(group.members))
        ]
