"""Interleaved private arrays: unit 0 of all lanes, then unit 1 of all lanes, and so on.

passes/interleave.py decides which arrays these are, and gives their pointers the type i64.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS
from anymetal.ir import types as t
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Instr, Value

#: Operations that make a pointer of others.
POINTERS = frozenset(("gep", "phi", "select"))


def interleaved(known: Analyses) -> dict[Value, Instr]:
    """Every pointer into an interleaved array, with the array's alloca."""
    result: dict[Value, Instr] = {}
    for block in reverse_postorder(known.program.blocks[0]):
        for instr in block.instrs:
            if instr.type != t.I64:
                continue
            if instr.op == "alloca":
                result[instr] = instr
            elif instr.op in POINTERS:
                # Of a loop's phi one operand at least comes from in front of the loop.
                array = next((result[v] for v in bases(instr) if v in result), None)
                if array:
                    result[instr] = array
    return result


def bases(pointer: Instr) -> list[Value]:
    """The pointers that a pointer is made of, by one of the operations in POINTERS, or frozen."""
    match pointer.op:
        case "gep":
            return pointer.operands[:1]
        case "select":
            return pointer.operands[1:]
    return pointer.operands


def accessed_type(user: Instr, pointer: Value) -> t.Type | None:
    """The type that is loaded or stored through a pointer; None for any other use."""
    if user.op in LOADS:
        return user.type
    stores = user.op == "store" and user.operands[1] is pointer and user.operands[0] is not pointer
    return user.operands[0].type if stores else None
