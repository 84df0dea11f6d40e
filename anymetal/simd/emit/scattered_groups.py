"""Emits groups whose lanes have their elements anywhere (simd/access/groups.py).

    float4 v = points[index[i]]     four gathers, 128 loads    become    32 loads of 16 bytes

At run time a test tells lanes that all have the same elements, and those whose elements follow each
other, as in contiguity.py, once for all members. Else each lane's elements are moved by one
instruction, and shuffles take them apart.
"""

from __future__ import annotations

from functools import partial

from anymetal.analysis.effects import accessed, pointer_of
from anymetal.ir import types as t
from anymetal.simd.access.groups import Group
from anymetal.simd.code.addresses import Addresses
from anymetal.simd.code.deinterleave import deinterleave, interleave, join
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.emit.contiguity import Contiguity
from anymetal.simd.emit.group_access import GroupAccess
from anymetal.simd.emit.window import Neighbours

#: By bytes: what gathers and scatters take for a lane's elements. More is moved as a vector.
_WHOLE: dict[int, t.Type] = {2: t.I16, 4: t.I32, 8: t.I64}


class ScatteredGroups(GangEmitter):
    """Emits such groups under the mask of the current block."""

    def __init__(self, c: GangContext, groups: GroupAccess) -> None:
        super().__init__(c)
        self.groups, self.contiguity = groups, Contiguity(c)

    def emit(self, group: Group, mask: Mask) -> None:
        """All members, in the place of the anchor."""
        if group.anchor.op == "load":
            self._load(group, mask)
        else:
            self._store(group, mask)

    def _load(self, group: Group, mask: Mask) -> None:
        w, type_ = self.w, accessed(group.anchor).type

        def one(address: str) -> list[str]:
            places = [group.first_offset + i * type_.size for i in range(len(group.members))]
            at = [w.value(f"getelementptr i8, ptr {address}, i64 {place}") for place in places]
            return [w.value(f"load {type_}, ptr {place}, align {group.align}") for place in at]

        vectors = self.contiguity.load(
            pointer_of(group.anchor),
            Neighbours(type_, group.align, len(group.members), group.first_offset),
            mask,
            one=one,
            run=lambda address: self.groups.load_from(group.together, address, mask),
            gather=lambda addresses, lane: self._load_each(group, addresses, lane, mask),
        )
        self.groups.define(group, vectors)

    def _load_each(self, group: Group, addresses: Addresses, lane: str, mask: Mask) -> list[str]:
        w, type_ = self.w, accessed(group.anchor).type
        addresses = addresses.moved(w, group.first_offset)
        whole = _WHOLE.get(group.bytes)
        if whole is None:
            places = self.accesses.only_active(addresses, mask)
            return self.groups.load_rows(group, type_, places)
        found = self.accesses.gather(whole, addresses, lane, group.align, mask)
        count = len(group.members)
        wide = f"<{count * w.width} x {type_}>"
        elements = w.value(f"bitcast {w.vector(whole)} {found} to {wide}")
        rows = [
            w.shuffle(wide, list(range(at, at + w.width)), elements)
            for at in range(0, count * w.width, w.width)
        ]
        return deinterleave(w, type_, rows, self.machine)

    def _store(self, group: Group, mask: Mask) -> None:
        parts = self.groups.stored(group)
        self.contiguity.store(
            pointer_of(group.anchor),
            group.bytes,
            mask,
            run=lambda address: self.groups.store_from(group.together, address, parts, mask),
            scatter=partial(self._store_each, group, parts, mask),
        )

    def _store_each(self, group: Group, parts: list[str], mask: Mask, addresses: Addresses) -> None:
        w, type_, count = self.w, accessed(group.anchor).type, len(group.members)
        addresses = addresses.moved(w, group.first_offset)
        rows = interleave(w, type_, parts, self.machine)
        whole = _WHOLE.get(group.bytes)
        if whole is not None:
            joined, size = join(w, type_, rows, w.width)
            vector = w.value(f"bitcast <{size} x {type_}> {joined} to {w.vector(whole)}")
            self.accesses.scatter(whole, vector, addresses, group.align, mask)
            return
        each = w.width // count  # lanes whose elements fill a vector
        for lane, place in enumerate(self.accesses.only_active(addresses, mask)):
            first = lane % each * count
            picks = list(range(first, first + count))
            one = w.shuffle(w.vector(type_), picks, rows[lane // each])
            w.do(f"store <{count} x {type_}> {one}, ptr {place}, align {group.align}")
