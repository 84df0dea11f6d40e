"""Tidies control flow: decides branches on constants, drops blocks that nobody reaches, joins
blocks that always follow each other. Passes call it for what they leave."""

from __future__ import annotations

from anymetal.ir.cfg import reverse_postorder
from anymetal.ir.model import Block, Const, Instr, Program, Value, predecessors


def straighten(program: Program) -> None:
    """Makes of blocks that always follow each other one block."""
    for block in program.blocks:
        _decide(block.terminator)
    reachable = set(reverse_postorder(program.blocks[0]))
    program.blocks = [b for b in program.blocks if b in reachable]
    preds = predecessors(program.blocks)
    replaced: dict[Value, Value] = {}
    for block in program.blocks:
        for phi in block.phis:
            pairs = zip(phi.operands, phi.arg, strict=True)
            kept = [(v, b) for v, b in pairs if b in preds[block]]
            phi.operands, phi.arg = [v for v, _ in kept], [b for _, b in kept]
    gone: set[Block] = set()
    for block in program.blocks:
        while block not in gone and (follower := _only_follower(block, preds)) is not None:
            _append(block, follower, replaced)
            gone.add(follower)
            for successor in block.successors:
                preds[successor] = [block if b is follower else b for b in preds[successor]]
                for phi in successor.phis:
                    phi.arg = [block if b is follower else b for b in phi.arg]
    program.blocks = [b for b in program.blocks if b not in gone]
    for instr in program.instructions():
        instr.operands = [_last(v, replaced) for v in instr.operands]


def _decide(end: Instr) -> None:
    """A branch on a constant goes one way."""
    if end.op == "br" and len(end.arg) == 2 and isinstance(end.operands[0], Const):
        end.arg = [end.arg[0] if end.operands[0].text == "true" else end.arg[1]]
        end.operands = []


def _only_follower(block: Block, preds: dict[Block, list[Block]]) -> Block | None:
    """The block that comes after this one and no other."""
    if len(block.successors) != 1:
        return None
    (follower,) = block.successors
    return follower if preds[follower] == [block] and follower is not block else None


def _append(block: Block, follower: Block, replaced: dict[Value, Value]) -> None:
    block.instrs.pop()
    for instr in follower.instrs:
        if instr.op == "phi":
            replaced[instr] = instr.operands[0]
        else:
            block.append(instr)


def _last(value: Value, replaced: dict[Value, Value]) -> Value:
    while value in replaced:
        value = replaced[value]
    return value
