"""By which powers of two addresses can be divided, if buffers begin at multiples of 16 bytes."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Argument, Const, Global, Instr, Value, threadgroup_layout

BASE = 16  #: bytes; nobody asks for more
_AS_OPERAND = frozenset("zext sext trunc freeze".split())
_LEAST = frozenset("add sub or xor phi select".split())


def alignments(known: Analyses) -> dict[Value, int]:
    """Of pointers in bytes, no more than `BASE`; of integers what they are multiples of.

    Begins with the best that there can be, and goes on until nothing changes.
    """
    program = known.program
    result: dict[Value, int] = {}
    for argument in program.args:
        result[argument] = BASE
    offsets = threadgroup_layout(program)[0]
    for variable in program.globals.values():
        shared = variable.threadgroup
        result[variable] = max(_factor(offsets[variable.name]), 1) if shared else variable.align
    changed = True
    while changed:
        changed = False
        for instr in program.instructions():
            if instr.has_result:
                new = _of(instr, result)
                changed |= new != result.get(instr, BASE)
                result[instr] = new
    return result


def _of(instr: Instr, known: dict[Value, int]) -> int:
    each = [_known(value, known) for value in instr.operands]
    match instr.op:
        case "gep":
            *scales, offset = instr.arg
            steps = [n * _factor(scale) for n, scale in zip(each[1:], scales, strict=True)]
            return min(each[0], _factor(offset), *steps, BASE)
        case "mul":
            return min(each[0] * each[1], BASE)
        case "and":
            return max(each)
        case "shl":
            return min(each[0] << (_number(instr.operands[1]) or 0), BASE)
        case op if op in _AS_OPERAND:
            return each[0]
        case op if op in _LEAST:
            return min(each[op == "select" :], default=1)
    return 1


def _known(value: Value, known: dict[Value, int]) -> int:
    if isinstance(value, Const):
        number = _number(value)
        return 1 if number is None else _factor(number)
    if isinstance(value, (Argument, Global, Instr)):
        return known.get(value, BASE)
    return 1


def _number(value: Value) -> int | None:
    """A constant that is a number; of a shift, it is small."""
    plain = isinstance(value, Const) and value.text.lstrip("-").isdecimal()
    return int(value.text) if isinstance(value, Const) and plain else None


def _factor(number: int) -> int:
    """The largest power of two, up to `BASE`, that divides a number."""
    return min(number & -number, BASE) if number else BASE
