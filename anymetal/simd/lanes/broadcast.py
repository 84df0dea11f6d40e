"""Broadcasts of single lanes, by way of memory.

    for j > k: row[j] -= row[k] * shuffle(row[k], j)

To spread a lane over all lanes, registers take two permutations, which most processors do in one or
two units only. If many lanes of a vector are taken, all known when compiling, it is stored once:
loads, or operands in memory, spread an element for free.
"""

from __future__ import annotations

from functools import partial

from anymetal.ir.model import Value
from anymetal.simd import questions
from anymetal.simd.access.lane_requests import source_of
from anymetal.simd.code.gang_context import GangContext, GangEmitter

#: Processors whose registers have so many words spread an element as they load it.
_WORDS = 8
#: Lanes that are stored together: LLVM does not compute parts of a vector that nobody needs.
_TOGETHER = 16


class Broadcast(GangEmitter):
    """Stores such vectors as soon as they are there, and loads their lanes."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.places: dict[Value, str] = {}  #: of vectors that have been stored
        if not self.partial and self.machine.words >= _WORDS:
            for value, lanes in c.known(questions.broadcast_lanes).items():
                self.v.told[value] = partial(self._store, value, lanes)

    def lane(self, value: Value, number: int) -> str:
        """A lane of the value, as a scalar; empty if the value is not in memory."""
        source = source_of(value)
        if source not in self.places:
            return ""
        at = f"getelementptr i32, ptr {self.places[source]}, i32 {number}"
        return self.w.value(f"load i32, ptr {self.w.value(at)}, align 4")

    def _store(self, value: Value, lanes: set[int], name: str) -> None:
        """Volatile, or LLVM would take the lanes out of registers again."""
        vector, part = self.w.vector(value.type), f"<{_TOGETHER} x {value.type}>"
        if value not in self.places:
            self.places[value] = self.w.alloca(vector, "lanes", 128)
        for first in range(0, self.w.width, _TOGETHER):
            picks = range(first, first + _TOGETHER)
            if not lanes.isdisjoint(picks):
                some = self.w.shuffle(vector, list(picks), name)
                at = f"getelementptr i32, ptr {self.places[value]}, i32 {first}"
                self.w.do(f"store volatile {part} {some}, ptr {self.w.value(at)}, align 64")
