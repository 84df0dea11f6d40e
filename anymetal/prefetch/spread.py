"""Requests for single lines wait for their turn: one comes every so many instructions."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir.calls import LINE_READ


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
