"""Interleaved private arrays: unit 0 of all lanes, then unit 1 of all lanes, and so on.

passes/interleave.py decides which arrays these are, and gives their pointers the type i64.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS
from anymetal.ir import types as t
from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Instr, Value


def interleaved(known: Analyses) -> dict[Value, Instr]:
    """Every pointer into an interleaved array, with the array's alloca."""
    result: dict[Value, Instr] = {}
    for block in reverse_postorder(known.program.blocks[0]):
        for instr in block.instrs:
            if instr.op == "alloca" and instr.type == t.I64:
                result[instr] = instr
            elif instr.op == "gep" and instr.type == t.I64:
                result[instr] = result[instr.operands[0]]
    return result


def accessed_type(user: Instr, pointer: Value) -> t.Type | None:
    """The type that is loaded or stored through a pointer; None for any other use."""
    if user.op in LOADS:
        return user.type
    stores = user.op == "store" and user.operands[1] is pointer and user.operands[0] is not pointer
    return user.operands[0].type if stores else None
