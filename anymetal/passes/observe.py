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
from anymetal.analysis.objects import read_only
from anymetal.ir import calls
from anymetal.ir import types as t
from anymetal.ir.model import Argument, Const, Global, Instr, Location, Value
from anymetal.passes.check_bounds import (
    ANYWHERE,
    NOWHERE,
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
_RETURNS = 4
#: The bits of infinity, which NaN has, too.
_INFINITY: dict[t.Type, int] = {t.HALF: 0x7C00, t.BFLOAT: 0x7F80}
_SIMD_BARRIER = "__am_simdgroup_barrier"


class ObservedSite(NamedTuple):
    """A place of the program that findings name."""

    action: str  #: what happens there: read, wrote, updated, barrier …
    bytes: int  #: of an access
    where: str  #: place in the user's text, or nothing


class Sites:
    """The places of a program, by the numbers that findings have."""

    def __init__(self) -> None:
        self.all: list[ObservedSite] = []
        self._numbers: dict[tuple[object, str], int] = {}

    def number(self, key: object, action: str, bytes_: int, loc: Location | None) -> int:
        """The number of a place. Copies of an instruction have the key of the original, but a
        function of a header is called from several places."""
        where = place_of(loc)
        if (key, where) not in self._numbers:
            self._numbers[key, where] = len(self.all)
            self.all.append(ObservedSite(action, bytes_, where))
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


def run(known: Analyses) -> Observed:
    """Turns markers into events, and checks all accesses."""
    checks = _Observing(known)
    checks.run()
    watched = {number: checks.granules.get(number, 1) for number in sorted(checks.watched)}
    return Observed(checks, watched, checks.told)


class _Observing(Checks):
    def __init__(self, known: Analyses) -> None:
        super().__init__(known.program)
        self.access = _ObservedAccess
        self.told = Sites()
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


class _ObservedAccess(CheckedAccess):
    """Writes one instruction, and in front of it what is to be told of it."""

    c: _Observing

    def emit(self) -> None:
        instr = self.instr
        if instr.op == "fence":
            self.add(t.VOID, "call", [i32(self._site(instr, "fence", 0))], calls.FENCES)
        if instr.op == "store":
            self._stored()
        if instr.op != "call":
            super().emit()
        elif instr.arg == calls.SEEN:
            self._seen()
        elif instr.arg == calls.WRONG:
            self._wrong()
        elif instr.arg in (calls.LANES, calls.RETURNED):
            self._together()
        else:
            if instr.arg in (calls.BARRIER, _SIMD_BARRIER):
                self._meeting()
            super().emit()

    def tell(self, bad: Value, position: Value, pointer: Value, action: str, size: int) -> None:
        """The marker of the access has told already."""

    def _seen(self) -> None:
        pointer, length, *rest = self.instr.operands
        action, align, number = map(known_number, rest)
        size = known_number(length)
        where = i32(self._site((calls.SEEN, number), _ACTIONS[action], size))
        owner = self.c.owner(pointer)
        bad: Value = Const(t.I1, "false")
        position = self.c.distance(pointer)
        if not self.inside(pointer, size):
            bad, position = self.outside(pointer, length, size)
            self._found(bad, _OUTSIDE[action], where, position, owner)
        if align > 1 and not self._is_aligned(pointer, align):
            over = self.add(t.I64, "and", [position, i64(align - 1)])
            odd = self.add(t.I1, "icmp", [over, i64(0)], "ne")
            self._found(odd, MISALIGNED, where, position, owner)
        if size and not self.c.watched.isdisjoint(self.c.origins_of(pointer)):
            for number in self.c.origins_of(pointer):
                self.c.granules[number] = gcd(self.c.granules.get(number, 0), size, align)
            operands = [bad, position, owner, i32(size), i32(action), where]
            self.add(t.VOID, "call", operands, calls.ACCESS)

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
        narrow = Const(t.I1, "true" if instr.arg == _SIMD_BARRIER else "false")
        self.add(t.VOID, "call", [instr.operands[0], narrow, where], calls.MEETS)

    def _together(self) -> None:
        what, value = _RETURNS, self.instr.operands[0]
        if self.instr.arg == calls.LANES:
            what, value = known_number(self.instr.operands[0]), self.instr.operands[1]
        number = known_number(self.instr.operands[-1])
        where = i32(self._site((self.instr.arg, number), _TOGETHER[what], 0))
        self.add(t.VOID, "call", [value, i32(what), where], calls.CROSSES)

    def _site(self, key: object, action: str, size: int) -> int:
        return self.c.told.number(key, action, size, self.instr.loc)

    def _found(self, bad: Value, kind: int, where: Value, position: Value, owner: Value) -> None:
        self.add(t.VOID, "call", [bad, i32(kind), where, position, owner], calls.FOUND)

    def _is_aligned(self, pointer: Value, align: int) -> bool:
        """Whether the offset in the array is certainly a multiple of `align`."""
        while isinstance(pointer, Instr) and pointer.op == "gep":
            if any(number % align for number in pointer.arg):
                return False
            pointer = pointer.operands[0]
        return pointer in self.c.number and ANYWHERE not in self.c.origins_of(pointer)
