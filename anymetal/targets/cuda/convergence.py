"""Whether all threads of a SIMD-group come together to what they do together."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import postdominators
from anymetal.analysis.effects import LOADS
from anymetal.analysis.uniformity import shapes
from anymetal.ir.calls import BARRIER, is_cross_lane
from anymetal.ir.model import Block, Instr


def is_collective(instr: Instr) -> bool:
    """Whether threads wait for each other in an instruction."""
    return instr.op == "call" and (instr.arg == BARRIER or is_cross_lane(instr.arg))


def parts(known: Analyses) -> bool:
    """Whether threads of a SIMD-group may have parted where some of them do something together.

    `known.width` is that of a SIMD-group. What several threads load from one address counts as one
    value, as nobody may write there meanwhile; only atomic and volatile loads may differ.
    """
    together = {b for b in known.program.blocks if any(map(is_collective, b.instrs))}
    if not together:
        return False
    uniformity = known(shapes)
    if any(_may_differ(i) and uniformity[i].is_uniform for i in known.program.instructions()):
        return True
    behind = known(postdominators)
    return any(
        not together.isdisjoint(_between(block, behind[block])) for block in uniformity.divergent
    )


def _may_differ(instr: Instr) -> bool:
    return instr.op in LOADS and (instr.arg.atomic or instr.arg.volatile)


def _between(block: Block, meeting: Block) -> set[Block]:
    """The blocks on the ways from a block to the one where they all meet."""
    found: set[Block] = set()
    work = list(block.successors)
    while work:
        here = work.pop()
        if here is not meeting and here not in found:
            found.add(here)
            work += here.successors
    return found
