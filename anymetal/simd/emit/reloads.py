"""Loads once more what sections of a team would keep on the stack (simd/access/reloads.py)."""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.effects import pointer_of
from anymetal.analysis.objects import origins
from anymetal.ir.model import Argument, Instr, Value
from anymetal.simd import questions
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.values import buffer_name


class _Place(NamedTuple):
    address: str
    offset: int  #: in bytes
    align: int


class Reloads(GangEmitter):
    """What has been loaded in this block, and where it is in memory."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.wanted = c.known(questions.loaded_again)
        self.arrays = c.known(origins)
        self.places: dict[Value, _Place] = {}
        self.section = 0

    def note(self, load: Instr, address: str, offset: int, align: int) -> None:
        """Takes note of the place of consecutive lanes, all of which have been loaded."""
        if load in self.wanted:
            self.places[load] = _Place(address, offset, align)

    def end_section(self) -> None:
        """The next section loads what it needs of all that."""
        self.section += 1
        for load in self.places:
            self.v.make_again(load, self._again)

    def _again(self, load: Value) -> str:
        """From an address that LLVM does not know, or it would keep what was loaded before."""
        assert isinstance(load, Instr)
        w, (address, offset, align) = self.w, self.places[load]
        (array,) = self.arrays[pointer_of(load)]
        assert isinstance(array, Argument)
        begin, key = buffer_name(array), (array, f"section {self.section}")
        if key not in self.v.local:
            self.v.local[key] = w.hidden(begin)
        ends = [w.value(f"ptrtoint ptr {at} to i64") for at in (address, begin)]
        distance = w.value(f"sub i64 {ends[0]}, {ends[1]}")
        near = w.value(f"getelementptr i8, ptr {self.v.local[key]}, i64 {distance}")
        place = w.value(f"getelementptr i8, ptr {near}, i64 {offset}")
        return w.value(f"load {w.vector(load.type)}, ptr {place}, align {align}")
