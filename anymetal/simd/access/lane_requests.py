"""Vectors that shuffles take single lanes from, and that are therefore kept in memory."""

from __future__ import annotations

from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import SHUFFLE
from anymetal.ir.model import Const, Instr, Program, Value

#: A vector is stored if so many of its lanes are taken.
MANY = 4

#: Vectors, and which of their lanes are taken.
LaneRequests = dict[Value, set[int]]


def find_laid_out(program: Program, shapes: Shapes) -> set[Value]:
    """Vectors from which a shuffle takes a lane that is known at run time only: they are stored
    where they are computed, not at each shuffle, which may be in a loop."""
    return {
        instr.operands[0]
        for instr in program.instructions()
        if instr.op == "call"
        and instr.arg == SHUFFLE
        and shapes[instr.operands[0]].is_varying
        and shapes[instr.operands[1]].is_uniform
        and isinstance(instr.operands[1], Instr)
    }


def many_lanes(program: Program, shapes: Shapes) -> LaneRequests:
    """Vectors of which many lanes are taken that are known when compiling."""
    asked: LaneRequests = {}
    for instr in program.instructions():
        if instr.op == "call" and instr.arg == SHUFFLE:
            value, lane = source_of(instr.operands[0]), instr.operands[1]
            number = lane.int_value if isinstance(lane, Const) else None
            if number is not None and 0 <= number < shapes.width and shapes[value].is_varying:
                asked.setdefault(value, set()).add(number)
    return {v: lanes for v, lanes in asked.items() if len(lanes) >= MANY and v.type.size == 4}


def source_of(value: Value) -> Value:
    """The value that has these bits, behind bit casts."""
    while isinstance(value, Instr) and value.op == "bitcast":
        value = value.operands[0]
    return value
