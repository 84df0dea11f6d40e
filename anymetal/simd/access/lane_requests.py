"""Vectors of which single lanes are asked for, so often that those come out of memory."""

from __future__ import annotations

from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import SHUFFLE
from anymetal.ir.model import Const, Instr, Program, Value

#: Lanes of a vector that are asked for, for which it is worth to store it.
MANY = 4

#: Vectors, and which of their lanes are asked for.
Spread = dict[Value, set[int]]


def find_laid_out(program: Program, shapes: Shapes) -> set[Value]:
    """Vectors of which shuffles take one lane or another as the program runs: those are best had
    in memory from where they are computed on, not only when they are asked for, in a loop."""
    return {
        instr.operands[0]
        for instr in program.instructions()
        if instr.op == "call"
        and instr.arg == SHUFFLE
        and shapes[instr.operands[0]].is_varying
        and shapes[instr.operands[1]].is_uniform
        and isinstance(instr.operands[1], Instr)
    }


def many_lanes(program: Program, shapes: Shapes) -> Spread:
    """Vectors of which many lanes are asked for."""
    asked: Spread = {}
    for instr in program.instructions():
        if instr.op == "call" and instr.arg == SHUFFLE:
            value, lane = source_of(instr.operands[0]), instr.operands[1]
            number = lane.int_value if isinstance(lane, Const) else None
            if number is not None and 0 <= number < shapes.width and shapes[value].is_varying:
                asked.setdefault(value, set()).add(number)
    return {v: lanes for v, lanes in asked.items() if len(lanes) >= MANY and v.type.size == 4}


def source_of(value: Value) -> Value:
    """The value whose bits these are."""
    while isinstance(value, Instr) and value.op == "bitcast":
        value = value.operands[0]
    return value
