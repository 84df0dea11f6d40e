"""Questions about control flow."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir import cfg, model
from anymetal.ir.cfg import Dominators, Loop
from anymetal.ir.model import Block


def loops(known: Analyses) -> list[Loop]:
    """All loops, outer ones first."""
    return cfg.find_loops(known.program.blocks)


def looped(known: Analyses) -> set[Block]:
    """The blocks of all loops."""
    return {block for loop in known(loops) for block in loop.blocks}


def predecessors(known: Analyses) -> dict[Block, list[Block]]:
    """Of each block."""
    return model.predecessors(known.program.blocks)


def dominators(known: Analyses) -> Dominators[Block]:
    """The immediate dominator of each block."""
    return cfg.dominators(known.program.blocks[0], lambda block: block.successors)
