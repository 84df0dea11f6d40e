"""Addresses that turn out to be consecutive, or all the same, at run time.

To the compiler `x[base + channel]` is varying if the index has divisions and remainders, yet in
most gangs the elements are neighbours. A comparison tells, for less than a gather costs. So each
varying load becomes "one element, one vector, or gather", each varying store "one vector, or
scatter".
"""

from __future__ import annotations

from collections.abc import Callable

from anymetal.ir import types as t
from anymetal.ir.model import Value
from anymetal.simd.code.addresses import Addresses, addresses_of
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.masks import Mask


class Contiguity(GangEmitter):
    """Emits the tests and the branches."""

    def load(
        self,
        pointer: Value,
        type_: t.Type,
        size: int,
        mask: Mask,
        one: Callable[[str], list[str]],
        run: Callable[[str], list[str]],
        gather: Callable[[Addresses, str], list[str]],
    ) -> list[str]:
        """The loaded vectors, of `size` bytes a lane together. `one` loads the numbers of all lanes
        and `run` vectors from a scalar address, `gather` vectors from all addresses, given the
        number of an active lane."""
        w, ways = self.w, list[tuple[list[str], str]]()

        def note(vectors: list[str]) -> None:
            ways.append((vectors, w.at))

        self.update(
            pointer,
            size,
            mask,
            lambda address: note([w.splat(type_, number) for number in one(address)]),
            lambda address: note(run(address)),
            lambda addresses, lane: note(gather(addresses, lane)),
        )
        found = [
            ", ".join(f"[ {vectors[i]}, %{at} ]" for vectors, at in ways)
            for i in range(len(ways[0][0]))
        ]
        return [w.value(f"phi {w.vector(type_)} {of_ways}") for of_ways in found]

    def update(
        self,
        pointer: Value,
        size: int,
        mask: Mask,
        one: Callable[[str], None],
        run: Callable[[str], None],
        scatter: Callable[[Addresses, str], None],
    ) -> None:
        """Changes elements of `size` bytes: by `one` if all are the same, by `run` if they are
        consecutive, given the address of lane 0, else by `scatter`."""
        w, lane = self.w, self._first_lane(mask)
        addresses = self._addresses(pointer, mask)
        address = addresses.lane(w, lane)
        run_label, rest, same, scattered, end = (w.fresh(n) for n in _WAYS)
        distances = self._distances(addresses, lane)
        consecutive = self._consecutive(addresses, distances, size, lane, mask)
        w.do(f"br i1 {consecutive}, label %{run_label}, label %{rest}")
        w.label(run_label)
        with self.v.apart():
            run(self._back(address, lane, size))
        w.do(f"br label %{end}")
        w.label(rest)
        equal = self._are_zero(addresses.type_, distances, mask)
        w.do(f"br i1 {equal}, label %{same}, label %{scattered}")
        w.label(same)
        with self.v.apart():
            one(address)
        w.do(f"br label %{end}")
        w.label(scattered)
        with self.v.apart():
            scatter(addresses, lane)
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
        w, lane = self.w, self._first_lane(mask)
        addresses = self._addresses(pointer, mask)
        address = self._back(addresses.lane(w, lane), lane, size)
        distances = self._distances(addresses, lane)
        consecutive = self._consecutive(addresses, distances, size, lane, mask)
        names = ("store.run", "store.scatter", "store.end")
        self.two_ways(consecutive, names, lambda: run(address), lambda: scatter(addresses))

    # -- pieces ---------------------------------------------------------------------------

    def _addresses(self, pointer: Value, mask: Mask) -> Addresses:
        addresses = addresses_of(self.w, self.v, pointer)
        return addresses if mask is None else addresses.decided(self.w)

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

    def _distances(self, index: Addresses, lane: str) -> str:
        """How far the numbers of all lanes are from that of an active one."""
        w, vector = self.w, self.w.vector(index.type_)
        start = w.value(f"extractelement {vector} {index.vector}, i32 {lane}")
        return w.value(f"sub {vector} {index.vector}, {w.splat(index.type_, start)}")

    def _consecutive(
        self, addresses: Addresses, distances: str, size: int, lane: str, mask: Mask
    ) -> str:
        """Whether the active lanes have consecutive elements of `size` bytes."""
        w, type_ = self.w, addresses.type_
        step, rest = divmod(size, addresses.scale)
        if rest:
            return "false"
        expected = w.lanes(type_, step)
        if lane != "0":
            number = lane if type_ == t.I32 else w.value(f"zext i32 {lane} to {type_}")
            back = w.splat(type_, w.value(f"mul {type_} {number}, {step}"))
            expected = w.value(f"sub {w.vector(type_)} {expected}, {back}")
        differ = w.value(f"xor {w.vector(type_)} {distances}, {expected}")
        return self._are_zero(type_, differ, mask)

    def _are_zero(self, type_: t.Type, numbers: str, mask: Mask) -> str:
        """Whether the numbers of active lanes are all 0."""
        w, vector = self.w, self.w.vector(type_)
        if mask is not None:
            differ = w.value(f"icmp ne {vector} {numbers}, zeroinitializer")
            return w.value(f"xor i1 {self.masks.any(self.masks.both(mask, differ))}, true")
        callee = f"llvm.vector.reduce.or.v{w.width}{type_}"
        return w.value(f"icmp eq {type_} {w.call(str(type_), callee, [(vector, numbers)])}, 0")


_WAYS = ("run", "rest", "same", "scattered", "end")
