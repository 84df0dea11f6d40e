"""Elements that turn out to lie close together, at run time.

    x[i / 3], image[y][int(x * 0.4)], table[label[i]]     two gathers     become

    a vector or two from the first lane's element on, and permutations

Indices that are divided, scaled or looked up often stay within a few elements for all lanes of a
gang, while a gather takes as long as if each lane had a cache line of its own. If no lane lies in
front of the first or behind the last one, the elements from the first to the last are loaded. They
are in the array, as both ends are, and no others are touched.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.ir import types as t
from anymetal.simd.code.addresses import Addresses
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.tables import look_up

_LANES = 32  #: of the gangs that this is for
_MOST_REGISTERS = 4  #: the more, the longer it takes to choose


class Neighbours(NamedTuple):
    """What each lane loads: `number` elements of a type, `offset` bytes behind its address."""

    type_: t.Type
    align: int
    number: int = 1
    offset: int = 0


class Window(NamedTuple):
    """How these are loaded if all lanes' are close together."""

    neighbours: Neighbours
    scale: int  #: bytes of a step of the addresses
    registers: int  #: how many are filled
    lanes: int  #: elements in a register

    @property
    def element(self) -> t.Int:
        """What is moved: integers, for which there are all permutations."""
        return t.Int(8 * self.neighbours.type_.size)

    @property
    def most(self) -> int:
        """Steps from the first lane to the last one."""
        spare = self.registers * self.lanes - self.neighbours.number
        return spare * self.neighbours.type_.size // self.scale


class Windows(GangEmitter):
    """Emits the loads."""

    def of(self, neighbours: Neighbours, addresses: Addresses) -> Window | None:
        """What fits such addresses; None if nothing does. It has room for twice the elements of a
        gang."""
        size = neighbours.type_.size
        if not self.machine.loads_windows(size):
            return None
        registers = max(2, 2 * _LANES * size // self.machine.vector_bytes)
        return self._filling(registers, neighbours, addresses)

    def of_table(self, neighbours: Neighbours, addresses: Addresses) -> Window | None:
        """What holds all elements that the addresses' bound allows; None if nothing does."""
        for registers in (2, _MOST_REGISTERS):
            table = self._filling(registers, neighbours, addresses)
            if table and 0 < addresses.below <= table.most + 1:
                return table
        return None

    def _filling(
        self, registers: int, neighbours: Neighbours, addresses: Addresses
    ) -> Window | None:
        size, scale = neighbours.type_.size, addresses.scale
        in_elements = scale % size == 0 or (size % scale == 0 and neighbours.align >= size)
        possible = self.machine.permutes(size) and registers <= _MOST_REGISTERS
        if self.w.width != _LANES or not possible or not in_elements:
            return None
        return Window(neighbours, scale, registers, self.machine.vector_bytes // size)

    def load(
        self, window: Window, address: str, type_: t.Type, distances: str, last: str
    ) -> list[str]:
        """The vectors of all neighbours, given the address of the first lane, and all lanes' and
        the last one's distances from there: numbers of `type_`."""
        w = self.w
        own = w.vector(type_)
        numbers = self._elements(window, own, type_, distances)
        if type_ != t.I32:
            numbers = w.value(f"trunc {own} {numbers} to {w.vector(t.I32)}")
        end = self._elements(window, str(type_), type_, last)
        if type_ != t.I32:
            end = w.value(f"trunc {type_} {end} to i32")
        registers = self._registers(window, address, end)
        count = window.neighbours.number
        return [self._picked(window, registers, numbers, i) for i in range(count)]

    def _elements(self, window: Window, spelling: str, type_: t.Type, steps: str) -> str:
        """Steps of the addresses as numbers of elements."""
        size, scale = window.neighbours.type_.size, window.scale
        if size == scale:
            return steps
        factor, op = (scale // size, "mul") if scale > size else (size // scale, "udiv")
        by = f"splat ({type_} {factor})" if spelling != str(type_) else str(factor)
        return self.w.value(f"{op} {spelling} {steps}, {by}")

    def _registers(self, window: Window, address: str, last: str) -> list[str]:
        """All registers of the window; what lies behind the last lane's elements is not loaded."""
        w, element, lanes = self.w, window.element, window.lanes
        vector = f"<{lanes} x {element}>"
        end = w.value(f"add i32 {last}, {window.neighbours.number - 1}")
        if element != t.I32:
            end = w.value(f"trunc i32 {end} to {element}")
        start = w.value(f"insertelement {vector} poison, {element} {end}, i64 0")
        ends = w.shuffle(vector, [0] * lanes, start)
        found = []
        for i in range(window.registers):
            numbers = w.numbers(element, list(range(i * lanes, (i + 1) * lanes)))
            wanted = w.value(f"icmp ule {vector} {numbers}, {ends}")
            offset = window.neighbours.offset + i * self.machine.vector_bytes
            place = w.value(f"getelementptr i8, ptr {address}, i64 {offset}")
            callee = f"llvm.masked.load.v{lanes}{element}.p0"
            align = f"ptr align {window.neighbours.type_.size}"
            args = [(align, place), (f"<{lanes} x i1>", wanted), (vector, "zeroinitializer")]
            found.append(w.call(vector, callee, args))
        return found

    def _picked(self, window: Window, registers: list[str], numbers: str, neighbour: int) -> str:
        """The elements of all lanes with these numbers, or of one of their neighbours."""
        w, element = self.w, window.element
        if neighbour:
            numbers = w.value(f"add {w.vector(t.I32)} {numbers}, splat (i32 {neighbour})")
        if element != t.I32:
            numbers = w.value(f"trunc {w.vector(t.I32)} {numbers} to {w.vector(element)}")
        picked = look_up(w, self.machine, element, registers, numbers)
        return w.value(
            f"bitcast {w.vector(element)} {picked} to {w.vector(window.neighbours.type_)}"
        )
