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


def partings(known: Analyses) -> list[tuple[Instr, Instr]]:
    """Where threads of a SIMD-group may have parted while some of them do something together: the
    branches (or loads) that part them, each with the first thing that they do together then.

    `known.width` is that of a SIMD-group. What several threads load from one address counts as one
    value, as nobody may write there meanwhile; only atomic and volatile loads may differ.
    """
    together = {
        block: first
        for block in known.program.blocks
        if (first := next(filter(is_collective, block.instrs), None))
    }
    if not together:
        return []
    uniformity = known(shapes)
    found = [
        (instr, next(iter(together.values())))
        for instr in known.program.instructions()
        if _may_differ(instr) and uniformity[instr].is_uniform
    ]
    behind = known(postdominators)
    for block in known.program.blocks:
        if block in uniformity.divergent:
            between = _between(block, behind[block])
            if first := next((one for b, one in together.items() if b in between), None):
                found.append((block.terminator, first))
    return found


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
