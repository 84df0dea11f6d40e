"""A grid of one axis becomes rows, and its threadgroups columns of SIMD-groups.

Kernels with one index for row and column divide it by the length of the rows. Where the launch is
known, and the kernel cannot tell how its grid is cut into threadgroups, these may hold SIMD-groups
that lie one above the other instead of side by side: then they have the same columns, and one load
serves all of them (coarsening/teams.py). For rows of 256 and threadgroups of 8 SIMD-groups:

    i = call @__am_thread_x()             row = group_x / 8 * 8 + gang
    i / 256                               column = group_x % 8 * 32 + lane
    i % 256                  becomes      row
    x[i]                                  column
                                          x[row * 256 + column]

The program is that of a threadgroup as large as the grid, so that all positions are `i`.
"""

from __future__ import annotations

from anymetal.ir import types as t
from anymetal.ir.model import Block, Const, Instr, Program, Value
from anymetal.ir.rewrite import rewrite
from anymetal.ir.sizes import SIMD_GROUP, is_power_of_two

_PLACE = "__am_thread_x"
#: Quotients and remainders by a number, and those by a power of two.
_QUOTIENTS, _REMAINDERS = ("udiv", "lshr"), ("urem", "and")


def row_length(program: Program, threads: int, gangs: int) -> int:
    """The shortest rows that the grid of so many threads divides into, for threadgroups of so many
    SIMD-groups; 0 if the program divides by no such length."""
    lengths = {number for _, number in _divisions(program).values()}
    return min((n for n in lengths if _divides(n, threads, gangs)), default=0)


def _divides(length: int, threads: int, gangs: int) -> bool:
    return length % SIMD_GROUP == 0 and threads % (length * gangs) == 0


def run(program: Program, length: int, gangs: int) -> bool:
    """`length`: of the rows; `gangs`: SIMD-groups of a threadgroup."""
    divisions = _divisions(program)
    start = Block("am.place")
    row, column = _row_and_column(start, length, gangs)
    first = start.append(Instr(t.I32, "mul", [row, _number(length)], None, "nuw nsw"))
    place = start.append(Instr(t.I32, "add", [first, column], None, "nuw nsw"))

    def one(block: Block, instr: Instr) -> Value | None:
        if instr.op == "call" and instr.arg == _PLACE:
            return place
        op, number = divisions.get(instr, ("", 0))
        if not op:
            return None
        made = _quotient if op in _QUOTIENTS else _remainder
        value = made(block, row, column, length, number)
        return value and _converted(block, value, instr.type)

    rewrite(program, one)
    entry = program.blocks[0]
    allocas = sum(instr.op == "alloca" for instr in entry.instrs)
    entry.insert(allocas, start.instrs)
    return True


def _divisions(program: Program) -> dict[Instr, tuple[str, int]]:
    """Divisions of a thread's place by constants: what they are, and by which number."""
    found = {}
    for instr in program.instructions():
        if instr.op not in (*_QUOTIENTS, *_REMAINDERS) or not _is_place(instr.operands[0]):
            continue
        by = instr.operands[1]
        number = by.int_value if isinstance(by, Const) else None
        if number and instr.op == "lshr":
            number = 1 << number
        elif number and instr.op == "and":
            number = number + 1 if number & (number + 1) == 0 else None
        if number:
            found[instr] = instr.op, number
    return found


def _is_place(value: Value) -> bool:
    """Whether it is a thread's place, in as many bits as that needs."""
    while isinstance(value, Instr) and (value.op == "zext" or _is_lossless(value)):
        value = value.operands[0]
    return isinstance(value, Instr) and value.op == "call" and value.arg == _PLACE


def _is_lossless(value: Instr) -> bool:
    return value.op == "trunc" and "nuw" in value.flags.split()


def _row_and_column(block: Block, length: int, gangs: int) -> tuple[Value, Value]:
    across = length // SIMD_GROUP  # threadgroups side by side
    group, gang, lane = (
        block.append(Instr(t.I32, "call", [], name))
        for name in ("__am_group_x", "__am_gang", "__am_lane")
    )
    above, beside = _divided(block, group, across), _rest(block, group, across)
    rows = block.append(Instr(t.I32, "mul", [above, _number(gangs)], None, "nuw nsw"))
    row = block.append(Instr(t.I32, "add", [rows, gang], None, "nuw nsw"))
    columns = block.append(Instr(t.I32, "mul", [beside, _number(SIMD_GROUP)], None, "nuw nsw"))
    return row, block.append(Instr(t.I32, "add", [columns, lane], None, "nuw nsw"))


def _quotient(block: Block, row: Value, column: Value, length: int, number: int) -> Value | None:
    """A thread's place divided by a number; None where that is no division of rows or columns."""
    if number % length == 0:
        return _divided(block, row, number // length)
    if length % number:
        return None
    rows = block.append(Instr(t.I32, "mul", [row, _number(length // number)], None, "nuw nsw"))
    part = _divided(block, column, number)
    return block.append(Instr(t.I32, "add", [rows, part], None, "nuw nsw"))


def _remainder(block: Block, row: Value, column: Value, length: int, number: int) -> Value | None:
    if length % number == 0:
        return _rest(block, column, number)
    if number % length:
        return None
    rest = _rest(block, row, number // length)
    first = block.append(Instr(t.I32, "mul", [rest, _number(length)], None, "nuw nsw"))
    return block.append(Instr(t.I32, "add", [first, column], None, "nuw nsw"))


def _divided(block: Block, value: Value, number: int) -> Value:
    if is_power_of_two(number):
        shift = _number(number.bit_length() - 1)
        return value if number == 1 else block.append(Instr(t.I32, "lshr", [value, shift]))
    return block.append(Instr(t.I32, "udiv", [value, _number(number)]))


def _rest(block: Block, value: Value, number: int) -> Value:
    if is_power_of_two(number):
        return block.append(Instr(t.I32, "and", [value, _number(number - 1)]))
    return block.append(Instr(t.I32, "urem", [value, _number(number)]))


def _converted(block: Block, value: Value, type_: t.Type) -> Value:
    """A value of 32 bits, none of which get lost."""
    if type_.size == t.I32.size:
        return value
    op, flags = ("zext", "nneg") if type_.size > t.I32.size else ("trunc", "nuw nsw")
    return block.append(Instr(type_, op, [value], None, flags))


def _number(value: int) -> Const:
    return Const(t.I32, str(value))
