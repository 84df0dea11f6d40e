"""Loads and stores, by the shape of their address.

A uniform address is one scalar access, consecutive lanes are one vector access, which is turned
around if the last lane's element comes first; anything else is a gather or scatter. In an
interleaved private array a uniform index is a vector access. The address of an inactive lane is
never accessed.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.private_arrays import interleaved
from anymetal.ir import types as t
from anymetal.ir.model import Access, Instr, Value
from anymetal.simd import questions
from anymetal.simd.access.strategies import AccessStrategy, access_strategy
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.emit.atomics import Atomics
from anymetal.simd.emit.contiguity import Contiguity
from anymetal.simd.emit.parts import Parts
from anymetal.simd.emit.private_memory import Interleaved
from anymetal.simd.emit.reloads import Reloads
from anymetal.simd.emit.window import Neighbours


class Memory(GangEmitter):
    """Emits memory instructions under the mask of the current block."""

    def __init__(
        self, c: GangContext, arrays: dict[Instr, Interleaved], atomics: Atomics, reloads: Reloads
    ) -> None:
        super().__init__(c)
        self.reloads = reloads
        self.private = c.known(interleaved)
        self.arrays = arrays  #: the interleaved ones
        self.parts, self.contiguity, self.atomics = Parts(c), Contiguity(c), atomics
        self.streams = c.known(questions.streaming)

    # -- loads ----------------------------------------------------------------------------

    def load(self, instr: Instr, mask: Mask) -> None:
        pointer, access = instr.operands[0], instr.arg
        strategy = access_strategy(instr, self.v.shapes, self.private)
        if strategy is AccessStrategy.UNIFORM:
            self.v.define(instr, self._load_one(instr.type, self.v.scalar(pointer), access))
        elif strategy is AccessStrategy.LANES:
            self.atomics.load(instr, mask)
        elif strategy is AccessStrategy.TESTED:
            self.v.define(instr, vector=self._load_tested(instr.type, pointer, access, mask))
        elif strategy is AccessStrategy.TURNED:
            address = self.v.scalar(pointer)
            loaded = self.accesses.load_turned(instr.type, address, access.align, mask)
            self.v.define(instr, vector=loaded)
        elif strategy is AccessStrategy.PRIVATE_RUN:
            array, offset = self.arrays[self.private[pointer]], self.v.scalar(pointer)
            vector = self.parts.load(instr.type, array, offset, access.align, mask)
            self.v.define(instr, vector=vector)
        else:
            address, consecutive = self._address(pointer, strategy)
            loaded = self.accesses.load(instr.type, address, consecutive, access.align, mask)
            self.v.define(instr, vector=loaded)
            if consecutive and mask is None:
                self.reloads.note(instr, address, 0, access.align)

    def _address(self, pointer: Value, strategy: AccessStrategy) -> tuple[str, bool]:
        """One address or the addresses of all lanes, and whether the elements are consecutive."""
        if pointer in self.private:
            return self._private_addresses(pointer), False
        if strategy is AccessStrategy.RUN:
            return self.v.scalar(pointer), True
        return self.v.vector(pointer), False

    def _load_one(self, type_: t.Type, address: str, access: Access) -> str:
        words = ("atomic " if access.atomic else "") + ("volatile " if access.volatile else "")
        order = " monotonic" if access.atomic else ""
        return self.w.value(f"load {words}{type_}, ptr {address}{order}, align {access.align}")

    def _load_tested(self, type_: t.Type, pointer: Value, access: Access, mask: Mask) -> str:
        to, align = self.accesses, access.align
        (loaded,) = self.contiguity.load(
            pointer,
            Neighbours(type_, align),
            mask,
            one=lambda address: [self._load_one(type_, address, access)],
            run=lambda address: [to.load(type_, address, True, align, mask)],
            gather=lambda addresses, lane: [to.gather(type_, addresses, lane, align, mask)],
        )
        return loaded

    def guarded_load(self, instr: Instr, mask: Mask) -> None:
        """A load in the lanes whose condition holds: the others may have an invalid address."""
        if access_strategy(instr, self.v.shapes, self.private) is AccessStrategy.UNIFORM:
            self.v.define(instr, self._guarded_scalar(instr, mask))
            return
        self.load(instr, self.guard(instr, mask))

    def guard(self, instr: Instr, mask: Mask) -> Mask:
        """The lanes of `mask` for which the condition of a guarded load holds."""
        return self.masks.both(mask, self.v.vector(instr.operands[1]), "inverted" in instr.flags)

    def _guarded_scalar(self, instr: Instr, mask: Mask) -> str:
        """Loads something harmless if no lane needs the value."""
        pointer, condition = instr.operands
        if not self.v.shape(condition).is_uniform:
            wanted = self.masks.any(self.guard(instr, mask))
        elif "inverted" in instr.flags:
            wanted = self.w.value(f"xor i1 {self.v.scalar(condition)}, true")
        else:
            wanted = self.v.scalar(condition)
        harmless = self.w.alloca(instr.type, "unused", instr.arg.align)
        address = self.w.value(f"select i1 {wanted}, ptr {self.v.scalar(pointer)}, ptr {harmless}")
        return self.w.value(f"load {instr.type}, ptr {address}, align {instr.arg.align}")

    # -- stores ---------------------------------------------------------------------------

    def store(self, instr: Instr, mask: Mask) -> None:
        value, pointer = instr.operands
        access = instr.arg
        strategy = access_strategy(instr, self.v.shapes, self.private)
        if strategy is AccessStrategy.UNIFORM:
            words = ("atomic " if access.atomic else "") + ("volatile " if access.volatile else "")
            order = " monotonic" if access.atomic else ""
            name = self._last_lane(value, mask)
            target = self.v.scalar(pointer)
            self.w.do(
                f"store {words}{value.type} {name}, ptr {target}{order}, align {access.align}"
            )
            return
        name = self.v.vector(value)

        def put(address: str, consecutive: bool) -> None:
            self.accesses.store(value.type, name, address, consecutive, access.align, mask)

        if strategy is AccessStrategy.TESTED:
            self.contiguity.store(
                pointer,
                value.type.size,
                mask,
                run=lambda address: put(address, True),
                scatter=lambda many: self.accesses.scatter(
                    value.type, name, many, access.align, mask
                ),
            )
            return
        if strategy is AccessStrategy.PRIVATE_RUN:
            array, offset = self.arrays[self.private[pointer]], self.v.scalar(pointer)
            self.parts.store(value.type, name, array, offset, access.align, mask)
            return
        if strategy is AccessStrategy.TURNED:
            address = self.v.scalar(pointer)
            self.accesses.store_turned(value.type, name, address, access.align, mask)
            return
        address, consecutive = self._address(pointer, strategy)
        if instr in self.streams:
            self.accesses.stream(value.type, name, address, access.align, mask)
        else:
            put(address, consecutive)

    def _last_lane(self, value: Value, mask: Mask) -> str:
        """The value of the last active lane: all write one address, in any order, so it may win."""
        if self.v.shape(value).is_uniform:
            return self.v.scalar(value)
        index = str(self.w.width - 1) if mask is None else self.masks.last_lane(mask)
        vector = self.w.vector(value.type)
        return self.w.value(f"extractelement {vector} {self.v.vector(value)}, i32 {index}")

    # -- private arrays -------------------------------------------------------------------

    def _private_addresses(self, pointer: Value) -> str:
        """The address of an offset in each lane's own space, where offsets differ."""
        array, wide = self.arrays[self.private[pointer]], self.w.vector(t.I64)
        units, inside = self.v.vector(pointer), ""
        if array.mixed:
            inside = self.w.value(f"and {wide} {units}, splat (i64 {array.unit - 1})")
            units = self.w.value(f"and {wide} {units}, splat (i64 {-array.unit})")
        scaled = self.w.value(f"mul {wide} {units}, splat (i64 {self.w.width})")
        offsets = self.w.value(f"add {wide} {scaled}, {self.w.lanes(t.I64, array.unit)}")
        if inside:
            offsets = self.w.value(f"add {wide} {offsets}, {inside}")
        return self.w.value(f"getelementptr i8, ptr {array.address}, {wide} {offsets}")

    def private_offset(self, instr: Instr) -> None:
        """A gep into an interleaved array: a byte offset in the lane's own space."""
        shape = self.v.shape(instr)
        pairs = list(zip(instr.operands[1:], instr.arg[:-1], strict=True))
        if shape.is_uniform:
            self.v.define(instr, self._sum(self.v.scalar, str, instr, pairs))
        else:
            self.v.define(instr, vector=self._sum(self.v.vector, self.w.vector, instr, pairs))

    def _sum(
        self,
        form: Callable[[Value], str],
        spell: Callable[[t.Type], str],
        instr: Instr,
        pairs: list[tuple[Value, int]],
    ) -> str:
        """base + constant + sum of index * scale, over scalars or vectors of i64."""
        wide = spell(t.I64)

        def constant(number: int) -> str:
            return str(number) if spell is str else self.w.splat_constant(t.I64, str(number))

        total = self.w.value(f"add {wide} {form(instr.operands[0])}, {constant(instr.arg[-1])}")
        for value, scale in pairs:
            index = form(value)
            if value.type != t.I64:
                index = self.w.value(f"sext {spell(value.type)} {index} to {wide}")
            term = self.w.value(f"mul {wide} {index}, {constant(scale)}")
            total = self.w.value(f"add {wide} {total}, {term}")
        return total

    # -- memcpy and memset ------------------------------------------------------------------

    def block_operation(self, instr: Instr, mask: Mask) -> None:
        """memcpy and the like that passes/expand_copies.py has left: one call for each lane."""

        def text(_: Instr, names: list[str]) -> str:
            args = [(str(v.type), n) for v, n in zip(instr.operands, names, strict=True)]
            self.w.call("void", instr.arg, [*args[:-1], ("i1", "false")])
            return ""

        if all(self.v.shape(v).is_uniform for v in instr.operands):
            text(instr, [self.v.scalar(v) for v in instr.operands])
        else:
            self.atomics.each_lane.emit(instr, mask, instr.operands, text)
