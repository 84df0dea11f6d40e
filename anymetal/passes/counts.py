"""A counter of a loop becomes what it begins with and a count from zero.

    %k = phi [%start, …], [%next, …]          %i = phi [0, …], [%following, …]
    %next = add %k, 8                 becomes %k = add %start, %i
                                              %following = add %i, 8

What it begins with may differ between threads. The count does not.
"""

from __future__ import annotations

from collections.abc import Mapping

from anymetal.ir import types as t
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Const, Instr, Program, Value


def ends(loop: Loop, phi: Instr) -> tuple[Value, Value]:
    """What the phi is at first, and what it is next."""
    at = phi.arg.index(loop.latches[0])
    return phi.operands[1 - at], phi.operands[at]


def split(loop: Loop, phi: Instr, update: Instr) -> tuple[Value, Instr]:
    """Counts from zero; what was the phi is now its beginning and the count. Returns both."""
    header, latch = loop.header, loop.latches[0]
    start, _ = ends(loop, phi)
    type_ = t.I64 if update.op == "gep" else phi.type
    zero = Const(type_, "0")
    count = Instr(type_, "phi", [zero, zero], list(phi.arg), "", phi.loc, f"{phi.name}.count")
    made = _next(count, phi, update)
    count.operands[phi.arg.index(latch)] = made[-1]
    whole = Instr(phi.type, update.op, [start, count], None, "", phi.loc, f"{phi.name}.whole")
    if update.op == "gep":
        whole.arg = (1, 0)
    phis = [count if one is phi else one for one in header.phis]
    header.refill([*phis, whole, *made, *header.body, header.terminator])
    return phi, whole


def replace(program: Program, changed: Mapping[Value, Value]) -> None:
    """Puts values in the place of others, such as those of `split`, wherever these are used."""
    for instr in program.instructions():
        instr.operands = [changed.get(value, value) for value in instr.operands]


def _next(count: Instr, phi: Instr, update: Instr) -> list[Instr]:
    """What adds to the count what the update adds to the phi."""
    made: list[Instr] = []

    def add(op: str, operands: list[Value], arg: object = None) -> Instr:
        made.append(Instr(count.type, op, operands, arg, "", update.loc))
        return made[-1]

    if update.op == "add":
        add("add", [count if value is phi else value for value in update.operands])
        return made
    *scales, distance = update.arg
    total: Value = count
    for index, scale in zip(update.operands[1:], scales, strict=True):
        wide = index if index.type == t.I64 else add("sext", [index])
        total = add("add", [total, add("mul", [wide, Const(t.I64, str(scale))])])
    add("add", [total, Const(t.I64, str(distance))])
    return made
