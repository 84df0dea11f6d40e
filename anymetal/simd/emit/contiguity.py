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
        mask: Mask,
        one: Callable[[str], str],
        run: Callable[[str], str],
        gather: Callable[[Addresses, str], str],
    ) -> str:
        """The loaded vector. `one` and `run` load from a scalar address, `gather` from all
        addresses, given the number of an active lane."""
        results: list[str] = []

        def note(result: str) -> None:
            results.append(f"[ {result}, %{self.w.at} ]")

        self.update(
            pointer,
            type_,
            mask,
            lambda address: note(self.w.splat(type_, one(address))),
            lambda address: note(run(address)),
            lambda addresses, lane: note(gather(addresses, lane)),
        )
        return self.w.value(f"phi {self.w.vector(type_)} {', '.join(results)}")

    def update(
        self,
        pointer: Value,
        type_: t.Type,
        mask: Mask,
        one: Callable[[str], None],
        run: Callable[[str], None],
        scatter: Callable[[Addresses, str], None],
    ) -> None:
        """Changes elements: by `one` if all are the same, by `run` if they are consecutive, given
        the address of lane 0, else by `scatter`."""
        w, lane = self.w, self._first_lane(mask)
        addresses = self._addresses(pointer, mask)
        address = addresses.lane(w, lane)
        run_label, rest, same, scattered, end = (w.fresh(n) for n in _WAYS)
        consecutive = self._consecutive(addresses, type_.size, lane, mask)
        w.do(f"br i1 {consecutive}, label %{run_label}, label %{rest}")
        w.label(run_label)
        with self.v.apart():
            run(self._back(address, lane, type_.size))
        w.do(f"br label %{end}")
        w.label(rest)
        equal = self._all(addresses, lane, 0, mask)
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
        type_: t.Type,
        mask: Mask,
        run: Callable[[str], None],
        scatter: Callable[[str], None],
    ) -> None:
        """Stores by `run` from an address on, or by `scatter` to all addresses."""
        w, lane = self.w, self._first_lane(mask)
        addresses = self._addresses(pointer, mask)
        address = self._back(addresses.lane(w, lane), lane, type_.size)
        consecutive = self._consecutive(addresses, type_.size, lane, mask)
        names = ("store.run", "store.scatter", "store.end")
        self.two_ways(
            consecutive, names, lambda: run(address), lambda: scatter(addresses.pointers(w))
        )

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

    def _consecutive(self, addresses: Addresses, size: int, lane: str, mask: Mask) -> str:
        """Whether the active lanes have consecutive elements of `size` bytes."""
        step = size // addresses.scale
        return "false" if size % addresses.scale else self._all(addresses, lane, step, mask)

    def _all(self, index: Addresses, lane: str, step: int, mask: Mask) -> str:
        """Whether the numbers of active lanes grow by `step` from lane to lane."""
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
