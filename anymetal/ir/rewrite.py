"""Replaces instructions one by one."""

from __future__ import annotations

from collections.abc import Callable

from anymetal.ir.model import Block, Instr, Program, Value


def rewrite(program: Program, one: Callable[[Block, Instr], Value | None]) -> bool:
    """Asks `one` about each instruction; returns whether any was replaced.

    `one` may append instructions to the block and return the value that replaces the old one's
    result; with None the instruction stays.
    """
    replaced: dict[Value, Value] = {}

    def update(instr: Instr) -> None:
        instr.operands = [replaced.get(v, v) for v in instr.operands]

    for block in program.blocks:
        before, block.instrs = block.instrs, []
        for instr in before:
            update(instr)
            new = one(block, instr)
            if new is None:
                block.append(instr)
            else:
                replaced[instr] = new
    if replaced:  # also in phis, and in blocks that stand in front of those that dominate them
        for instr in program.instructions():
            update(instr)
    return bool(replaced)
