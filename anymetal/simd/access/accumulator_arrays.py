"""Arrays of floats that a program adds to, atomically, and uses in no other way."""

from __future__ import annotations

from anymetal.analysis.objects import Origin
from anymetal.ir.model import Argument, Instr, Program, Value


def find_accumulations(
    program: Program, origins: dict[Value, frozenset[Origin]], used: set[Value]
) -> set[Instr]:
    """The additions to such arrays."""
    if program.shared_buffers:
        return set()
    seen: set[Origin] = set()
    adds: dict[Instr, frozenset[Origin]] = {}
    for instr in program.instructions():
        if _adds(instr) and instr not in used:
            adds[instr] = origins.get(instr.operands[0], frozenset())
        elif instr.op not in ("gep", "phi", "select", "freeze"):
            for value in instr.operands:
                seen |= origins.get(value, frozenset())
    return {
        instr
        for instr, places in adds.items()
        if places and all(isinstance(place, Argument) and place not in seen for place in places)
    }


def _adds(instr: Instr) -> bool:
    if instr.op != "atomicrmw" or instr.type.size != 4:
        return False
    operation, access = instr.arg
    return operation == "fadd" and not access.volatile
