"""Single accesses of all lanes to memory, with the instructions that the CPU has.

Where the CPU has no masked instruction for the element's size, LLVM would test and branch lane by
lane. Instead, inactive lanes get a harmless address and all lanes are accessed: no branches, and
much less code.
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.emission.writer import Writer, suffix
from anymetal.ir import types as t
from anymetal.machine import Machine
from anymetal.simd.code.addresses import Addresses
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.code.shared import shared


class Accesses:
    """Emits vector loads and stores. `address` is that of lane 0 if the lanes are `consecutive`,
    else a vector of addresses."""

    def __init__(self, writer: Writer, masks: Masks, machine: Machine) -> None:
        self.w = writer
        self.masks = masks
        self.machine = machine
        self.unused = ""  #: an array that inactive lanes may read and write

    def load(self, type_: t.Type, address: str, consecutive: bool, align: int, mask: Mask) -> str:
        """The loaded vector, with anything in inactive lanes."""
        w, vector = self.w, self.w.vector(type_)
        if consecutive and mask is None:
            return w.value(f"load {vector}, ptr {address}, align {align}")
        if consecutive and self.machine.masked("load", type_.size):
            return self.load_row(type_, w.width, address, align, self.masks.text(mask))
        if self._takes_apart("gather", type_):
            return self._load_apart(type_, address, consecutive, align, mask)
        address, mask = self._pointers("gather", type_, address, consecutive, mask)
        return _gather(w, type_, address, align, self.masks.text(mask))

    def store(
        self, type_: t.Type, name: str, address: str, consecutive: bool, align: int, mask: Mask
    ) -> None:
        """Stores the vector `name`. Of lanes with one address, the last one wins."""
        w, vector = self.w, self.w.vector(type_)
        if consecutive and mask is None:
            w.do(f"store {vector} {name}, ptr {address}, align {align}")
            return
        if consecutive and self.machine.masked("store", type_.size):
            self.store_row(type_, w.width, name, address, align, self.masks.text(mask))
            return
        if self._takes_apart("scatter", type_):
            self._store_apart(type_, name, address, consecutive, align, mask)
            return
        address, mask = self._pointers("scatter", type_, address, consecutive, mask)
        _scatter(w, type_, name, address, align, self.masks.text(mask))

    def load_row(self, type_: t.Type, length: int, address: str, align: int, mask: str) -> str:
        """`length` elements of a row, anything in those that are not active; for machines that have
        masks for it."""
        row = f"<{length} x {type_}>"
        args = [(f"ptr align {align}", address), (f"<{length} x i1>", mask), (row, "poison")]
        return self.w.call(row, f"llvm.masked.load.{suffix(type_, length)}.p0", args)

    def store_row(
        self, type_: t.Type, length: int, name: str, address: str, align: int, mask: str
    ) -> None:
        """Stores the active elements of such a row."""
        args = [(f"<{length} x {type_}>", name), (f"ptr align {align}", address)]
        callee = f"llvm.masked.store.{suffix(type_, length)}.p0"
        self.w.call("void", callee, [*args, (f"<{length} x i1>", mask)])

    def load_turned(self, type_: t.Type, address: str, align: int, mask: Mask) -> str:
        """The loaded vector of elements that lie before each other; lane 0 has the last one."""
        first, mask = self._beginning(type_, address), self.masks.turned(mask)
        return self._turned(type_, self.load(type_, first, True, align, mask))

    def store_turned(self, type_: t.Type, name: str, address: str, align: int, mask: Mask) -> None:
        """Stores the vector `name` to elements that lie before each other, lane 0 to the last."""
        first, mask = self._beginning(type_, address), self.masks.turned(mask)
        self.store(type_, self._turned(type_, name), first, True, align, mask)

    def _beginning(self, type_: t.Type, address: str) -> str:
        distance = -type_.size * (self.w.width - 1)
        return self.w.value(f"getelementptr i8, ptr {address}, i64 {distance}")

    def _turned(self, type_: t.Type, vector: str) -> str:
        return self.w.shuffle(self.w.vector(type_), list(range(self.w.width))[::-1], vector)

    def stream(self, type_: t.Type, name: str, address: str, align: int, mask: Mask) -> None:
        """Stores consecutive elements; bypasses the caches where that pays."""

        def usual() -> None:
            self.store(type_, name, address, True, align, mask)

        self.past_caches([(self.w.vector(type_), name, address)], mask, usual)

    def past_caches(
        self, rows: list[tuple[str, str, str]], mask: Mask, usual: Callable[[], None]
    ) -> None:
        """Stores vectors (type, name, address) of consecutive whole lines, bypassing the caches if
        the launch is large, the first vector begins a line and all lanes are active; else as
        `usual`. See simd/access/streaming.py."""
        w, line = self.w, self.machine.line
        number = w.value(f"ptrtoint ptr {rows[0][2]} to i64")
        inside = w.value(f"and i64 {number}, {line - 1}")
        whole = w.value(f"icmp eq i64 {inside}, 0")
        wanted = w.value(f"and i1 {whole}, %streaming")
        if mask is not None:
            wanted = w.value(f"and i1 {wanted}, {self.masks.all(mask)}")

        def past() -> None:
            for spelling, name, address in rows:
                w.do(f"store {spelling} {name}, ptr {address}, align {line}, !nontemporal !1")

        w.two_ways(wanted, ("store.past", "store.usual", "store.end"), past, usual)

    def only_active(self, addresses: Addresses, mask: Mask) -> list[str]:
        """The address of each lane; of one that is not active, that of 16 bytes that nobody
        uses."""
        w = self.w
        if mask is None:
            return addresses.lanes(w)
        word = f"i{w.width}"
        safe = _safe(w, addresses.pointers(w), self.masks.text(mask), self._unused())
        return [
            w.value(f"extractelement {w.vector(t.PTR)} {safe}, {word} {lane}")
            for lane in range(w.width)
        ]

    def apart(self, address: str, stride: int, offset: int = 0) -> str:
        """The addresses of lanes that are `stride` bytes apart."""
        return _apart(self.w, address, stride, offset)

    def _pointers(
        self, operation: str, type_: t.Type, address: str, consecutive: bool, mask: Mask
    ) -> tuple[str, Mask]:
        """Addresses and mask for a gather or scatter; all lanes if the CPU has none."""
        w = self.w
        if consecutive:
            address = _apart(w, address, type_.size)
        if mask is None or (not consecutive and self.machine.masked(operation, type_.size)):
            return address, mask
        return _safe(w, address, mask, self._unused()), None

    def _unused(self) -> str:
        if not self.unused:
            # One more at the end: the last lane may load or store 16 bytes.
            self.unused = self.w.alloca(f"[{self.w.width + 1} x i64]", "unused", 64)
        return self.unused

    # -- one lane after the other ----------------------------------------------------------

    def _takes_apart(self, operation: str, type_: t.Type) -> bool:
        """Whether the processor has no such gathers or scatters, and LLVM accesses each lane."""
        return not self.machine.masked(operation, type_.size)

    def gather(self, type_: t.Type, addresses: Addresses, lane: str, align: int, mask: Mask) -> str:
        """The loaded vector, where lane number `lane` is certain to be active."""
        w = self.w
        if not self._takes_apart("gather", type_) or addresses.whole:
            return self.load(type_, addresses.pointers(w), False, align, mask)
        index, spelling = addresses.vector, w.vector(addresses.type_)
        if mask is not None:
            active = w.value(f"extractelement {spelling} {index}, i32 {lane}")
            others = w.splat(addresses.type_, active)
            index = w.value(
                f"select {self.masks.type} {mask}, {spelling} {index}, {spelling} {others}"
            )

        def body(inner: Writer, names: list[str]) -> str:
            own = addresses._replace(base=names[0], vector=names[1])
            result = "poison"
            for lane, pointer in enumerate(own.lanes(inner)):
                one = inner.value(f"load {type_}, ptr {pointer}, align {align}")
                result = inner.value(
                    f"insertelement {inner.vector(type_)} {result}, {type_} {one}, i64 {lane}"
                )
            return result

        given = [("ptr", addresses.base), (spelling, index)]
        return shared(w, f"gather.{_kind(type_, addresses, align)}", w.vector(type_), given, body)

    def scatter(
        self, type_: t.Type, name: str, addresses: Addresses, align: int, mask: Mask
    ) -> None:
        """Stores the vector `name`. Of lanes with one address, the last one wins."""
        w = self.w
        if not self._takes_apart("scatter", type_) or addresses.whole or mask is not None:
            self.store(type_, name, addresses.pointers(w), False, align, mask)
            return

        def body(inner: Writer, names: list[str]) -> str:
            own = addresses._replace(base=names[1], vector=names[2])
            for lane, pointer in enumerate(own.lanes(inner)):
                one = inner.value(f"extractelement {inner.vector(type_)} {names[0]}, i64 {lane}")
                inner.do(f"store {type_} {one}, ptr {pointer}, align {align}")
            return ""

        given = [
            (w.vector(type_), name),
            ("ptr", addresses.base),
            (w.vector(addresses.type_), addresses.vector),
        ]
        shared(w, f"scatter.{_kind(type_, addresses, align)}", "void", given, body)

    def _load_apart(
        self, type_: t.Type, address: str, consecutive: bool, align: int, mask: Mask
    ) -> str:
        def body(inner: Writer, names: list[str]) -> str:
            pointers = _each(inner, type_, names, consecutive)
            return _gather(inner, type_, pointers, align, "splat (i1 true)")

        kind, given = self._apart_places(address, consecutive, mask)
        return shared(self.w, f"load.{kind}{type_}.{align}", self.w.vector(type_), given, body)

    def _store_apart(
        self, type_: t.Type, name: str, address: str, consecutive: bool, align: int, mask: Mask
    ) -> None:
        def body(inner: Writer, names: list[str]) -> str:
            pointers = _each(inner, type_, names[1:], consecutive)
            _scatter(inner, type_, names[0], pointers, align, "splat (i1 true)")
            return ""

        kind, places = self._apart_places(address, consecutive, mask)
        given = [(self.w.vector(type_), name), *places]
        shared(self.w, f"store.{kind}{type_}.{align}", "void", given, body)

    def _apart_places(
        self, address: str, consecutive: bool, mask: Mask
    ) -> tuple[str, list[tuple[str, str]]]:
        """What tells a shared function where the lanes' elements are: a part of its name and its
        arguments."""
        kind = "run." if consecutive else ""
        given = [("ptr" if consecutive else self.w.vector(t.PTR), address)]
        if mask is not None:
            kind += "masked."
            # As a number: LLVM would pass a vector of i1 lane by lane.
            given += [(f"i{self.w.width}", self.masks.bits(mask)), ("ptr", self._unused())]
        return kind, given


def _kind(type_: t.Type, addresses: Addresses, align: int) -> str:
    """What tells functions for such addresses apart."""
    return f"{type_}.{addresses.type_}.{addresses.scale}.{align}"


def _each(w: Writer, type_: t.Type, given: list[str], consecutive: bool) -> str:
    """The address of each lane, from one or many, perhaps with a mask and the unused array."""
    addresses = _apart(w, given[0], type_.size) if consecutive else given[0]
    if len(given) == 1:
        return addresses
    mask = w.value(f"bitcast i{w.width} {given[1]} to {w.vector(t.I1)}")
    return _safe(w, addresses, mask, given[2])


def _safe(w: Writer, addresses: str, mask: str, unused: str) -> str:
    """Gives inactive lanes places in an unused array. They are not all one place: then LLVM would
    not see that a coroutine needs the array after it has waited."""
    vector, other = w.vector(t.PTR), _apart(w, unused, 8)
    choice = f"select {w.vector(t.I1)} {mask}, {vector} {addresses}, {vector} {other}"
    return w.value(choice)


def _apart(w: Writer, address: str, stride: int, offset: int = 0) -> str:
    offsets = w.numbers(t.I64, [offset + i * stride for i in range(w.width)])
    return w.value(f"getelementptr i8, ptr {address}, {w.vector(t.I64)} {offsets}")


def _gather(w: Writer, type_: t.Type, pointers: str, align: int, mask: str) -> str:
    vector = w.vector(type_)
    places = (f"{w.vector(t.PTR)} align {align}", pointers)
    callee = f"llvm.masked.gather.{suffix(type_, w.width)}.v{w.width}p0"
    return w.call(vector, callee, [places, (w.vector(t.I1), mask), (vector, "poison")])


def _scatter(w: Writer, type_: t.Type, name: str, pointers: str, align: int, mask: str) -> None:
    vector = w.vector(type_)
    places = (f"{w.vector(t.PTR)} align {align}", pointers)
    callee = f"llvm.masked.scatter.{suffix(type_, w.width)}.v{w.width}p0"
    w.call("void", callee, [(vector, name), places, (w.vector(t.I1), mask)])
