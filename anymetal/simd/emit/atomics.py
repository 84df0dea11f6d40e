"""Atomic operations of a gang, with as few locked instructions as possible.

Threadgroup memory belongs to one worker thread, which runs one gang at a time: atomic operations
there are plain ones. In device memory, lanes that update one address are combined first, and float
additions to a run of elements go four at a time. Everything else goes lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from anymetal.analysis.flow import used
from anymetal.analysis.objects import origins
from anymetal.emission.writer import suffix
from anymetal.ir import types as t
from anymetal.ir.model import Argument, Instr
from anymetal.simd import questions
from anymetal.simd.access.privatised_sums import Sums
from anymetal.simd.access.strategies import (
    REDUCIBLE,
    AtomicStrategy,
    atomic_strategy,
    is_plain,
    is_run,
)
from anymetal.simd.code.gang_context import GangContext, GangEmitter
from anymetal.simd.code.masks import Mask
from anymetal.simd.emit.additions import add_exclusive, add_one, add_run
from anymetal.simd.emit.contiguity import Contiguity
from anymetal.simd.emit.each_lane import EachLane
from anymetal.simd.lanes.reductions import reduce_lanes, scan_lanes


class Atomics(GangEmitter):
    """Emits atomicrmw, cmpxchg and atomic loads from addresses that differ between lanes."""

    def __init__(self, c: GangContext) -> None:
        super().__init__(c)
        self.contiguity, self.each_lane = Contiguity(c), EachLane(c)
        self.origins, self.used = c.known(origins), c.known(used)
        self.sums = c.known(questions.privatised_sums)
        self.accumulations = c.known(questions.accumulations)
        self.under_locks = c.known(questions.under_locks)
        self.together = c.known(questions.added_together)

    def load(self, instr: Instr, mask: Mask) -> None:
        def one(_: Instr, names: list[str]) -> str:
            access = f"ptr {names[0]} monotonic, align {instr.arg.align}"
            return self.w.value(f"load atomic {instr.type}, {access}")

        self.each_lane.emit(instr, mask, instr.operands, one)

    def update(self, instr: Instr, mask: Mask) -> None:
        """An atomicrmw or cmpxchg."""
        if instr in self.together:
            self._add_together(instr, mask)
            return
        sums = self._sums_of(instr)
        if sums is None:
            self._update(instr, mask)
            return
        runs = [self.v.scalar(instr.operands[0])] if is_run(instr, self.v.shapes) else []
        self._where(
            sums, runs,
            lambda: self._add_to_sums(instr, mask, sums), lambda: self._update(instr, mask),
        )  # fmt: skip

    def _update(self, instr: Instr, mask: Mask) -> None:
        one = self._one(instr)
        strategy = self.strategy(instr)
        if strategy is AtomicStrategy.COMBINED:
            one(instr, [self.v.scalar(instr.operands[0]), self._total(instr, mask)])
        elif strategy is AtomicStrategy.COUNTED:
            self._counted(instr, mask, one)
        elif strategy is AtomicStrategy.SIDE_BY_SIDE:
            self._side_by_side(instr, self.v.scalar(instr.operands[0]), mask)
        elif strategy is AtomicStrategy.LANES:
            cheap = one == self._plain and instr not in self.used
            emit = self.each_lane.emit_all if cheap else self.each_lane.emit
            emit(instr, mask, instr.operands, one)
        else:
            self._add_floats(instr, mask, strategy)

    def strategy(self, instr: Instr) -> AtomicStrategy:
        """The strategy of an atomicrmw or cmpxchg of all lanes is done."""
        swaps = self.machine.swaps_16_bytes
        return atomic_strategy(instr, self.v.shapes, self.origins, self.used, swaps)

    # -- one lane -------------------------------------------------------------------------

    def _one(self, instr: Instr) -> Callable[[Instr, list[str]], str]:
        if is_plain(instr, self.origins):
            return self._plain
        return self._accumulated if instr in self.accumulations else self._locked

    def _accumulated(self, instr: Instr, names: list[str]) -> str:
        add_one(self.w, names[0], names[1], instr in self.under_locks)
        return "poison"  # the old value has no use

    def _locked(self, instr: Instr, names: list[str]) -> str:
        type_ = instr.operands[1].type
        if instr.op == "cmpxchg":
            values = f"ptr {names[0]}, {type_} {names[1]}, {type_} {names[2]}"
            return self.w.value(f"cmpxchg {values} monotonic monotonic, align {instr.arg.align}")
        operation, access = instr.arg
        volatile = "volatile " if access.volatile else ""
        target = f"ptr {names[0]}, {type_} {names[1]}"
        return self.w.value(
            f"atomicrmw {volatile}{operation} {target} monotonic, align {access.align}"
        )

    def _plain(self, instr: Instr, names: list[str]) -> str:
        """The operation without atomics, where no other thread runs at the same time."""
        w, type_ = self.w, instr.operands[1].type
        align = (instr.arg if instr.op == "cmpxchg" else instr.arg[1]).align
        old = w.value(f"load {type_}, ptr {names[0]}, align {align}")
        if instr.op == "cmpxchg":
            same = w.value(f"icmp eq {type_} {old}, {names[1]}")
            new = w.value(f"select i1 {same}, {type_} {names[2]}, {type_} {old}")
        else:
            new = self._operation(instr.arg[0], type_, 0, old, names[1])
        w.do(f"store {type_} {new}, ptr {names[0]}, align {align}")
        if instr.op == "atomicrmw":
            return old
        pair = w.value(f"insertvalue {instr.type} poison, {type_} {old}, 0")
        return w.value(f"insertvalue {instr.type} {pair}, i1 {same}, 1")

    def _operation(self, operation: str, type_: t.Type, width: int, old: str, value: str) -> str:
        """`old operation value`, for scalars (width 0) or vectors."""
        spelling = f"<{width} x {type_}>" if width else str(type_)
        if operation == "xchg":
            return value
        if operation.endswith(("min", "max")):
            args = [(spelling, old), (spelling, value)]
            name = operation if operation.startswith("u") else f"s{operation}"
            return self.w.call(spelling, f"llvm.{name}.{suffix(type_, width)}", args)
        return self.w.value(f"{operation} {spelling} {old}, {value}")

    # -- a worker's own sums --------------------------------------------------------------

    def _sums_of(self, instr: Instr) -> Sums | None:
        """The worker's own array for the array that an operation changes, if it may have one."""
        origins = self.origins.get(instr.operands[0], frozenset())
        return next(
            (self.sums[o] for o in origins if isinstance(o, Argument) and o in self.sums), None
        )

    def _where(
        self, sums: Sums, runs: list[str], own: Callable[[], None], shared: Callable[[], None]
    ) -> None:
        """Adds to the worker's `own` array or to the one that is `shared`. `runs`: the addresses of
        neighbours that are added to at once, if they are; the worker's array has room for all that
        have an element of the array."""
        wanted = self.w.value("icmp ne ptr %sums, null")
        for run in () if sums.bins else runs:
            wanted = self.w.value(f"and i1 {wanted}, {self._reaches(sums, run)}")
        self.two_ways(wanted, ("sums.own", "sums.shared", "sums.end"), own, shared)

    def _distance(self, sums: Sums, address: str) -> str:
        """How many bytes behind the beginning of the shared array an address is."""
        w = self.w
        base = w.value(f"ptrtoint ptr {self.v.scalar(sums.argument)} to i64")
        place = w.value(f"ptrtoint ptr {address} to i64")
        return w.value(f"sub i64 {place}, {base}")

    def _place(self, sums: Sums, address: str) -> str:
        """The place in the worker's array for an address of the shared one, or of a run that has
        elements of it."""
        w = self.w
        array = w.value(f"getelementptr i8, ptr %sums, i64 {sums.offset}")
        return w.value(f"getelementptr i8, ptr {array}, i64 {self._distance(sums, address)}")

    def _in_sums(self, sums: Sums, address: str) -> str:
        """The same for any address of an element: it stays if it is beyond the array."""
        w, place = self.w, self._place(sums, address)
        if sums.bins:
            return place
        inside = w.value(f"icmp ult i64 {self._distance(sums, address)}, %sums.bytes")
        return w.value(f"select i1 {inside}, ptr {place}, ptr {address}")

    def _add_to_sums(self, instr: Instr, mask: Mask, sums: Sums) -> None:
        """Adds to the worker's own array, which nobody else uses."""
        pointer = instr.operands[0]
        strategy = self.strategy(instr)
        if strategy is AtomicStrategy.COMBINED:
            address = self._in_sums(sums, self.v.scalar(pointer))
            self._plain(instr, [address, self._total(instr, mask)])
        elif is_run(instr, self.v.shapes):
            self._side_by_side(instr, self._place(sums, self.v.scalar(pointer)), mask)
        else:
            plain = partial(self._plain_in_sums, sums)
            self.each_lane.emit_all(instr, mask, instr.operands, plain)

    def _reaches(self, sums: Sums, run: str) -> str:
        """Whether an element of a run is one of the array's."""
        w, before = self.w, (self.w.width - 1) * sums.type.size
        end = w.value(f"add i64 {self._distance(sums, run)}, {before}")
        all_ends = w.value(f"add i64 %sums.bytes, {before}")
        return w.value(f"icmp ult i64 {end}, {all_ends}")

    def _plain_in_sums(self, sums: Sums, instr: Instr, names: list[str]) -> str:
        return self._plain(instr, [self._in_sums(sums, names[0]), *names[1:]])

    # -- several lanes --------------------------------------------------------------------

    def _total(self, instr: Instr, mask: Mask) -> str:
        """What all lanes add to one address, or the like, if the old value has no use."""
        kind, identity = REDUCIBLE[instr.arg[0]]
        type_, value = instr.type, instr.operands[1]
        if self.v.shape(value).is_uniform:
            return self._total_of_one(kind, type_, self.v.scalar(value), mask)
        if isinstance(type_, t.Int):
            limit = 1 << (type_.bits - 1)
            identity = {"MIN": str(-limit), "MAX": str(limit - 1)}.get(identity, identity)
        vector = self.masks.blend(type_, self.v.vector(value), identity, mask)
        return reduce_lanes(self.w, kind, type_, vector)

    def _total_of_one(self, kind: str, type_: t.Type, value: str, mask: Mask) -> str:
        """The same if all lanes have one value; mostly one lane is active, and LLVM sees that."""
        w = self.w
        if kind not in ("add", "xor", "fadd"):
            return value
        lanes = self.masks.count(mask)
        if kind == "xor":
            lanes = w.value(f"and i32 {lanes}, 1")
        if type_.is_float:
            times = w.value(f"uitofp i32 {lanes} to {type_}")
            return w.value(f"fmul {type_} {value}, {times}")
        if type_ != t.I32:
            lanes = w.value(f"{'zext' if type_.size > 4 else 'trunc'} i32 {lanes} to {type_}")
        return w.value(f"mul {type_} {value}, {lanes}")

    def _counted(self, instr: Instr, mask: Mask, one: Callable[[Instr, list[str]], str]) -> None:
        """All lanes add to one counter. The old value of each follows from those of the lanes
        before it, as if they had come in order."""
        w, type_ = self.w, instr.type
        vector = self.masks.blend(type_, self.v.vector(instr.operands[1]), "0", mask)
        before = scan_lanes(w, "add", type_, vector, True, self.machine)
        total = reduce_lanes(w, "add", type_, vector)
        old = w.splat(type_, one(instr, [self.v.scalar(instr.operands[0]), total]))
        self.v.define(instr, vector=w.value(f"add {w.vector(type_)} {old}, {before}"))

    def _side_by_side(self, instr: Instr, address: str, mask: Mask) -> None:
        """A plain operation on a run of elements, in memory of this thread alone."""
        operation, access = instr.arg
        type_ = instr.type
        old = self.accesses.load(type_, address, True, access.align, mask)
        value = self.v.vector(instr.operands[1])
        new = self._operation(operation, type_, self.w.width, old, value)
        self.accesses.store(type_, new, address, True, access.align, mask)
        self.v.define(instr, vector=old)

    def _add_floats(self, instr: Instr, mask: Mask, strategy: AtomicStrategy) -> None:
        """Additions in any order, as old values have no use: to neighbours or anywhere."""
        pointer = instr.operands[0]
        vector = self.v.vector(instr.operands[1])
        if strategy is AtomicStrategy.ADDED_RUN:
            self.add_neighbours(instr, self.v.scalar(pointer), vector, mask)
            return
        single = self._one(instr)

        def combined(address: str) -> None:
            single(instr, [address, self._total(instr, mask)])

        self.contiguity.update(
            pointer,
            t.FLOAT.size,
            mask,
            one=combined,
            run=lambda address: self.add_neighbours(instr, address, vector, mask),
            scatter=lambda: self.each_lane.emit(instr, mask, instr.operands, single),
        )

    def adds_neighbours(self, instr: Instr) -> bool:
        """Whether `add_neighbours` can do this addition of floats without uses."""
        return (
            instr.type == t.FLOAT
            and self.machine.swaps_16_bytes
            and not is_plain(instr, self.origins)
        )

    def add_neighbours(self, instr: Instr, address: str, vector: str, mask: Mask) -> None:
        """Adds the lanes' floats to consecutive elements from `address` on."""
        if instr not in self.accumulations:
            add_run(self.w, address, vector, self.masks.bits(mask))
            return

        self._accumulate([(address, vector)], mask, instr in self.under_locks)

    def _add_together(self, instr: Instr, mask: Mask) -> None:
        """Adds what has waited for this addition, if it is the last one."""
        together = self.together[instr]
        if instr is not together[-1]:
            return
        runs = [(self.v.scalar(i.operands[0]), self.v.vector(i.operands[1])) for i in together]
        sums, shared = self._sums_of(instr), partial(self._accumulate, runs, mask, True)
        if sums is None:
            shared()
            return

        def own() -> None:
            for address, vector in runs:
                self._add_plainly(self._place(sums, address), vector, mask)

        self._where(sums, [address for address, _ in runs], own, shared)

    def _accumulate(self, runs: list[tuple[str, str]], mask: Mask, under_locks: bool) -> None:
        """Adds vectors to runs of elements, which nobody reads meanwhile; if other threads add to
        them, under locks or 16 bytes at a time."""

        def plain() -> None:
            for address, vector in runs:
                self._add_plainly(address, vector, mask)

        def shared() -> None:
            if under_locks:
                add_exclusive(self.w, runs, self.masks.bits(mask))
                return
            for address, vector in runs:
                add_run(self.w, address, vector, self.masks.bits(mask))

        alone = self.w.value("icmp eq ptr %locks, null")
        self.two_ways(alone, ("add.plain", "add.shared", "add.end"), plain, shared)

    def add_row(self, instr: Instr, address: str, vector: str) -> None:
        """Adds floats of all lanes to consecutive elements from `address` on, which is one of those
        that the instruction's lanes add to."""
        sums, shared = self._sums_of(instr), partial(self.add_neighbours, instr, address, vector)
        if sums is None:
            shared(None)
            return

        def own() -> None:
            self._add_plainly(self._place(sums, address), vector, None)

        self._where(sums, [address], own, lambda: shared(None))

    def _add_plainly(self, address: str, vector: str, mask: Mask) -> None:
        """Where no other thread adds to these elements."""
        old = self.accesses.load(t.FLOAT, address, True, 4, mask)
        total = self.w.value(f"fadd {self.w.vector(t.FLOAT)} {old}, {vector}")
        self.accesses.store(t.FLOAT, total, address, True, 4, mask)
