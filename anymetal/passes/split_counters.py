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
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Instr
from anymetal.passes.counts import ends, replace, split


def run(known: Analyses) -> bool:
    """Changes all counters and pointers that begin at known places of the lanes."""
    found = [
        (loop, phi, update)
        for loop in known(loops)
        for phi in loop.header.phis
        if (update := _update(loop, phi, known(shapes), known(forms))) is not None
    ]
    replace(known.program, dict(split(*one) for one in found))
    return bool(found)


def _update(loop: Loop, phi: Instr, lanes: Shapes, linear: LinearForms) -> Instr | None:
    """What makes the next value of a counter, if it is one."""
    if len(loop.latches) != 1 or len(phi.operands) != 2:
        return None
    start, update = ends(loop, phi)
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
