"""Events of a sanitized build: what a program does is told to those who watch it.

    call seen(%p, 4, load, …)     becomes      %bad = …              is %p outside of its array?
                                               call found(%bad, bounds_read, …)
                                               call access(%bad, %offset, …)

The markers (frontend/observed.py) stand where the accesses of the user's text stand. The accesses
that LLVM has left get silent bounds checks (check_bounds.py), since nothing may leave its array in
a program that is told of. `access` is for memory that several threads use and one of them writes.
In front of each barrier comes an event, too.

The events are calls of targets/cpu/observer/; simd/emit/events.py writes them.
"""

from __future__ import annotations

import json
from math import gcd
from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import is_pure, pointer_of
from anymetal.analysis.objects import read_only, root_of
from anymetal.ir import calls
from anymetal.ir import types as t
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Access, Argument, Block, Const, Global, Instr, Location, Value
from anymetal.passes.batches import MOST, Part, Splitter, Way, moved_to
from anymetal.passes.check_bounds import (
    ANYWHERE,
    NOWHERE,
    WIDEST,
    CheckedAccess,
    Checks,
    i32,
    i64,
    known_number,
    place_of,
)

#: Kinds of findings, by their numbers in targets/cpu/observer/observer.h.
BOUNDS_READ, BOUNDS_WRITE, BOUNDS_ATOMIC, MISALIGNED = range(4)
NOT_A_NUMBER = 24
_OUTSIDE = {
    calls.LOAD: BOUNDS_READ,
    calls.STORE: BOUNDS_WRITE,
    calls.UPDATE: BOUNDS_ATOMIC,
    calls.ATOMIC_LOAD: BOUNDS_ATOMIC,
    calls.ATOMIC_STORE: BOUNDS_ATOMIC,
}
_ACTIONS = {
    calls.LOAD: "read",
    calls.STORE: "wrote",
    calls.UPDATE: "updated",
    calls.ATOMIC_LOAD: "read atomically",
    calls.ATOMIC_STORE: "wrote atomically",
}
#: What lanes do together, by the numbers of `Together` in targets/cpu/observer/convergence.h.
_TOGETHER = ("shuffled", "shuffled in a quad", "gave an argument", "used matrices", "returned")
_RETURNS, _MEET = 4, 5
#: The bits of infinity, which NaN has, too.
_INFINITY: dict[t.Type, int] = {t.HALF: 0x7C00, t.BFLOAT: 0x7F80}


class ObservedSite(NamedTuple):
    """A place of the program that findings name."""

    action: str  #: what happens there: read, wrote, updated, barrier …
    bytes: int  #: of an access
    where: str  #: place in the user's text, or nothing
    align: int = 1  #: the address is a multiple of it


class Sites:
    """The places of a program, by the numbers that findings have."""

    def __init__(self) -> None:
        self.all: list[ObservedSite] = []
        self._numbers: dict[tuple[object, str], int] = {}

    def number(
        self, key: object, action: str, bytes_: int, loc: Location | None, align: int = 1
    ) -> int:
        """The number of a place. Copies of an instruction have the key of the original, but a
        function of a header is called from several places."""
        where = place_of(loc)
        if (key, where) not in self._numbers:
            self._numbers[key, where] = len(self.all)
            self.all.append(ObservedSite(action, bytes_, where, align))
        return self._numbers[key, where]


class Observed(NamedTuple):
    """What findings refer to."""

    checks: Checks  #: what is known of pointers
    watched: dict[int, int]  #: arrays whose accesses are told, by number; the bytes that they share
    sites: Sites

    def notes(self, **more: object) -> str:
        """JSON for whoever reads the findings."""
        arrays, watched = self.checks.arrays, list(self.watched.items())
        return json.dumps({"arrays": arrays, "watched": watched, "sites": self.sites.all, **more})


def run(known: Analyses, nan: bool = False) -> Observed:
    """Turns markers into events, and checks all accesses. `nan`: tells of NaN and infinity, too."""
    checks = _Observing(known, nan)
    checks.run()
    watched = {number: checks.granules.get(number, 1) for number in sorted(checks.watched)}
    return Observed(checks, watched, checks.told)


class _Observing(Checks):
    def __init__(self, known: Analyses, nan: bool) -> None:
        super().__init__(known.program)
        self.nan = nan
        self.told = Sites()
        self.split = Splitter(known.program, self.own)
        #: Of how many bytes all accesses to an array are multiples, in place and size.
        self.granules: dict[int, int] = {}
        quiet = known(read_only)
        self.outputs = {
            number
            for place, number in self.number.items()
            if isinstance(place, Argument) and place not in quiet and not place.describes
        }
        self.watched = self.outputs | {
            number
            for place, number in self.number.items()
            if isinstance(place, Global) and place.threadgroup
        }

    def run(self) -> None:
        """Rewrites all blocks."""
        for block in reverse_postorder(self.program.blocks[0]):
            _ObservedBlock(self, block).run()
        self.finish()


class _Batch:
    """Accesses and markers that follow each other, to be written in two versions."""

    def __init__(self) -> None:
        self.parts: list[_Part] = []
        self.results: list[Instr] = []  #: of loads

    @property
    def asked(self) -> list[tuple[Value, Value]]:
        """Positions, and the limits of them."""
        return list(dict.fromkeys(pair for part in self.parts for pair in part.asked))

    def covers(self, pointer: Value, size: int) -> bool:
        """Whether a marker asks about all of an access."""
        root, at = root_of(pointer)
        return any(
            root is part.root and part.first <= at and at + size <= part.first + part.bytes
            for part in self.parts
        )

    def split(self) -> _Batch:
        """Takes the markers at the end, of accesses to come, into a batch of their own."""
        rest = _Batch()
        while self.parts and not self.parts[-1].is_access:
            rest.parts.insert(0, self.parts.pop())
        return rest


class _Part:
    """An access or a marker."""

    def __init__(self, pointer: Value, size: int, is_access: bool) -> None:
        self.is_access = is_access
        self.root, self.first = root_of(pointer)
        self.bytes = 0 if is_access else size  #: that a marker asks about
        self.asked: list[tuple[Value, Value]] = []
        self.write: Part


class _ObservedBlock(CheckedAccess):
    """Writes the instructions of a block, and what is to be told of them."""

    c: _Observing

    def __init__(self, checks: _Observing, block: Block) -> None:
        super().__init__(checks, block, block.instrs[0])
        self.batch = _Batch()
        self.way: Way | None = None  #: that is being written

    def run(self) -> None:
        """Writes them, perhaps into new blocks behind this one."""
        start = self.block
        before, start.instrs = start.instrs, []
        for self.instr in before:
            used = not set(self.batch.results).isdisjoint(self.instr.operands)
            if used or len(self.batch.parts) >= MOST:
                rest = self.batch.split()
                self._write_batch()
                self.batch = rest
            self.emit()
        if self.block is not start:
            moved_to(self.block, start)

    def emit(self) -> None:
        instr = self.instr
        called = instr.arg if instr.op == "call" else ""
        if instr.op in ("load", "store", "atomicrmw"):
            if instr.op == "store" and self.c.nan:
                self._stored()
            self._access()
        elif called == calls.SEEN:
            self._seen()
        elif called == calls.WRONG:
            self._wrong()
        elif called in (calls.LANES, calls.RETURNED):
            if called == calls.RETURNED or known_number(instr.operands[0]) != _MEET:
                self._together()
        elif is_pure(instr) or instr.op in ("phi", "alloca"):
            super().emit()
        else:
            self._write_batch()
            if instr.op == "fence":
                self.add(t.VOID, "call", [i32(self._site(instr, "fence", 0))], calls.FENCES)
            elif called in (calls.BARRIER, calls.SIMDGROUP_BARRIER):
                self._meeting()
            super().emit()

    def tell(self, bad: Value, position: Value, pointer: Value, action: str, size: int) -> None:
        """The marker of the access has told already."""

    def again(self, value: Value) -> Value:
        return self.way.again(value) if self.way else value

    def _write_batch(self) -> None:
        """Both versions of what has been collected; one, if it is certainly right."""
        batch, self.batch = self.batch, _Batch()
        fine: Value | None = None
        for position, limit in batch.asked:
            asked = self.add(t.I1, "call", [position, limit], calls.INSIDE)
            fine = self.add(t.I1, "and", [fine, asked]) if fine else asked
        if fine:
            parts = [part.write for part in batch.parts]
            self.block = self.c.split.versions(self.block, fine, parts, batch.results)
            return
        way = Way(self.c.split, self.block, slow=False)
        for part in batch.parts:
            part.write(way)
        for load in batch.results:
            self.block.instrs[self.block.instrs.index(way.results[load])] = load
            load.block = self.block

    def _collect(self, part: _Part, write: Part) -> None:
        """Something for the batch, which `write` writes by `self.add` and the like."""
        instr = self.instr

        def written(way: Way) -> None:
            before = self.instr, self.block
            self.way, self.instr, self.block = way, instr, way.block
            write(way)
            way.block, self.way = self.block, None
            self.instr, self.block = before

        part.write = written
        self.batch.parts.append(part)

    def _asked(self, pointer: Value, length: Value, size: int) -> tuple[Value, Value]:
        """What to ask: whether an access stays inside."""
        origins = self.c.origins_of(pointer)
        if size and len(origins) == 1 and origins.isdisjoint((ANYWHERE, NOWHERE)):
            limit = self.c.limit(self.c.places[next(iter(origins))], size)
            return self.c.distance(pointer), limit
        bad, _ = self.outside(pointer, length, size)
        number = self.add(t.I64, "select", [bad, i64(1), i64(0)])
        return number, i64(1)

    # -- accesses --------------------------------------------------------------------------

    def _access(self) -> None:
        """A load or store that LLVM has left: silently kept inside."""
        instr = self.instr
        pointer = pointer_of(instr)
        type_ = (instr if instr.has_result else instr.operands[0]).type
        certain = self.inside(pointer, type_.size)
        part = _Part(pointer, type_.size, is_access=True)
        if not (certain or self.batch.covers(pointer, type_.size)):
            part.asked.append(self._asked(pointer, i64(type_.size), type_.size))
        if instr.has_result:
            self.batch.results.append(instr)

        def write(way: Way) -> None:
            bad: Value | None = None
            if way.slow and not certain:
                bad, _ = self.outside(pointer, i64(type_.size), type_.size)
            way.results[instr] = self._done(way, bad)

        self._collect(part, write)

    def _done(self, way: Way, bad: Value | None) -> Instr:
        """The access, with nothing or a zero in its place where it is bad."""
        instr = self.instr
        operands = list(instr.operands)

        if bad is None:
            return self.block.append(_copied(instr, operands))
        number = 1 if instr.op == "store" else 0
        if pointer_of(instr).type.space == t.THREAD:  # whose pointers must stay what they are
            way.block = self.block
            made = way.unless(bad, lambda: way.block.append(_copied(instr, operands)), instr.loc)
            self.block = way.block
            return made
        other = self.c.zeros if instr.op == "load" else self.c.sink
        if instr.op == "atomicrmw":
            self.add(t.VOID, "store", [i64(0), self.c.sink], Access(WIDEST))
        operands[number] = self.add(t.PTR, "select", [bad, other, self._pointer(operands[number])])
        return self.block.append(_copied(instr, operands))

    def _pointer(self, pointer: Value) -> Value:
        """A pointer on the slow way; as much is known of it as of the original."""
        copy = self.again(pointer)
        if copy is not pointer and isinstance(copy, Instr) and isinstance(pointer, Instr):
            self.c.origins[copy] = self.c.origins[pointer]
            for known in (self.c.distances, self.c.owners):
                if pointer in known:
                    known[copy] = known[pointer]
        return copy

    # -- markers ---------------------------------------------------------------------------

    def _seen(self) -> None:
        pointer, length, *rest = self.instr.operands
        action, align, number = map(known_number, rest)
        size = known_number(length)
        site = i32(self._site((calls.SEEN, number), _ACTIONS[action], size, align))
        origins = self.c.origins_of(pointer)
        shared = bool(size) and not self.c.watched.isdisjoint(origins)
        if shared:
            for place in origins:
                self.c.granules[place] = gcd(self.c.granules.get(place, 0), size, align)
        certain = self.inside(pointer, size)
        part = _Part(pointer, size, is_access=False)
        if not certain:
            part.asked.append(self._asked(pointer, length, size))
        skew = self._skew(pointer, align)
        if skew:
            part.asked.append((skew, i64(1)))

        def write(way: Way) -> None:
            owner, position = self.c.owner(pointer), self.c.distance(pointer)
            bad: Value = Const(t.I1, "false")
            if way.slow and not certain:
                bad, position = self.outside(pointer, length, size)
                self._found(bad, _OUTSIDE[action], site, position, owner)
            if way.slow and skew:
                odd = self.add(t.I1, "icmp", [self.again(skew), i64(0)], "ne")
                self._found(odd, MISALIGNED, site, self.again(position), owner)
            if shared:
                operands = [bad, position, owner, i32(size), i32(action), site]
                self.add(t.VOID, "call", operands, calls.ACCESS)

        self._collect(part, write)

    def _skew(self, pointer: Value, align: int) -> Value | None:
        """By how much an access misses its alignment, if that is not certainly nothing."""
        if align <= 1 or self._is_aligned(pointer, align):
            return None
        return self.add(t.I64, "and", [self.c.distance(pointer), i64(align - 1)])

    def _wrong(self) -> None:
        bad, kind, number = self.instr.operands
        if isinstance(bad, Const) and not bad.int_value:
            return
        where = i32(self._site((calls.WRONG, known_number(number)), "computed", 0))
        self._found(bad, known_number(kind), where, i64(0), i32(NOWHERE))

    def _stored(self) -> None:
        """Whether a floating point number that was computed is none, or infinite."""
        value, pointer = self.instr.operands
        if not self.c.outputs.issuperset(self.c.origins_of(pointer)):
            return
        word = value if isinstance(value, Instr) and value.op == "bitcast" else None
        mask = _INFINITY.get(word.operands[0].type) if word else None
        if mask:
            bits = self.add(t.I16, "and", [value, Const(t.I16, str(mask))])
            bad = self.add(t.I1, "icmp", [bits, Const(t.I16, str(mask))], "eq")
        elif value.type == t.FLOAT and not isinstance(value, Const):
            rest = self.add(t.FLOAT, "fsub", [value, value])  # 0, or NaN
            bad = self.add(t.I1, "fcmp", [rest, rest], "uno")
        else:
            return
        where = i32(self._site(NOT_A_NUMBER, "wrote", value.type.size))
        self._found(bad, NOT_A_NUMBER, where, self.c.distance(pointer), self.c.owner(pointer))

    def _meeting(self) -> None:
        """In front of a barrier. Copies of one, in loops that LLVM has unrolled, are the same."""
        instr = self.instr
        where = i32(self._site(instr.arg if instr.loc else instr, "barrier", 0))
        narrow = Const(t.I1, "true" if instr.arg == calls.SIMDGROUP_BARRIER else "false")
        self.add(t.VOID, "call", [instr.operands[0], narrow, where], calls.MEETS)

    def _together(self) -> None:
        what, value = _RETURNS, self.instr.operands[0]
        if self.instr.arg == calls.LANES:
            what, value = known_number(self.instr.operands[0]), self.instr.operands[1]
        number = known_number(self.instr.operands[-1])
        where = i32(self._site((self.instr.arg, number), _TOGETHER[what], 0))
        self.add(t.VOID, "call", [value, i32(what), where], calls.CROSSES)

    def _site(self, key: object, action: str, size: int, align: int = 1) -> int:
        return self.c.told.number(key, action, size, self.instr.loc, align)

    def _found(self, bad: Value, kind: int, where: Value, position: Value, owner: Value) -> None:
        self.add(t.VOID, "call", [bad, i32(kind), where, position, owner], calls.FOUND)

    def _is_aligned(self, pointer: Value, align: int) -> bool:
        """Whether the offset in the array is certainly a multiple of `align`."""
        while isinstance(pointer, Instr) and pointer.op == "gep":
            if any(number % align for number in pointer.arg):
                return False
            pointer = pointer.operands[0]
        return pointer in self.c.number and ANYWHERE not in self.c.origins_of(pointer)


def _copied(instr: Instr, operands: list[Value]) -> Instr:
    """The instruction with other operands, without a name."""
    return Instr(instr.type, instr.op, operands, instr.arg, instr.flags, instr.loc)
