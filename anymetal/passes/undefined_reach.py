"""Which values of a program may be undefined, and by which variables: found without running it.

A variable without a value, threadgroup memory at the beginning, and outputs that are not filled are
origins. They reach what is computed from them, what is stored, and what is loaded from where it may
be stored. Values that no origin reaches cost nothing in a sanitized build.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import gcd
from typing import NamedTuple

from anymetal.analysis.effects import LOADS, pointer_of, tells
from anymetal.ir.calls import BEGIN, BLOCK_OPERATIONS, COPIES, LOG, is_undefined, plain_name
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Argument, Global, Instr, Location, Program, Value
from anymetal.ir.tokens import plain

Object = Argument | Global | Instr
#: Memory that pointers lead into; None is memory that nobody knows.
Leads = Callable[[Value], frozenset[Object | None]]
UPDATES = ("atomicrmw", "cmpxchg")
_MOST_GRAIN = 8


class Origin(NamedTuple):
    """What has no value of its own."""

    kind: str  #: variable, threadgroup or output
    name: str
    place: Location | None  #: where it comes into scope


Origins = frozenset[Origin]
NONE: Origins = frozenset()


class Reach:
    """The origins of all values, and of the contents of memory."""

    def __init__(self, program: Program, outputs: Iterable[Argument], leads: Leads) -> None:
        self.program = program
        self.outputs = set(outputs)  #: those that are undefined at first
        self.leads = leads
        self.of: dict[Value, Origins] = {}
        self.contents: dict[Object, Origins] = {}
        self.instrs = [i for b in reverse_postorder(program.blocks[0]) for i in b.instrs]
        self.followed = self._followed()
        self._begin()
        while self._spread():
            pass
        self.twinned = self._twinned()

    def reaches(self, value: Value) -> bool:
        return bool(self.of.get(value))

    # -- memory that can be followed ---------------------------------------------------------

    def objects(self, pointer: Value) -> frozenset[Object]:
        """What a pointer may lead into, if all of that is followed; else nothing."""
        found = self.leads(pointer)
        return found if found and found <= self.followed else frozenset()  # type: ignore[return-value]

    def _followed(self) -> set[Object | None]:
        """The memory all of whose accesses are known."""
        found: set[Object | None] = {*self.outputs, *self.program.private_arrays}
        found |= {g for g in self.program.globals.values() if g.threadgroup}
        for instr in self.instrs:
            for number, value in enumerate(instr.operands):
                if value.type.is_ptr and not _keeps_sight(instr, number):
                    found -= self.leads(value)
        accessed = [self.leads(v) for i in self.instrs for v in i.operands if v.type.is_ptr]
        mixed = {leads for leads in accessed if len(leads) > 1}
        for leads in mixed:  # the twins of outputs have another layout
            if len({isinstance(o, Argument) for o in leads}) > 1:
                found -= leads
        while lost := {o for leads in mixed if not leads <= found for o in leads & found}:
            found -= lost
        return found

    def _twinned(self) -> set[Object]:
        """The memory beside which the program keeps what of it is undefined: all outputs, and
        what is read and may be undefined. Memory that one pointer may lead into goes together."""
        read: set[Object] = set()
        for instr in self.instrs:
            if instr.op in (*LOADS, *UPDATES):
                read |= self.objects(instr.operands[0])
            elif instr.op == "call" and instr.arg.startswith(COPIES):
                read |= self.objects(instr.operands[1])
        found = {o for o in read if self.contents.get(o)}
        found |= {o for o in self.outputs if o in self.followed}
        groups = {self.objects(v) for i in self.instrs for v in i.operands if v.type.is_ptr}
        while more := {o for group in groups if group & found for o in group} - found:
            found |= more
        return found

    def grains(self) -> dict[Object, int]:
        """Of how many bytes all accesses to an output are multiples, in place and size."""
        found: dict[Object, int] = dict.fromkeys(self.outputs, _MOST_GRAIN)
        groups: list[frozenset[Object]] = []
        for instr in self.instrs:
            numbers: tuple[int, ...] = ()
            if instr.op == "gep":
                numbers = instr.arg
            elif instr.op in (*LOADS, "store", *UPDATES):
                value = instr.operands[
                    0 if instr.op == "store" else 1 if instr.op in UPDATES else 0
                ]
                numbers = ((instr if instr.op in LOADS else value).type.size,)
            elif instr.op == "call":
                numbers = (1,)
            for pointer in instr.operands:
                outputs = self.objects(pointer) & self.outputs if pointer.type.is_ptr else ()
                groups += [frozenset(outputs)] if len(outputs) > 1 else []
                for output in outputs:
                    found[output] = gcd(found[output], *numbers)
        for _ in groups:  # outputs that one pointer may lead into have the same
            for group in groups:
                found.update(dict.fromkeys(group, min(found[o] for o in group)))
        return found

    # -- origins -----------------------------------------------------------------------------

    def _begin(self) -> None:
        for output in self.outputs:
            self.contents[output] = frozenset((Origin("output", plain(output.name), None),))
        for variable in self.program.globals.values():
            if variable.threadgroup:
                self.contents[variable] = frozenset((_threadgroup(variable),))

    def _spread(self) -> bool:
        changed = False
        for instr in self.instrs:
            new = self._result(instr)
            if new - self.of.get(instr, NONE):
                self.of[instr] = self.of.get(instr, NONE) | new
                changed = True
            for target, stored in self._stored(instr):
                if stored - self.contents.get(target, NONE):
                    self.contents[target] = self.contents.get(target, NONE) | stored
                    changed = True
        return changed

    def _result(self, instr: Instr) -> Origins:
        """The origins of what an instruction gives."""
        if not instr.has_result or instr.op in (*UPDATES, "alloca"):
            return NONE
        if instr.op in LOADS:
            return self.content(instr.operands[0])
        if instr.op == "call" and is_undefined(instr.arg):
            return frozenset((_variable(instr),))
        return NONE.union(*(self.of.get(v, NONE) for v in instr.operands))

    def content(self, pointer: Value) -> Origins:
        """The origins of what a pointer leads to."""
        return NONE.union(*(self.contents.get(o, NONE) for o in self.objects(pointer)))

    def _stored(self, instr: Instr) -> Iterable[tuple[Object, Origins]]:
        """Private and threadgroup memory that an instruction writes, and the origins of that.

        What is written to arrays is reported there, and goes no further.
        """
        if instr.op == "store":
            origins = self.of.get(instr.operands[0], NONE)
            targets = self.objects(instr.operands[1])
        elif instr.op == "call" and instr.arg.startswith(COPIES):
            origins = self.content(instr.operands[1])
            targets = self.objects(instr.operands[0])
        elif instr.op == "call" and instr.arg == BEGIN:
            targets = self.objects(instr.operands[0])
            origins = frozenset(_array(o, instr.loc) for o in targets if isinstance(o, Instr))
        else:
            return ()
        return [(o, origins) for o in targets if not isinstance(o, Argument)] if origins else ()


def _keeps_sight(instr: Instr, number: int) -> bool:
    """Whether an instruction that has a pointer as operand lets nobody else use it."""
    if instr.op in ("gep", "phi", "select", "freeze", "icmp"):
        return True
    if instr.op == "call":
        block = instr.arg.startswith(BLOCK_OPERATIONS) or instr.arg in (BEGIN, LOG)
        return block or tells(instr)
    return instr.op in (*LOADS, *UPDATES, "store") and instr.operands[number] is pointer_of(instr)


def _variable(instr: Instr) -> Origin:
    return Origin("variable", _named(instr.name), instr.loc)


def _array(array: Instr, place: Location | None) -> Origin:
    return Origin("variable", _named(array.name), place)


def _threadgroup(variable: Global) -> Origin:
    return Origin("threadgroup", _named(re.sub(r"threadgroup\.\d+\.", "", variable.name)), None)


def _named(name: str) -> str:
    """The name that the user gave to a variable; nothing for what has none."""
    name = re.sub(r"\.undefined\..*$", "", plain(name))
    return "" if _NAMELESS.match(name) else plain_name(re.sub(r"(\.\w+)*$", "", name))


#: Clang's own variables.
_NAMELESS = re.compile(r"(?:retval|ref\.tmp|agg\.tmp|cleanup\.|coerce|undef\.agg|value\.\d)")
