"""Where pointers come from: which arguments, variables or private arrays they may point into."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, accessed, is_plain, tells, touches_nothing
from anymetal.analysis.private_arrays import POINTERS, bases, interleaved
from anymetal.ir.model import Argument, Global, Instr, Value

Origin = Argument | Global | Instr


def origins(known: Analyses) -> dict[Value, frozenset[Origin]]:
    """The origins of every pointer that an instruction computes.

    A pointer that was loaded, or made of a number, is its own origin: it may point anywhere.
    """
    program = known.program
    result: dict[Value, frozenset[Origin]] = {}

    def of(value: Value) -> frozenset[Origin]:
        if isinstance(value, (Argument, Global)):
            return frozenset((value,))
        return result.get(value, frozenset())

    offsets = known(interleaved)
    pointers = [i for i in program.instructions() if i.type.is_ptr or i in offsets]
    changed = True
    while changed:
        changed = False
        for instr in pointers:
            if instr.op in POINTERS or instr.op == "freeze":
                new = frozenset[Origin]().union(*map(of, bases(instr)))
            else:
                new = frozenset((instr,))
            if new != result.get(instr):
                result[instr] = new
                changed = True
    for value in program.args:
        result[value] = of(value)
    for variable in program.globals.values():
        result[variable] = of(variable)
    return result


def root_of(pointer: Value) -> tuple[Value, int]:
    """A pointer as a constant distance from another one, which may be itself."""
    at = 0
    while isinstance(pointer, Instr) and pointer.op == "gep" and len(pointer.operands) == 1:
        at += pointer.arg[-1]
        pointer = pointer.operands[0]
    return pointer, at


def read_only(known: Analyses) -> set[Argument]:
    """Arrays that the program only reads, and that no other pointer can lead into."""
    if known.program.shared_buffers:
        return set()
    return _untouched(known, lambda i: [] if i.op in LOADS and is_plain(i) else i.operands)


def only_stored(known: Analyses) -> set[Argument]:
    """Outputs that the program does nothing with but plain stores, and that no other pointer can
    lead into."""

    def touching(instr: Instr) -> list[Value]:
        stores = instr.op == "store" and is_plain(instr)
        return [accessed(instr)] if stores else instr.operands

    return {one for one in _untouched(known, touching) if one.output and one.apart}


def _untouched(known: Analyses, touching: Callable[[Instr], list[Value]]) -> set[Argument]:
    """Arrays into which none of the operands that count leads, and no other pointer."""
    program, leads_to = known.program, known(origins)
    touched: set[Origin] = set()
    for instr in program.instructions():
        if touches_nothing(instr):
            continue
        if not tells(instr):
            touched.update(*(leads_to.get(value, ()) for value in touching(instr)))
        if instr.type.is_ptr and instr.op != "alloca":
            return set()  # a pointer that was loaded, or made of a number, may lead anywhere
    return {argument for argument in program.args if argument not in touched}


def in_arrays(origins: frozenset[Origin]) -> bool:
    """Whether a pointer with these origins certainly leads into buffers of the kernel."""
    return bool(origins) and all(isinstance(o, Argument) for o in origins)


def in_threadgroup(origins: frozenset[Origin]) -> bool:
    """Whether a pointer with these origins certainly leads into threadgroup memory."""
    return bool(origins) and all(isinstance(o, Global) and o.threadgroup for o in origins)


def disjoint(one: frozenset[Origin], other: frozenset[Origin]) -> bool:
    """Whether pointers with these origins never meet; two arguments may be one array, unless one
    of them is alone or apart."""
    if not one or not other or one & other:
        return False
    if any(isinstance(o, Instr) and o.op != "alloca" for o in one | other):
        return False
    return _are_apart(one) or _are_apart(other)


def is_alone(origins: frozenset[Origin]) -> bool:
    """Whether a pointer with these origins leads to what no pointer of the kernel's leads to."""
    return bool(origins) and all(isinstance(o, Argument) and o.alone for o in origins)


def _are_apart(origins: frozenset[Origin]) -> bool:
    """Whether none of them shares memory with an argument that is not among them."""
    return all(o.alone or o.apart for o in origins if isinstance(o, Argument))
