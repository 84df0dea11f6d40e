"""Questions about control flow."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir import cfg, model
from anymetal.ir.cfg import Dominators, Loop
from anymetal.ir.model import Block


def loops(known: Analyses) -> list[Loop]:
    """All loops, outer ones first."""
    return cfg.find_loops(known.program.blocks, known(dominators))


def innermost(known: Analyses) -> dict[Block, Loop]:
    """The innermost loop around each block that is in one."""
    return {block: loop for loop in known(loops) for block in loop.own}


def predecessors(known: Analyses) -> dict[Block, list[Block]]:
    """The predecessors of each block."""
    return model.predecessors(known.program.blocks)


def dominators(known: Analyses) -> Dominators[Block]:
    """The immediate dominator of each block."""
    return cfg.dominators(known.program.blocks[0], lambda block: block.successors)


def returns(known: Analyses) -> list[Block]:
    """The blocks at which threads return."""
    return [block for block in known(dominators) if block.terminator.op == "ret"]


def postdominators(known: Analyses) -> Dominators[Block]:
    """The immediate postdominator of each block; one more block, `end`, follows all returns."""
    end = Block("end")
    before: dict[Block, list[Block]] = {}
    for block in known.program.blocks:
        for successor in block.successors or [end]:
            before.setdefault(successor, []).append(block)
    return cfg.dominators(end, lambda block: before.get(block, []))


#: These stay right while no branch changes.
ALL = (loops, innermost, predecessors, dominators, returns, postdominators)
