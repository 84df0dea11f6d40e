"""Operations without vector instruction: one active lane of a gang after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.simd.code.addresses import Addresses, addresses_of
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.masks import Mask

#: Emits the operation of one lane, given its operands; returns the result.
OneLane = Callable[[Any, list[str]], str]


class EachLane(GangEmitter):
    """Emits such loops over lanes; results are collected in a vector."""

    def emit(self, instr: Instr, mask: Mask, operands: list[Value], one: OneLane) -> None:
        """A loop over active lanes. `one` is called once and emits the loop's body."""
        w = self.w
        vectors = [(w.vector(v.type), self.v.vector(v)) for v in operands]
        bits = self.masks.bits(mask)
        before, head, back, done = (w.fresh(n) for n in ("lanes", "lane", "lane.end", "done"))
        word = f"i{w.width}"
        w.do(f"br label %{before}")
        w.label(before)
        w.do(f"br label %{head}")
        w.label(head)
        left, result = f"%{w.fresh()}", f"%{w.fresh()}"
        result_type = w.vector(instr.type)
        rest, next_result = f"%{w.fresh()}", f"%{w.fresh()}"
        w.do(f"{left} = phi {word} [ {bits}, %{before} ], [ {rest}, %{back} ]")
        if instr.has_result:
            w.do(f"{result} = phi {result_type} [ poison, %{before} ], [ {next_result}, %{back} ]")
        lane = w.call(word, f"llvm.cttz.{word}", [(word, left), ("i1", "true")])
        names = [w.value(f"extractelement {ty} {name}, {word} {lane}") for ty, name in vectors]
        single = one(instr, names)
        if instr.has_result:
            self._insert(instr.type, next_result, result, single, f"{word} {lane}")
        below = w.value(f"sub {word} {left}, 1")
        w.do(f"{rest} = and {word} {left}, {below}")
        more = w.value(f"icmp ne {word} {rest}, 0")
        w.do(f"br label %{back}")
        w.label(back)
        w.do(f"br i1 {more}, label %{head}, label %{done}")
        w.label(done)
        if instr.has_result:
            self.v.define(instr, vector=next_result)

    def emit_all(self, instr: Instr, mask: Mask, operands: list[Value], one: OneLane) -> None:
        """The same for cheap operations without result, without a loop if all lanes are active."""

        def loop() -> list[str]:
            self.emit(instr, mask, operands, one)
            return []

        self.full_or_partial(mask, lambda: self.emit_whole(instr, operands, one), loop)

    def emit_whole(self, instr: Instr, operands: list[Value], one: OneLane) -> list[str]:
        """All lanes, without a loop. Operands are read from memory, which is cheaper than taking
        vectors apart; by volatile loads, or LLVM would take them apart all the same."""
        columns = [self._column(v) for v in operands]
        for lane in range(self.w.width):
            one(instr, [column(lane) for column in columns])
        return []

    def _column(self, value: Value) -> Callable[[int], str]:
        """A function that gives the value of a lane."""
        w = self.w
        if self.v.shape(value).is_uniform:
            scalar = self.v.scalar(value)
            return lambda lane: scalar
        if not value.type.is_ptr:
            return self._spilled(value.type, self.v.vector(value))
        addresses = addresses_of(w, self.v, value)
        if addresses.whole:
            return self._spilled(value.type, addresses.whole)
        bits = next((b for b in (8, 16) if 0 < addresses.below <= 1 << b), 0)
        if not bits:
            numbers = self._spilled(addresses.type_, addresses.vector)
            return lambda lane: addresses.of(w, numbers(lane))
        small = self._packed(addresses, bits)
        wide = addresses._replace(type_=t.I64)
        return lambda lane: wide.of(w, small(lane))

    def _packed(self, addresses: Addresses, bits: int) -> Callable[[int], str]:
        """Small numbers, several in a 64-bit word: single loads would take too long."""
        w, each, count = self.w, 64 // bits, self.w.width * bits // 64
        vector, words = f"<{w.width} x i{bits}>", f"<{count} x i64>"
        numbers = addresses.vector
        if addresses.type_ != t.Int(bits):
            numbers = w.value(f"trunc {w.vector(addresses.type_)} {numbers} to {vector}")
        joined = w.value(f"bitcast {vector} {numbers} to {words}")
        loaded = [w.value(f"extractelement {words} {joined}, i64 {i}") for i in range(count)]

        def pick(lane: int) -> str:
            word, shift = loaded[lane // each], lane % each * bits
            moved = w.value(f"lshr i64 {word}, {shift}") if shift else word
            return w.value(f"and i64 {moved}, {(1 << bits) - 1}")

        return pick

    def _spilled(self, type_: t.Type, name: str) -> Callable[[int], str]:
        w = self.w
        place = w.alloca(w.vector(type_), "lanes", 64)
        w.do(f"store volatile {w.vector(type_)} {name}, ptr {place}, align 64")

        def reload(lane: int) -> str:
            at = w.value(f"getelementptr {type_}, ptr {place}, i64 {lane}")
            return w.value(f"load volatile {type_}, ptr {at}")

        return reload

    def _insert(self, type_: t.Type, name: str, old: str, one: str, lane: str) -> None:
        w = self.w
        if not isinstance(type_, t.Struct):
            w.do(f"{name} = insertelement {w.vector(type_)} {old}, {type_} {one}, {lane}")
            return
        whole, current = w.vector(type_), old
        for i, field in enumerate(type_.fields):
            part = w.value(f"extractvalue {type_} {one}, {i}")
            column = w.value(f"extractvalue {whole} {old}, {i}")
            filled = w.value(f"insertelement {w.vector(field)} {column}, {field} {part}, {lane}")
            target = name if i == len(type_.fields) - 1 else f"%{w.fresh()}"
            w.do(f"{target} = insertvalue {whole} {current}, {w.vector(field)} {filled}, {i}")
            current = target
