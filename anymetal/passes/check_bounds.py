"""Bounds checks on every access, in builds for kernels that have faulted.

    %v = load %p      becomes      %bad = …                          is %p outside of its array?
                                   call stray(%bad, …)               (simd/emit/runtime_calls.py)
                                   %q = select %bad, %zeros, %p
                                   %v = load %q

As robust buffer access defines it for GPUs, a load outside of its array gives 0, a store there is
dropped, and an atomic operation does nothing and gives 0; each component of a vector counts by
itself. So an access keeps its place in the program and gets another pointer: one to zeros, or to
memory that nobody reads.

A pointer may lead anywhere in the array that it comes from, and nowhere else. So beside each
pointer the program computes its distance from the beginning of the array and, where several arrays
are possible, the number of the array. (Differences of addresses would do, but LLVM 22 fails on some
vectors of them.) A pointer that was loaded may lead into any array. The sizes of buffers are known
at the launch: the program gets two more arguments, the extents of all others (`am_extent` in
runtime/launch.h) and a record of strays.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from anymetal.analysis.objects import root_of
from anymetal.ir import types as t
from anymetal.ir.calls import BLOCK_OPERATIONS, COPIES, STRAY, plain_name
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import (
    Access,
    Argument,
    Block,
    Const,
    Global,
    Instr,
    Location,
    Program,
    Value,
)
from anymetal.ir.tokens import plain

#: In place of an array's number: any array, and none (null).
ANYWHERE, NOWHERE = 2**31 - 1, 2**31 - 2
EXTENTS, RECORD = "%.extents", "%.strays"
_EXTENT_BYTES = 16
WIDEST = 8  #: bytes of an access


class KnownArray(NamedTuple):
    """Memory that the program may touch; of buffers only the name is known here."""

    kind: str  #: buffer, threadgroup, private or constant
    name: str
    bytes: int
    element: int  #: bytes of an element


class Site(NamedTuple):
    """An access of the program."""

    action: str  #: read, wrote or updated
    bytes: int
    where: str  #: place in the user's text, or nothing


def run(program: Program) -> str:
    """Adds the checks. Returns JSON of the arrays and sites, by the numbers to report."""
    checks = Checks(program)
    checks.run()
    return json.dumps({"arrays": checks.arrays, "sites": checks.sites})


def record_of(program: Program) -> Argument:
    """The argument that says where a checked program notes what strays."""
    return next(argument for argument in program.args if argument.name == RECORD)


class Checks:
    """The walk through a program, and what it has found out about pointers."""

    def __init__(self, program: Program) -> None:
        self.access = CheckedAccess  #: what writes an instruction and its check
        self.program = program
        self.places: list[Value] = [*program.args, *program.globals.values()]
        self.places += [i for i in program.instructions() if i.op == "alloca"]
        self.number = {place: number for number, place in enumerate(self.places)}
        self.arrays = [_described(place) for place in self.places]
        self.sites: list[Site] = []
        self.extents = Argument(t.Ptr(t.CONSTANT), EXTENTS, len(program.args))
        self.record = Argument(t.Ptr(t.DEVICE), RECORD, len(program.args) + 1)
        self.own: set[Instr] = set()  #: branches that the checks have made
        self.prelude: list[Instr] = []  #: instructions at the start of the program
        self.begins: dict[Value, Value] = {}
        self.sizes: dict[Value, Value] = {}
        self.limits: dict[tuple[Value, int], Value] = {}
        self.origins = _origins(program, self.number)
        self.escaping = self._escaping()
        self.owners: dict[Value, Value] = {}  #: of pointers that may come from several arrays
        self.distances: dict[Value, Value] = {}
        self.zeros = Global(t.Ptr(t.CONSTANT), "@am.zeros", t.Array(WIDEST, t.I8), WIDEST, _ZEROS)
        self.sink = Instr(t.Ptr(t.THREAD), "alloca", [], (t.Array(WIDEST, t.I8), WIDEST))

    def run(self) -> None:
        program = self.program
        blocks = reverse_postorder(program.blocks[0])
        for block in blocks:
            before, block.instrs = block.instrs, []
            for instr in before:
                self.access(self, block, instr).emit()
        self.finish()

    def finish(self) -> None:
        """What goes along with phis, and the start of the program."""
        program = self.program
        for known, of in ((self.owners, self.owner), (self.distances, self.distance)):
            for pointer, beside in list(known.items()):
                if isinstance(pointer, Instr) and pointer.op == "phi":
                    assert isinstance(beside, Instr)
                    beside.operands = [of(value) for value in pointer.operands]
        entry = program.blocks[0]
        entry.instrs[:0] = [self.sink, *self.prelude]
        for instr in (self.sink, *self.prelude):
            instr.block = entry
        program.args += [self.extents, self.record]
        program.globals[self.zeros.name] = self.zeros

    def _escaping(self) -> set[Value]:
        """Private arrays whose address is stored: pointers that are loaded may lead there."""
        return {
            self.places[number]
            for instr in self.program.instructions()
            if instr.op == "store" and instr.operands[0].type.is_ptr
            for number in self.origins_of(instr.operands[0])
            if number < len(self.places) and isinstance(self.places[number], Instr)
        }

    # -- once for the program -------------------------------------------------------------

    def once(self, type_: t.Type, op: str, operands: list[Value], arg: object = None) -> Instr:
        """An instruction at the start of the program."""
        self.prelude.append(Instr(type_, op, operands, arg))
        return self.prelude[-1]

    def begin(self, place: Value) -> Value:
        """The address at which an array begins, as a number."""
        if place not in self.begins:
            address = self.once(t.I64, "ptrtoint", [place])
            if isinstance(place, Argument):
                address = self.once(t.I64, "sub", [address, self.distance(place)])
            self.begins[place] = address
        return self.begins[place]

    def size(self, place: Value) -> Value:
        """The bytes of an array."""
        if not isinstance(place, Argument):
            return i64(self.arrays[self.number[place]].bytes)
        if place not in self.sizes:
            self.sizes[place] = self._extent(place, 8)
        return self.sizes[place]

    def limit(self, place: Value, bytes_: int) -> Value:
        """The offset that an access of so many bytes must be below."""
        key = place, bytes_
        if key not in self.limits:
            size = self.size(place)
            if isinstance(size, Const):
                self.limits[key] = i64(max(0, (size.int_value or 0) - bytes_ + 1))
            else:
                fits = self.once(t.I1, "icmp", [size, i64(bytes_)], "uge")
                room = self.once(t.I64, "sub", [size, i64(bytes_ - 1)])
                self.limits[key] = self.once(t.I64, "select", [fits, room, i64(0)])
        return self.limits[key]

    def _extent(self, place: Argument, field: int) -> Instr:
        offset = _EXTENT_BYTES * place.index + field
        at = self.once(self.extents.type, "gep", [self.extents], (offset,))
        return self.once(t.I64, "load", [at], Access(8))

    # -- where pointers come from ----------------------------------------------------------

    def owner(self, pointer: Value) -> Value:
        """The number of the array that a pointer comes from."""
        while pointer not in self.owners:
            origins = self.origins_of(pointer)
            if len(origins) == 1:
                return i32(next(iter(origins)))
            assert isinstance(pointer, Instr)
            pointer = pointer.operands[0]
        return self.owners[pointer]

    def distance(self, pointer: Value) -> Value:
        """How far a pointer is from the beginning of its array, or from null."""
        if isinstance(pointer, Argument):
            if pointer not in self.distances:
                self.distances[pointer] = self._extent(pointer, 0)
            return self.distances[pointer]
        return self.distances.get(pointer, i64(0))

    def origins_of(self, pointer: Value) -> frozenset[int]:
        """The numbers of the arrays that it may come from."""
        if pointer in self.number:
            return frozenset((self.number[pointer],))
        if isinstance(pointer, Instr):
            return self.origins[pointer]
        return frozenset((NOWHERE if isinstance(pointer, Const) else ANYWHERE,))


class CheckedAccess:
    """Writes one instruction of the program, and in front of it what it needs."""

    def __init__(self, checks: Checks, block: Block, instr: Instr) -> None:
        self.c = checks
        self.block = block
        self.instr = instr

    def emit(self) -> None:
        instr = self.instr
        match instr.op:
            case "load" | "guarded_load":
                self._load()
            case "store":
                self._written(instr.operands[0].type.size, "wrote", 1)
            case "atomicrmw" | "cmpxchg":
                self._written(instr.operands[1].type.size, "updated", 0)
            case "call" if instr.arg.startswith(BLOCK_OPERATIONS):
                self._block()
            case _:
                self.block.append(instr)
        if instr in self.c.escaping:  # others may need its address from here on
            self.c.begins[instr] = self.add(t.I64, "ptrtoint", [instr])
        if instr.type.is_ptr and ANYWHERE not in self.c.origins_of(instr):
            self._follow()

    # -- accesses -------------------------------------------------------------------------

    def _load(self) -> None:
        instr = self.instr
        pointer, size = instr.operands[0], instr.type.size
        if not self.inside(pointer, size):
            bad, position = self.outside(pointer, i64(size), size)
            told = bad
            if instr.op == "guarded_load":  # a load that is not done does not stray
                no: Value = Const(t.I1, "false")
                ways = [no, bad] if "inverted" in instr.flags else [bad, no]
                told = self.add(t.I1, "select", [instr.operands[1], *ways])
            self.tell(told, position, pointer, "read", size)
            instr.operands[0] = self.add(t.PTR, "select", [bad, self.c.zeros, pointer])
        self.block.append(instr)

    def _written(self, size: int, action: str, number: int) -> None:
        """A store, or an atomic operation, which finds 0 if it does nothing."""
        instr = self.instr
        pointer = instr.operands[number]
        if not self.inside(pointer, size):
            bad, position = self.outside(pointer, i64(size), size)
            self.tell(bad, position, pointer, action, size)
            if instr.op != "store":
                self.add(t.VOID, "store", [i64(0), self.c.sink], Access(WIDEST))
            instr.operands[number] = self.add(t.PTR, "select", [bad, self.c.sink, pointer])
        self.block.append(instr)

    def _block(self) -> None:
        """memcpy, memmove, memset: done if the target is inside; a stray source is zeros."""
        instr = self.instr
        target, source, length, *_ = instr.operands
        bad, position = self.outside(target, length)
        self.tell(bad, position, target, "wrote", known_number(length))
        none = Const(length.type, "0")
        done: Value = self.add(length.type, "select", [bad, none, length])
        if instr.arg.startswith(COPIES):
            lost, position = self.outside(source, length)
            self.tell(lost, position, source, "read", known_number(length))
            zeroed = self.add(length.type, "select", [lost, done, none])
            done = self.add(length.type, "select", [lost, none, done])
            name = f"llvm.memset.p0.{length.type}"
            operands = [target, Const(t.I8, "0"), zeroed, Const(t.I1, "false")]
            self.add(t.VOID, "call", operands, name)
        instr.operands[2] = done
        self.block.append(instr)

    def inside(self, pointer: Value, size: int) -> bool:
        """Whether an access is certainly inside of its array."""
        pointer, offset = root_of(pointer)
        if pointer not in self.c.number or isinstance(pointer, Argument):
            return False
        return 0 <= offset <= self.c.arrays[self.c.number[pointer]].bytes - size

    def again(self, value: Value) -> Value:
        """A position, where it may be cheaper to compute it once more."""
        return value

    def outside(self, pointer: Value, length: Value, size: int = 0) -> tuple[Value, Value]:
        """Whether an access is outside of all arrays that it may belong to, and its distance from
        the beginning of the array. `size`: its bytes, if they are known when compiling."""
        origins = sorted(self.c.origins_of(pointer))
        if origins == [ANYWHERE]:
            return self._outside_of_all(pointer, length, size)
        position = self.again(self.c.distance(pointer))
        if origins == [NOWHERE]:
            return Const(t.I1, "true"), position
        owner = self.c.owner(pointer)
        places = [self.c.places[n] for n in origins if n != NOWHERE]
        bad: Value = self._beyond(position, places[0], length, size)
        for place in places[1:]:
            is_it = self.add(t.I1, "icmp", [owner, i32(self.c.number[place])], "eq")
            here = self._beyond(position, place, length, size)
            bad = self.add(t.I1, "select", [is_it, here, bad])
        if NOWHERE in origins:
            is_it = self.add(t.I1, "icmp", [owner, i32(NOWHERE)], "eq")
            bad = self.add(t.I1, "select", [is_it, Const(t.I1, "true"), bad])
        return bad, position

    def _outside_of_all(self, pointer: Value, length: Value, size: int) -> tuple[Value, Value]:
        address = self.add(t.I64, "ptrtoint", [pointer])
        bad: Value = Const(t.I1, "true")
        for place in self.c.places:
            if place in self.c.begins or not isinstance(place, Instr):
                position = self.add(t.I64, "sub", [address, self.c.begin(place)])
                here = self._beyond(position, place, length, size)
                bad = self.add(t.I1, "and", [bad, here])
        return bad, address

    def _beyond(self, position: Value, place: Value, length: Value, size: int) -> Instr:
        """Whether an access at this distance from the beginning of an array leaves it."""
        if size:
            return self.add(t.I1, "icmp", [position, self.c.limit(place, size)], "uge")
        total = self.c.size(place)
        long = self.add(t.I1, "icmp", [length, total], "ugt")
        last = self.add(t.I64, "sub", [total, length])
        late = self.add(t.I1, "icmp", [position, last], "ugt")
        return self.add(t.I1, "select", [long, Const(t.I1, "true"), late])

    def tell(self, bad: Value, position: Value, pointer: Value, action: str, size: int) -> None:
        loc = self.instr.loc
        self.c.sites.append(Site(action, size, place_of(loc)))
        number = i32(2 * len(self.c.sites) - 2 + (action != "read"))
        operands = [bad, position, self.c.owner(pointer), number, self.c.record]
        self.add(t.VOID, "call", operands, STRAY)

    # -- what goes along with a pointer ------------------------------------------------------

    def _follow(self) -> None:
        instr = self.instr
        several = len(self.c.origins_of(instr)) > 1
        if instr.op == "phi":  # what comes in is not all known yet
            self.c.distances[instr] = self.add(t.I64, "phi", [], list(instr.arg))
            if several:
                self.c.owners[instr] = self.add(t.I32, "phi", [], list(instr.arg))
        elif instr.op == "select":
            condition, *ways = instr.operands
            distances = [self.c.distance(way) for way in ways]
            self.c.distances[instr] = self.add(t.I64, "select", [condition, *distances])
            if several:
                owners = [self.c.owner(way) for way in ways]
                self.c.owners[instr] = self.add(t.I32, "select", [condition, *owners])
        elif instr.op == "gep":
            self.c.distances[instr] = self._moved(self.c.distance(instr.operands[0]))
        elif instr.op == "freeze":
            self.c.distances[instr] = self.c.distance(instr.operands[0])

    def _moved(self, distance: Value) -> Value:
        """The sum of a distance and the offset of a gep."""
        *scales, offset = self.instr.arg
        for index, scale in zip(self.instr.operands[1:], scales, strict=True):
            if index.type != t.I64:
                index = self.add(t.I64, "sext", [index])
            step = self.add(t.I64, "mul", [index, i64(scale)]) if scale != 1 else index
            distance = self.add(t.I64, "add", [distance, step])
        return self.add(t.I64, "add", [distance, i64(offset)]) if offset else distance

    def add(self, type_: t.Type, op: str, operands: list[Value], arg: object = None) -> Instr:
        return self.block.append(Instr(type_, op, operands, arg, loc=self.instr.loc))


def _origins(program: Program, number: dict[Value, int]) -> dict[Value, frozenset[int]]:
    """The numbers of the arrays that each computed pointer may come from."""
    result: dict[Value, frozenset[int]] = {}
    anywhere = frozenset((ANYWHERE,))

    def of(value: Value) -> frozenset[int]:
        if value in number:
            return frozenset((number[value],))
        if isinstance(value, Instr):
            return result.get(value, frozenset())
        return frozenset((NOWHERE,)) if isinstance(value, Const) else anywhere

    order = [i for b in reverse_postorder(program.blocks[0]) for i in b.instrs if i.type.is_ptr]
    changed = True
    while changed:
        changed = False
        for instr in order:
            if instr.op in ("gep", "freeze", "alloca"):
                new = of(instr.operands[0]) if instr.op != "alloca" else of(instr)
            elif instr.op in ("phi", "select"):
                given = instr.operands[1:] if instr.op == "select" else instr.operands
                new = frozenset[int]().union(*map(of, given))
            else:
                new = anywhere
            new = anywhere if ANYWHERE in new else new
            if new != result.get(instr):
                result[instr] = new
                changed = True
    return result


_ZEROS = f"[{WIDEST} x i8] zeroinitializer"


def _described(place: Value) -> KnownArray:
    if isinstance(place, Argument):
        return KnownArray("buffer", place.name.strip("%"), 0, 0)
    if isinstance(place, Global):
        kind = "threadgroup" if place.threadgroup else "constant"
        type_, name = place.value_type, place.name
    else:
        assert isinstance(place, Instr)
        kind, type_, name = "private", place.arg[0], place.name
    name = plain_name(re.sub(r"threadgroup\.\d+\.|(\.\w+)*$", "", plain(name)))
    return KnownArray(kind, name, type_.size, _element(type_).size)


def _element(type_: t.Type) -> t.Type:
    """The type of an array's elements, vectors taken apart, structs whole."""
    while isinstance(type_, (t.Array, t.Vector)):
        type_ = type_.element
    return type_


def place_of(loc: Location | None) -> str:
    """The place without the name of the kernel, which the message names already."""
    return f"{loc.where.rpartition(': ')[2]}:{loc.line}:{loc.column}" if loc else ""


def known_number(length: Value) -> int:
    """A number of bytes; 0 if it is known at run time only."""
    return (length.int_value or 0) if isinstance(length, Const) else 0


def i32(number: int) -> Const:
    return Const(t.I32, str(number))


def i64(number: int) -> Const:
    return Const(t.I64, str(number))
