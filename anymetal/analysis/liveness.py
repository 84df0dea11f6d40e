"""Which values are still needed at each point of a program."""

from __future__ import annotations

from collections.abc import Iterator

from anymetal.ir.model import Block, Instr, Program, Value


def live_behind(program: Program) -> dict[Block, set[Value]]:
    """The results of instructions that are needed behind each block."""
    behind: dict[Block, set[Value]] = {block: set() for block in program.blocks}
    before: dict[Block, set[Value]] = {block: set() for block in program.blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(program.blocks):
            for successor in block.successors:
                handed = {
                    value
                    for phi in successor.phis
                    for value, source in zip(phi.operands, phi.arg, strict=True)
                    if source is block and isinstance(value, Instr)
                }
                behind[block] |= (before[successor] - set(successor.phis)) | handed
            *_, needed = points(block, behind[block])
            needed |= set(block.phis)
            if needed != before[block]:
                before[block] = needed
                changed = True
    return behind


def points(block: Block, behind: set[Value]) -> Iterator[set[Value]]:
    """What is needed behind each instruction of a block, from its end to its beginning."""
    needed = set(behind)
    yield set(needed)
    for instr in reversed(block.instrs):
        if instr.op != "phi":
            needed.discard(instr)
            needed.update(v for v in instr.operands if isinstance(v, Instr))
            yield set(needed)
