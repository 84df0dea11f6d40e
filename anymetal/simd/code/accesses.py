"""One access of all lanes to memory, with the instructions that the CPU has.

Without a masked instruction for the element's size LLVM would test and branch lane by lane. Then
inactive lanes get a harmless address instead, and all lanes are accessed: no branches, and much
less code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from anymetal.emission.writer import Writer, suffix
from anymetal.ir import types as t
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.machine import LINE


class VectorMemory(Protocol):
    """What a target offers for memory."""

    words: int  #: elements of 4 bytes in a register; 0 if that is not known

    @property
    def swaps_16_bytes(self) -> bool:
        """Whether 16 bytes can be compared and exchanged atomically."""

    def masked(self, operation: str, size: int) -> bool:
        """Whether it has a masked "load" or "store", or a "gather" or "scatter" (which are always
        masked), of elements of `size` bytes."""


class Accesses:
    """Emits vector loads and stores. `address` is that of lane 0 if the lanes are `consecutive`,
    else a vector of addresses."""

    def __init__(self, writer: Writer, masks: Masks, target: VectorMemory) -> None:
        self.w = writer
        self.masks = masks
        self.target = target
        self.unused = ""  #: an array that inactive lanes may read and write

    def load(self, type_: t.Type, address: str, consecutive: bool, align: int, mask: Mask) -> str:
        """The loaded vector; inactive lanes hold anything."""
        w, vector = self.w, self.w.vector(type_)
        if consecutive and mask is None:
            return w.value(f"load {vector}, ptr {address}, align {align}")
        if consecutive and self.target.masked("load", type_.size):
            args = [(f"ptr align {align}", address), (self.masks.type, self.masks.text(mask))]
            callee = f"llvm.masked.load.{suffix(type_, w.width)}.p0"
            return w.call(vector, callee, [*args, (vector, "poison")])
        address, mask = self._pointers("gather", type_, address, consecutive, mask)
        pointers = f"{w.vector(t.PTR)} align {align}"
        args = [(pointers, address), (self.masks.type, self.masks.text(mask)), (vector, "poison")]
        return w.call(vector, f"llvm.masked.gather.{suffix(type_, w.width)}.v{w.width}p0", args)

    def store(
        self, type_: t.Type, name: str, address: str, consecutive: bool, align: int, mask: Mask
    ) -> None:
        """Stores the vector `name`; of lanes with one address the last one wins."""
        w, vector = self.w, self.w.vector(type_)
        if consecutive and mask is None:
            w.do(f"store {vector} {name}, ptr {address}, align {align}")
            return
        if consecutive and self.target.masked("store", type_.size):
            args = [(f"ptr align {align}", address), (self.masks.type, self.masks.text(mask))]
            callee = f"llvm.masked.store.{suffix(type_, w.width)}.p0"
            w.call("void", callee, [(vector, name), *args])
            return
        address, mask = self._pointers("scatter", type_, address, consecutive, mask)
        pointers = f"{w.vector(t.PTR)} align {align}"
        args = [(vector, name), (pointers, address), (self.masks.type, self.masks.text(mask))]
        w.call("void", f"llvm.masked.scatter.{suffix(type_, w.width)}.v{w.width}p0", args)

    def stream(self, type_: t.Type, name: str, address: str, align: int, mask: Mask) -> None:
        """Stores consecutive elements, past the caches where that pays."""

        def usual() -> None:
            self.store(type_, name, address, True, align, mask)

        self.past_caches([(self.w.vector(type_), name, address)], mask, usual)

    def past_caches(
        self, rows: list[tuple[str, str, str]], mask: Mask, usual: Callable[[], None]
    ) -> None:
        """Stores vectors (type, name, address) of whole lines one behind the other, past the caches
        where the launch is large and the first one begins a line, all lanes being active; else as
        `usual`: see simd/access/streaming.py."""
        w = self.w
        number = w.value(f"ptrtoint ptr {rows[0][2]} to i64")
        inside = w.value(f"and i64 {number}, {LINE - 1}")
        whole = w.value(f"icmp eq i64 {inside}, 0")
        wanted = w.value(f"and i1 {whole}, %streaming")
        if mask is not None:
            wanted = w.value(f"and i1 {wanted}, {self.masks.all(mask)}")
        past, other, end = (w.fresh(f"store.{n}") for n in ("past", "usual", "end"))
        w.do(f"br i1 {wanted}, label %{past}, label %{other}")
        w.label(past)
        for spelling, name, address in rows:
            w.do(f"store {spelling} {name}, ptr {address}, align {LINE}, !nontemporal !1")
        w.do(f"br label %{end}")
        w.label(other)
        usual()
        w.do(f"br label %{end}")
        w.label(end)

    def apart(self, address: str, stride: int, offset: int = 0) -> str:
        """The addresses of lanes that are `stride` bytes apart."""
        wide = self.w.vector(t.I64)
        offsets = self.w.numbers(t.I64, [offset + i * stride for i in range(self.w.width)])
        return self.w.value(f"getelementptr i8, ptr {address}, {wide} {offsets}")

    def _pointers(
        self, operation: str, type_: t.Type, address: str, consecutive: bool, mask: Mask
    ) -> tuple[str, Mask]:
        """Addresses and mask of a gather or scatter; no mask where there is no instruction."""
        if consecutive:
            address = self.apart(address, type_.size)
        if mask is None or (not consecutive and self.target.masked(operation, type_.size)):
            return address, mask
        if not self.unused:
            self.unused = self.w.alloca(f"[{self.w.width} x i64]", "unused", 64)
        # Not a splat: LLVM would not notice that a coroutine still needs the array when it goes on.
        vector, other = self.w.vector(t.PTR), self.apart(self.unused, 8)
        safe = f"select {self.masks.type} {mask}, {vector} {address}, {vector} {other}"
        return self.w.value(safe), None
