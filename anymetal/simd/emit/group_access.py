"""Emits groups of accesses (simd/access/groups.py): wide loads and stores of runs, and shuffles."""

from __future__ import annotations

from anymetal.analysis.effects import pointer_of
from anymetal.ir import types as t
from anymetal.ir.model import Instr
from anymetal.simd import questions
from anymetal.simd.access.groups import Group, accessed, is_power_of_two
from anymetal.simd.code.deinterleave import (
    deinterleave,
    every,
    interleave,
    join,
    part_of_lanes,
)
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.code.values import VECTOR
from anymetal.simd.emit.atomics import Atomics
from anymetal.simd.emit.transpose import STRIP, WORD, Rows, Transposition


class GroupAccess(GangEmitter):
    """Emits groups under the mask of the current block. In gangs that lack lanes members are not in
    the order of memory (simd/access/memory_order.py)."""

    def __init__(self, c: GangContext, atomics: Atomics) -> None:
        super().__init__(c)
        self.atomics = atomics
        self.streams = c.known(questions.streaming)

    def emit(self, group: Group, mask: Mask) -> None:
        """All members, in the place of the anchor."""
        if group.anchor.op == "atomicrmw":
            self._add(group, mask)
            return
        type_ = accessed(group.anchor).type
        base = self.v.scalar(pointer_of(group.anchor))
        address = self.w.value(f"getelementptr i8, ptr {base}, i64 {group.first_offset}")
        if group.anchor.op == "load":
            vectors = self.full_or_partial(
                mask,
                lambda: self._load(group, type_, address),
                lambda: self._load_some(group, type_, address, mask),
                self.w.vector(type_),
            )
            for member, vector in zip(group.members, vectors, strict=True):
                self.v.define(member, vector=self._cast(vector, type_, member.type))
            return
        parts = [
            self._cast(self.v.vector(value), value.type, type_)
            for value in map(accessed, group.members)
        ]
        self.full_or_partial(
            mask,
            lambda: self._store(group, type_, address, parts),
            lambda: self._store_some(group, type_, address, parts, mask),
        )

    def _load(self, group: Group, type_: t.Type, address: str) -> list[str]:
        w, count = self.w, len(group.members)
        if group.has_gaps:
            return deinterleave(w, type_, self._load_rows(group, type_, address))
        if self._has_squares(group, type_):
            return self._transposition(group, type_).load(address, group.align)
        if is_power_of_two(count) or self._is_ordered(group):
            vector = w.vector(type_)
            places = [self._place(type_, address, i) for i in range(count)]
            rows = [w.value(f"load {vector}, ptr {at}, align {group.align}") for at in places]
            return rows if self._is_ordered(group) else deinterleave(w, type_, rows)
        total = w.width * count
        wide = f"<{total} x {type_}>"
        loaded = w.value(f"load {wide}, ptr {address}, align {group.align}")
        return [every(w, type_, loaded, total, i, count) for i in range(count)]

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
        if is_power_of_two(count) or self._is_ordered(group):
            rows = parts if self._is_ordered(group) else interleave(w, type_, parts)
            places = [self._place(type_, address, i) for i in range(count)]
            return [(w.vector(type_), *at) for at in zip(rows, places, strict=True)]
        total = w.width * count
        joined, size = join(w, type_, parts, w.width)
        order = [lane + w.width * part for lane in range(w.width) for part in range(count)]
        name = w.shuffle(f"<{size} x {type_}>", order, joined)
        return [(f"<{total} x {type_}>", name, address)]

    def _load_rows(self, group: Group, type_: t.Type, address: str) -> list[str]:
        """The elements of all lanes, one lane after the other, gaps left out."""
        w, count = self.w, len(group.members)
        row = f"<{count} x {type_}>"
        rows = [
            w.value(f"load {row}, ptr {self._row(group, address, lane)}, align {group.align}")
            for lane in range(w.width)
        ]
        lanes = w.width // count  # whose elements fill a vector
        return [join(w, type_, rows[i : i + lanes], count)[0] for i in range(0, w.width, lanes)]

    def _rows_apart(self, group: Group, type_: t.Type, address: str, parts: list[str]) -> Rows:
        w, count = self.w, len(group.members)
        vector, row = w.vector(type_), f"<{count} x {type_}>"
        rows = []
        for i, whole in enumerate(interleave(w, type_, parts)):
            for k in range(w.width // count):
                one = w.shuffle(vector, list(range(k * count, (k + 1) * count)), whole)
                at = self._row(group, address, i * (w.width // count) + k)
                rows.append((row, one, at))
        return rows

    def _row(self, group: Group, address: str, lane: int) -> str:
        return self.w.value(f"getelementptr i8, ptr {address}, i64 {lane * group.stride}")

    def _cast(self, vector: str, source: t.Type, target: t.Type) -> str:
        """The same bits as another type of that size."""
        if source == target:
            return vector
        types = self.w.vector(source), self.w.vector(target)
        return self.w.value(f"bitcast {types[0]} {vector} to {types[1]}")

    def _place(self, type_: t.Type, address: str, row: int) -> str:
        offset = row * self.w.width * type_.size
        return self.w.value(f"getelementptr i8, ptr {address}, i64 {offset}")

    # -- atomic additions -----------------------------------------------------------------

    def _add(self, group: Group, mask: Mask) -> None:
        """Adds vectors of neighbours in the order of memory; or each member by itself, if lanes are
        inactive or neighbours cannot be added at once."""
        parts = [self.v.vector(member.operands[1]) for member in group.members]

        def each() -> list[str]:
            with self.v.apart():
                if self._is_ordered(group):
                    lanes = deinterleave(self.w, group.anchor.type, parts)
                    for member, vector in zip(group.members, lanes, strict=True):
                        self.v.local[member.operands[1], VECTOR] = vector
                for member in group.members:
                    self.atomics.update(member, mask)
            return []

        def whole() -> list[str]:
            base = self.v.scalar(pointer_of(group.anchor))
            address = self.w.value(f"getelementptr i8, ptr {base}, i64 {group.first_offset}")
            rows = parts if self._is_ordered(group) else interleave(self.w, t.FLOAT, parts)
            for i, row in enumerate(rows):
                place = self._place(t.FLOAT, address, i)
                self.atomics.add_neighbours(group.anchor, place, row, None)
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
            vector = part_of_lanes(self.w, instr.type, parts, instr.arg)
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
