"""What no vector instruction does: one active lane of a gang after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.simd.masks import Mask, Masks
from anymetal.simd.values import Values
from anymetal.simd.writer import Writer

#: Emits the operation of one lane, given its operands, and returns the name or text of the result.
OneLane = Callable[[Any, list[str]], str]


class EachLane:
    """Emits such loops: lanes in order, results collected in a vector."""

    def __init__(self, writer: Writer, values: Values, masks: Masks) -> None:
        self.w = writer
        self.v = values
        self.masks = masks

    def emit(self, instr: Instr, mask: Mask, operands: list[Value], one: OneLane) -> None:
        """`one` is called once; what it emits is the body of the loop."""
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
        """The same for cheap operations without result: one after the other where all lanes turn
        out active. They take their operands from memory, which costs less than taking vectors
        apart; the accesses are volatile, or LLVM would do that all the same."""
        w = self.w
        whole, some, done = (w.fresh(n) for n in ("all.lanes", "some.lanes", "end.lanes"))
        if mask is not None:
            all_active = w.value(f"icmp eq i{w.width} {self.masks.bits(mask)}, -1")
            for value in operands:
                self.v.vector(value)  # both ways use it
                if self.v.shape(value).is_uniform:
                    self.v.scalar(value)
            w.do(f"br i1 {all_active}, label %{whole}, label %{some}")
            w.label(whole)
        places = {v: self._spilled(v) for v in operands if not self.v.shape(v).is_uniform}
        for lane in range(w.width):
            one(instr, [self._reloaded(v, places.get(v, ""), lane) for v in operands])
        if mask is not None:
            w.do(f"br label %{done}")
            w.label(some)
            self.emit(instr, mask, operands, one)
            w.do(f"br label %{done}")
            w.label(done)

    def _spilled(self, value: Value) -> str:
        vector = self.w.vector(value.type)
        place = self.w.alloca(vector, "lanes", 64)
        self.w.do(f"store volatile {vector} {self.v.vector(value)}, ptr {place}, align 64")
        return place

    def _reloaded(self, value: Value, place: str, lane: int) -> str:
        if not place:
            return self.v.scalar(value)
        at = self.w.value(f"getelementptr {value.type}, ptr {place}, i64 {lane}")
        return self.w.value(f"load volatile {value.type}, ptr {at}")

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
