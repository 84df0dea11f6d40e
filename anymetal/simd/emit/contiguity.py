"""Addresses that turn out to be consecutive, close together, or all the same, at run time.

To the compiler `x[base + channel]` is varying if the index has divisions and remainders, yet in
most gangs the elements are neighbours. Comparisons tell, for less than a gather costs. So each
varying load becomes "one vector, one element, a window of some vectors where the processor gains by
them (window.py), or gather", each varying store "one vector, or scatter".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anymetal.ir import types as t
from anymetal.ir.model import Value
from anymetal.simd.code.addresses import Addresses, addresses_of
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.emit.window import Neighbours, Window, Windows


class _Lanes(NamedTuple):
    """The addresses of all lanes, seen from the first active one."""

    addresses: Addresses
    first: str  #: the number of that lane
    address: str  #: its address
    distances: str  #: of all lanes from it, in steps of the addresses
    mask: Mask


class _Way(NamedTuple):
    """One of the ways in which lanes' elements may lie."""

    name: str
    condition: Callable[[], str]  #: emits the question; if there is none, nothing else is left
    emit: Callable[[str], None] | None  #: given the first active lane's address; None: as scattered


class Contiguity(GangEmitter):
    """Emits the tests and the branches."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.windows = Windows(c)

    def load(
        self,
        pointer: Value,
        neighbours: Neighbours,
        mask: Mask,
        one: Callable[[str], list[str]],
        run: Callable[[str], list[str]],
        gather: Callable[[Addresses, str], list[str]],
    ) -> list[str]:
        """The loaded vectors, one for each of a lane's neighbours. `one` loads the numbers of all
        lanes and `run` vectors from a scalar address, `gather` vectors from all addresses, given
        the number of an active lane."""
        addresses = self._addresses(pointer, mask)
        # A mask would ask for the last active lane, at the cost of all loads in divergent loops.
        table = None if mask else self.windows.of_table(neighbours, addresses)
        if table:
            return self._in_table(table, addresses)
        window = None if mask else self.windows.of(neighbours, addresses)
        lanes, w, type_ = self._lanes(addresses, mask), self.w, neighbours.type_
        found = list[tuple[list[str], str]]()

        def note(vectors: list[str]) -> None:
            found.append((vectors, w.at))

        same = _Way(
            "same",
            lambda: self._all_same(lanes),
            lambda address: note([w.splat(type_, number) for number in one(address)]),
        )
        self._emit(
            lanes,
            type_.size * neighbours.number,
            lambda address: note(run(address)),
            self._with_window(window, lanes, same, note) if window else [same],
            lambda: note(gather(addresses, lanes.first)),
        )
        phis = [
            ", ".join(f"[ {vectors[i]}, %{at} ]" for vectors, at in found)
            for i in range(neighbours.number)
        ]
        return [w.value(f"phi {w.vector(type_)} {phi}") for phi in phis]

    def _with_window(
        self, window: Window, lanes: _Lanes, same: _Way, note: Callable[[list[str]], None]
    ) -> list[_Way]:
        """The ways of elements that are the same or in a window."""
        w, steps, last = self.w, lanes.addresses.type_, self._last(lanes)

        def load(address: str) -> None:
            note(self.windows.load(window, address, steps, lanes.distances, last))

        return [
            # The last lane alone tells most that are scattered.
            _Way("far", lambda: w.value(f"icmp ugt {steps} {last}, {window.most}"), None),
            same,
            _Way("beyond", lambda: self._beyond(lanes, last), None),
            _Way("window", lambda: "", load),
        ]

    def _in_table(self, window: Window, addresses: Addresses) -> list[str]:
        """The loaded vectors, where no index is beyond a window: elements from the lowest to the
        highest one."""
        w, type_ = self.w, addresses.type_
        vector = w.vector(type_)
        low, high = (
            w.call(
                f"{type_}",
                f"llvm.vector.reduce.{how}.v{w.width}{type_}",
                [(vector, addresses.vector)],
            )
            for how in ("umin", "umax")
        )
        distances = w.value(f"sub {vector} {addresses.vector}, {w.splat(type_, low)}")
        last = w.value(f"sub {type_} {high}, {low}")
        return self.windows.load(window, addresses.of(w, low), type_, distances, last)

    def update(
        self,
        pointer: Value,
        size: int,
        mask: Mask,
        one: Callable[[str], None],
        run: Callable[[str], None],
        scatter: Callable[[], None],
    ) -> None:
        """Changes elements of `size` bytes: by `run` if they are consecutive, given the address of
        lane 0, by `one` if all are the same, else by `scatter`."""
        lanes = self._lanes(self._addresses(pointer, mask), mask)
        self._emit(lanes, size, run, [_Way("same", lambda: self._all_same(lanes), one)], scatter)

    def _emit(
        self,
        lanes: _Lanes,
        size: int,
        run: Callable[[str], None],
        ways: list[_Way],
        scattered: Callable[[], None],
    ) -> None:
        """Elements of `size` bytes that follow each other, those of other ways, and all others."""
        w, end, elsewhere = self.w, self.w.fresh("end"), self.w.fresh("scattered")
        consecutive = _Way(
            "run",
            lambda: self._consecutive(lanes, size),
            lambda address: run(self._back(address, lanes.first, size)),
        )
        for way in (consecutive, *ways):
            condition = way.condition()
            label, rest = w.fresh(way.name) if way.emit else elsewhere, w.fresh("rest")
            w.do(f"br i1 {condition or 'true'}, label %{label}, label %{rest}")
            if way.emit:
                w.label(label)
                with self.v.apart():
                    way.emit(lanes.address)
                w.do(f"br label %{end}")
            w.label(rest)
        w.do(f"br label %{elsewhere}")
        w.label(elsewhere)
        with self.v.apart():
            scattered()
        w.do(f"br label %{end}")
        w.label(end)

    def store(
        self,
        pointer: Value,
        size: int,
        mask: Mask,
        run: Callable[[str], None],
        scatter: Callable[[Addresses], None],
    ) -> None:
        """Stores `size` bytes a lane: by `run` from an address on, or by `scatter` to all."""
        lanes = self._lanes(self._addresses(pointer, mask), mask)
        address = self._back(lanes.address, lanes.first, size)
        self.two_ways(
            self._consecutive(lanes, size),
            ("store.run", "store.scatter", "store.end"),
            lambda: run(address),
            lambda: scatter(lanes.addresses),
        )

    # -- pieces ---------------------------------------------------------------------------

    def _addresses(self, pointer: Value, mask: Mask) -> Addresses:
        addresses = addresses_of(self.w, self.v, pointer)
        return addresses if mask is None else addresses.decided(self.w)

    def _lanes(self, addresses: Addresses, mask: Mask) -> _Lanes:
        w, first = self.w, self._first_lane(mask)
        address = addresses.lane(w, first)
        vector = w.vector(addresses.type_)
        start = w.value(f"extractelement {vector} {addresses.vector}, i32 {first}")
        start = w.splat(addresses.type_, start)
        distances = w.value(f"sub {vector} {addresses.vector}, {start}")
        return _Lanes(addresses, first, address, distances, mask)

    def _first_lane(self, mask: Mask) -> str:
        """Number of the lowest active lane, as i32."""
        if mask is None:
            return "0"
        word = f"i{self.w.width}"
        args = [(word, self.masks.bits(mask)), ("i1", "false")]
        first = self.w.call(word, f"llvm.cttz.{word}", args)
        lane = self.w.value(f"and {word} {first}, {self.w.width - 1}")  # any lane if none is active
        return self.masks.as_i32(lane)

    def _back(self, address: str, lane: str, size: int) -> str:
        """The address of lane 0, given that of another lane in a run."""
        if lane == "0":
            return address
        wide = self.w.value(f"zext i32 {lane} to i64")
        offset = self.w.value(f"mul i64 {wide}, {-size}")
        return self.w.value(f"getelementptr i8, ptr {address}, i64 {offset}")

    def _consecutive(self, lanes: _Lanes, size: int) -> str:
        """Whether the active lanes have consecutive elements of `size` bytes."""
        w, type_, lane = self.w, lanes.addresses.type_, lanes.first
        step, rest = divmod(size, lanes.addresses.scale)
        if rest:
            return "false"
        expected = w.lanes(type_, step)
        if lane != "0":
            number = lane if type_ == t.I32 else w.value(f"zext i32 {lane} to {type_}")
            back = w.splat(type_, w.value(f"mul {type_} {number}, {step}"))
            expected = w.value(f"sub {w.vector(type_)} {expected}, {back}")
        differ = w.value(f"xor {w.vector(type_)} {lanes.distances}, {expected}")
        return self._are_zero(type_, differ, lanes.mask)

    def _all_same(self, lanes: _Lanes) -> str:
        """Whether the active lanes have one element."""
        return self._are_zero(lanes.addresses.type_, lanes.distances, lanes.mask)

    def _beyond(self, lanes: _Lanes, last: str) -> str:
        """Whether some lane is in front of the first one or behind the last one."""
        w, type_ = self.w, lanes.addresses.type_
        limit = w.splat(type_, last)
        return self.masks.any(w.value(f"icmp ugt {w.vector(type_)} {lanes.distances}, {limit}"))

    def _last(self, lanes: _Lanes) -> str:
        """The distance of the last lane."""
        vector = self.w.vector(lanes.addresses.type_)
        return self.w.value(f"extractelement {vector} {lanes.distances}, i32 {self.w.width - 1}")

    def _are_zero(self, type_: t.Type, numbers: str, mask: Mask) -> str:
        """Whether the numbers of active lanes are all 0."""
        w, vector = self.w, self.w.vector(type_)
        if mask is not None:
            differ = w.value(f"icmp ne {vector} {numbers}, zeroinitializer")
            return w.value(f"xor i1 {self.masks.any(self.masks.both(mask, differ))}, true")
        callee = f"llvm.vector.reduce.or.v{w.width}{type_}"
        return w.value(f"icmp eq {type_} {w.call(str(type_), callee, [(vector, numbers)])}, 0")
