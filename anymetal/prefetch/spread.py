"""Requests for single lines wait for their turn: one comes every so many instructions."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import AHEAD_READ, AHEAD_WRITE, LINE_READ
from anymetal.ir.model import Program

_ELEMENT = 4  #: bytes that a lane accesses, roughly


def bytes_asked_for(program: Program, shapes: Shapes) -> int:
    """How much memory a gang asks for, once through."""
    asks = (i for i in program.instructions() if i.arg in (AHEAD_READ, AHEAD_WRITE))
    return sum(abs(shapes[i.operands[0]].stride) * shapes.width + _ELEMENT for i in asks)


def run(known: Analyses) -> bool:
    """Requests for single lines wait for their turn: there is one every so many instructions."""
    changed = False
    for block in known.program.blocks:
        requests = [i for i in block.instrs if i.op == "call" and i.arg == LINE_READ]
        if requests:
            asked = set(requests)
            others = [i for i in block.instrs if i not in asked]
            first = block.instrs.index(requests[0])
            step = (len(others) - first) // (len(requests) + 1)
            if step < 2:  # an address and its request
                continue
            block.instrs = others[:first]
            for request in requests:
                block.instrs += [*others[first : first + step], request]
                first += step
            block.instrs += others[first:]
            changed = True
    return changed
