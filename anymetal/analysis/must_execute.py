"""Blocks that every thread runs, and in which iterations of which loops."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators, innermost, returns
from anymetal.analysis.induction import only_exit, trips
from anymetal.ir.cfg import Loop, dominates
from anymetal.ir.model import Block


def loops_of(known: Analyses, block: Block) -> list[Loop] | None:
    """The loops around a block that every thread runs in each of their iterations, whose number is
    constant; the innermost one first. None if it may run less often in some threads."""
    idom = known(dominators)
    around: list[Loop] = []
    loop = known(innermost).get(block)
    inner = block
    while loop is not None:
        end = only_exit(loop)
        if end is None or loop not in known(trips) or not dominates(idom, inner, end):
            return None
        around.append(loop)
        inner, loop = loop.header, loop.parent
    return around if all(dominates(idom, inner, end) for end in known(returns)) else None
