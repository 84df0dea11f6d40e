"""Split counters: the part of a loop's counter that differs between lanes comes out of the loop.

    for (k = lane / 4 * 4; k < n; k += 32) sum += x[k * width + lane % 4]

becomes

    for (i = 0; …; i += 32) k = lane / 4 * 4 + i, …

In each iteration all lanes that are left have counted alike, so `i` is uniform. What the lanes
begin with is known from the lane number, and then `k` is, too, but for a uniform value: so are
addresses that are made of it, and simd/access/tiles.py finds which elements are neighbours.
Counters at a constant distance from lane to lane need no pass: they stay so by themselves.
"""

from __future__ import annotations

from anymetal.analysis.affine import LinearForms, forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import loops
from anymetal.analysis.uniformity import Shapes, shapes
from anymetal.ir import types as t
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Const, Instr, Value


def run(known: Analyses) -> bool:
    """Changes all counters and pointers that begin at known places of the lanes."""
    found = [
        (loop, phi, update)
        for loop in known(loops)
        for phi in loop.header.phis
        if (update := _update(loop, phi, known(shapes), known(forms))) is not None
    ]
    changed: dict[Value, Value] = dict(split(*one) for one in found)
    for instr in known.program.instructions():
        instr.operands = [changed.get(value, value) for value in instr.operands]
    return bool(found)


def _update(loop: Loop, phi: Instr, lanes: Shapes, linear: LinearForms) -> Instr | None:
    """What makes the next value of a counter, if it is one."""
    if len(loop.latches) != 1 or len(phi.operands) != 2:
        return None
    start, update = _ends(loop, phi)
    if not lanes[start].is_varying or linear(start) is None:
        return None
    if not isinstance(update, Instr) or update.op not in ("add", "gep"):
        return None
    steps = [value for value in update.operands if value is not phi]
    grows = len(steps) == len(update.operands) - 1
    if not grows or (update.op == "gep" and update.operands[0] is not phi):
        return None
    inside = any(isinstance(s, Instr) and s.block in loop.blocks for s in steps)
    return None if inside or not all(lanes[s].is_uniform for s in steps) else update


def _ends(loop: Loop, phi: Instr) -> tuple[Value, Value]:
    """What the phi is at first, and what it is next."""
    at = phi.arg.index(loop.latches[0])
    return phi.operands[1 - at], phi.operands[at]


def split(loop: Loop, phi: Instr, update: Instr) -> tuple[Instr, Instr]:
    """Counts from zero; what was the phi is now its beginning and the count. Returns both."""
    header, latch = loop.header, loop.latches[0]
    start, _ = _ends(loop, phi)
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
