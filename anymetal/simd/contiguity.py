"""Addresses that turn out consecutive, or all the same, when the kernel runs.

`x[base + channel]` with an index of divisions and remainders is varying as far as the compiler can
tell, yet in most gangs the lanes' elements lie side by side. A compare tells, for less than a
gather costs: each varying load is compiled as "one element, one vector, or gather", each varying
store as "one vector, or scatter".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anymetal.ir import types as t
from anymetal.ir.model import Instr, Value
from anymetal.simd.masks import Mask, Masks
from anymetal.simd.values import Values
from anymetal.simd.writer import Writer


class Index(NamedTuple):
    """What decides the lanes' addresses: `vector` of `type_`, `step` apart in consecutive lanes."""

    vector: str
    type_: t.Type
    step: int


class Contiguity:
    """Emits the tests and the branches."""

    def __init__(self, writer: Writer, values: Values, masks: Masks) -> None:
        self.w = writer
        self.v = values
        self.masks = masks

    def load(
        self,
        pointer: Value,
        type_: t.Type,
        mask: Mask,
        one: Callable[[str], str],
        run: Callable[[str], str],
        gather: Callable[[], str],
    ) -> str:
        """The loaded vector; `one` and `run` load from a scalar address, `gather` from all."""
        results: list[str] = []

        def note(label: str, result: str) -> None:
            results.append(f"[ {result}, %{label} ]")

        self._three_ways(
            pointer,
            type_,
            mask,
            one=lambda label, address: note(label, self.w.splat(type_, one(address))),
            run=lambda label, address: note(label, run(address)),
            other=lambda label: note(label, gather()),
        )
        return self.w.value(f"phi {self.w.vector(type_)} {', '.join(results)}")

    def update(
        self,
        pointer: Value,
        type_: t.Type,
        mask: Mask,
        one: Callable[[str], None],
        run: Callable[[str], None],
        scatter: Callable[[], None],
    ) -> None:
        """Changes elements: `one` that of all lanes, `run` those from an address on."""
        self._three_ways(
            pointer,
            type_,
            mask,
            one=lambda _, address: one(address),
            run=lambda _, address: run(address),
            other=lambda _: scatter(),
        )

    def _three_ways(
        self,
        pointer: Value,
        type_: t.Type,
        mask: Mask,
        one: Callable[[str, str], None],
        run: Callable[[str, str], None],
        other: Callable[[str], None],
    ) -> None:
        """Branches to `run` (with its label and the address of lane 0), `one` or `other`."""
        w, index, lane = self.w, self._index(pointer, type_.size), self._first_lane(mask)
        address = self._address(pointer, lane)
        run_label, rest, same, scattered, end = (w.fresh(n) for n in _WAYS)
        w.do(f"br i1 {self._all(index, lane, index.step, mask)}, label %{run_label}, label %{rest}")
        w.label(run_label)
        run(run_label, self._back(address, lane, type_.size))
        w.do(f"br label %{end}")
        w.label(rest)
        w.do(f"br i1 {self._all(index, lane, 0, mask)}, label %{same}, label %{scattered}")
        w.label(same)
        one(same, address)
        w.do(f"br label %{end}")
        w.label(scattered)
        other(scattered)
        w.do(f"br label %{end}")
        w.label(end)

    def store(
        self,
        pointer: Value,
        type_: t.Type,
        mask: Mask,
        run: Callable[[str], None],
        scatter: Callable[[], None],
    ) -> None:
        w = self.w
        index = self._index(pointer, type_.size)
        lane = self._first_lane(mask)
        address = self._back(self._address(pointer, lane), lane, type_.size)
        run_label, scattered, end = (w.fresh(f"store.{n}") for n in ("run", "scatter", "end"))
        consecutive = self._all(index, lane, index.step, mask)
        w.do(f"br i1 {consecutive}, label %{run_label}, label %{scattered}")
        w.label(run_label)
        run(address)
        w.do(f"br label %{end}")
        w.label(scattered)
        scatter()
        w.do(f"br label %{end}")
        w.label(end)

    # -- pieces ---------------------------------------------------------------------------

    def _index(self, pointer: Value, size: int) -> Index:
        """The varying index of a gep with a uniform base, 32 bits wide if possible; else the
        addresses themselves."""
        if isinstance(pointer, Instr) and pointer.op == "gep":
            varying = [
                (v, s)
                for v, s in zip(pointer.operands, (1, *pointer.arg[:-1]), strict=True)
                if not self.v.shape(v).is_uniform
            ]
            if len(varying) == 1 and varying[0][0] is not pointer.operands[0]:
                value, scale = varying[0]
                if size % scale == 0 and self.v.at_hand(value):
                    if isinstance(value, Instr) and value.op == "sext":
                        narrow = value.operands[0]
                        if narrow.type == t.I32 and self.v.at_hand(narrow):
                            value = narrow
                    return Index(self.v.vector(value), value.type, size // scale)
        wide = self.w.vector(t.I64)
        pointers = f"{self.w.vector(t.PTR)} {self.v.vector(pointer)}"
        return Index(self.w.value(f"ptrtoint {pointers} to {wide}"), t.I64, size)

    def _first_lane(self, mask: Mask) -> str:
        """Number of the lowest active lane, as i32."""
        if mask is None:
            return "0"
        word = f"i{self.w.width}"
        args = [(word, self.masks.bits(mask)), ("i1", "false")]
        first = self.w.call(word, f"llvm.cttz.{word}", args)
        lane = self.w.value(f"and {word} {first}, {self.w.width - 1}")  # any lane if none is active
        return lane if self.w.width == 32 else self.w.value(f"zext {word} {lane} to i32")

    def _address(self, pointer: Value, lane: str) -> str:
        pointers = f"{self.w.vector(t.PTR)} {self.v.vector(pointer)}"
        return self.w.value(f"extractelement {pointers}, i32 {lane}")

    def _back(self, address: str, lane: str, size: int) -> str:
        """From the address of lane `lane` to that of lane 0."""
        if lane == "0":
            return address
        wide = self.w.value(f"zext i32 {lane} to i64")
        offset = self.w.value(f"mul i64 {wide}, {-size}")
        return self.w.value(f"getelementptr i8, ptr {address}, i64 {offset}")

    def _all(self, index: Index, lane: str, step: int, mask: Mask) -> str:
        """Whether all active lanes are `step` apart from their neighbours."""
        w, type_ = self.w, index.type_
        vector = w.vector(type_)
        start = w.value(f"extractelement {vector} {index.vector}, i32 {lane}")
        expected = w.splat(type_, start)
        if step:
            number = lane if type_ == t.I32 else w.value(f"zext i32 {lane} to {type_}")
            back = w.value(f"mul {type_} {number}, {step}") if lane != "0" else "0"
            begin = w.value(f"sub {type_} {start}, {back}")
            expected = w.value(f"add {vector} {w.splat(type_, begin)}, {w.lanes(type_, step)}")
        differ = w.value(f"icmp ne {vector} {index.vector}, {expected}")
        bits = self.masks.bits(self.masks.both(mask, differ))
        return w.value(f"icmp eq i{w.width} {bits}, 0")


_WAYS = ("run", "rest", "same", "scattered", "end")
