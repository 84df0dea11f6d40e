"""Threadgroup arrays of half or bfloat hold float, if whatever is read from them becomes float.

    threadgroup @tile : [64 x half]              threadgroup @tile : [64 x float]
    %p = gep @tile + %i * 2                      %p = gep @tile + %i * 4
                                                 %h = bitcast %w to half
                                                 %f = fpext %h
    store i16 %w, %p                   becomes   store %f, %p
    …                                            …
    %v = load i16 %q                             %x = load float %q
    %h = bitcast %v to half
    %x = fpext %h

Kernels share tiles of half to save a GPU's threadgroup memory. Each element is stored once and read
by many threads, so it is converted once instead of by each of them. The results are the same bits:
every half is a float. Copies of words that hold several numbers are copies of these. All arrays
stay as they are if with twice the bytes they would exceed the limit of threadgroup memory, for
which runtime/context.h has room.
"""

from __future__ import annotations

from collections.abc import Iterator

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, is_plain
from anymetal.analysis.flow import users
from anymetal.analysis.lane_numbers import signed
from anymetal.analysis.objects import Origin, origins
from anymetal.ir import types as t
from anymetal.ir.model import Const, Instr, Value
from anymetal.ir.sizes import THREADGROUP_LIMIT
from anymetal.passes.expand_copies import moved

Users = dict[Value, list[Instr]]


def run(known: Analyses) -> bool:
    """Changes all such arrays of a program."""
    program, numbers = known.program, _only_read_as_float(known)
    arrays = [one for one in program.globals.values() if one in numbers]
    more = sum(array.value_type.size for array in arrays)
    if not arrays or program.threadgroup_bytes + more > THREADGROUP_LIMIT:
        return False
    _Change(known, numbers).run()
    for array in arrays:
        array.value_type, array.align = _as_float(array.value_type), 2 * array.align
    return True


def _element(type_: t.Type) -> t.Type:
    """What an array is made of."""
    while isinstance(type_, t.Array):
        type_ = type_.element
    return type_.scalar


def _as_float(type_: t.Type) -> t.Type:
    if isinstance(type_, t.Array):
        return t.Array(type_.count, _as_float(type_.element))
    return t.Vector(type_.count, t.FLOAT) if isinstance(type_, t.Vector) else t.FLOAT


# -------------------------------------------------------------------------- which arrays


def _only_read_as_float(known: Analyses) -> dict[Origin, t.Type]:
    """Arrays that the program does nothing with but store numbers, and load them to make floats of
    them; with the type of these numbers."""
    declared = (one for one in known.program.globals.values() if one.threadgroup)
    narrow: dict[Origin, t.Type] = {one: _element(one.value_type) for one in declared}
    narrow = {one: number for one, number in narrow.items() if number in t.NARROW}
    leads_to = known(origins) if narrow else {}
    excluded: set[Origin] = set()
    for instr in known.program.instructions() if narrow else ():
        of = [leads_to[v] for v in instr.operands if v in leads_to]
        if any(not narrow.keys().isdisjoint(one) for one in of):
            if not _is_possible(instr, of, narrow, known(users)):
                excluded.update(*of)
    return {one: number for one, number in narrow.items() if one not in excluded}


def _is_possible(
    instr: Instr, of: list[frozenset[Origin]], narrow: dict[Origin, t.Type], users: Users
) -> bool:
    """Whether an instruction with operands that lead there is none of those that need the arrays as
    they are."""
    if len(of[0]) != 1 or any(other != of[0] for other in of):
        return False  # a pointer into one of several arrays
    (array,) = of[0]
    if instr.op in LOADS:
        return is_plain(instr) and all(_widened(instr, narrow[array], users))
    if instr.op == "store":
        value = instr.operands[0]
        known = value.type == t.I16 or isinstance(value, Const) or _is_copied(value, users)
        return known and is_plain(instr) and _count(value.type) > 0
    return instr.op in ("gep", "phi", "select", "freeze", "icmp")


def _widened(load: Instr, number: t.Type, users: Users) -> Iterator[bool]:
    """For each use of what is loaded, whether it makes a float of it, as of such a number."""
    yield load.type == t.I16
    for cast in users.get(load, ()):
        yield cast.op == "bitcast" and cast.type == number
        for use in users.get(cast, ()):
            yield use.op == "fpext" and use.type == t.FLOAT


def _is_copied(value: Value, users: Users) -> bool:
    """Whether a value is loaded for one store and nothing else."""
    return isinstance(value, Instr) and value.op == "load" and len(users[value]) == 1


def _count(type_: t.Type) -> int:
    """How many numbers of 16 bits an integer holds; 0 if they are not its only bits."""
    return type_.bits // 16 if isinstance(type_, t.Int) and type_.bits % 16 == 0 else 0


# -------------------------------------------------------------------------- their accesses


class _Change:
    """Rewrites all that leads into some arrays."""

    def __init__(self, known: Analyses, arrays: dict[Origin, t.Type]) -> None:
        self.program, self.users = known.program, known(users)
        leads_to = known(origins)
        #: What lies where a pointer leads to.
        self.numbers: dict[Value, t.Type] = {
            pointer: arrays[array]
            for pointer, of in leads_to.items()
            for array in of
            if array in arrays
        }
        self.words: dict[Value, list[Value]] = {}  #: numbers that are loaded to be copied

    def run(self) -> None:
        floats: dict[Value, Value] = {}
        dead: set[Instr] = set()
        for load in self.program.instructions():
            if load.op in LOADS and load.operands[0] in self.numbers:
                load.type = t.FLOAT
                load.arg = load.arg._replace(align=2 * load.arg.align)
                for cast in self.users.get(load, ()):
                    floats |= dict.fromkeys(self.users.get(cast, ()), load)
                    dead |= {cast, *self.users.get(cast, ())}
        for block in self.program.blocks:
            result: list[Instr] = []
            for instr in block.instrs:
                instr.operands = [floats.get(value, value) for value in instr.operands]
                if instr not in dead:
                    result += self._changed(instr)
            block.refill(result)

    def _changed(self, instr: Instr) -> list[Instr]:
        if instr.op == "gep" and instr in self.numbers:
            instr.arg = tuple(2 * number for number in instr.arg)
        if instr.op == "store" and instr.operands[1] in self.numbers:
            return self._stores(instr)
        if instr.op == "load" and _count(instr.type) > 1:
            (to, *others) = self.users.get(instr, [instr])
            if to.op == "store" and to.operands[1] in self.numbers and not others:
                return self._loads(instr)
        return [instr]

    def _loads(self, load: Instr) -> list[Instr]:
        """Loads one number after the other."""
        out: list[Instr] = []
        self.words[load] = numbers = []
        for number in range(_count(load.type)):
            source = moved(out, load, load.operands[0], number * t.I16.size)
            access = load.arg._replace(align=min(load.arg.align, t.I16.size))
            out.append(Instr(t.I16, "load", [source], access, "", load.loc))
            numbers.append(out[-1])
        return out

    def _stores(self, store: Instr) -> list[Instr]:
        """Stores floats, one after the other."""
        out: list[Instr] = []
        value, pointer = store.operands
        for number, word in enumerate(self.words.get(value) or _words(value)):
            narrow = Instr(self.numbers[pointer], "bitcast", [word], None, "", store.loc)
            wide = Instr(t.FLOAT, "fpext", [narrow], None, "", store.loc)
            out += [narrow, wide]
            target = moved(out, store, pointer, number * t.FLOAT.size)
            access = store.arg._replace(align=min(2 * store.arg.align, t.FLOAT.size))
            out.append(Instr(t.VOID, "store", [wide, target], access, "", store.loc))
        return out


def _words(value: Value) -> list[Value]:
    """The numbers in a word that is known, or the one that it is."""
    if not isinstance(value, Const) or value.int_value is None or value.type == t.I16:
        return [value] if value.type == t.I16 else [Const(t.I16, "poison")] * _count(value.type)
    parts = [value.int_value >> 16 * number & 0xFFFF for number in range(_count(value.type))]
    return [Const(t.I16, str(signed(part, t.I16))) for part in parts]
