"""Loads happen only where their value is needed.

    value = x[i];                        // i may lie outside of x
    value = inside ? value : 0;

Kernels are written like this because a GPU lets most stray loads pass. Here they could fault, and
the lanes that do not need the value need not load it. A load whose uses all lie behind a branch is
moved behind it; one that only a conditional selection uses is done under that condition.
"""

from __future__ import annotations

from anymetal.ir import calls
from anymetal.ir import types as t
from anymetal.ir.cfg import Loop, dominates, dominators, find_loops, postorder
from anymetal.ir.model import Block, Const, Instr, Program, Value, predecessors


def run(program: Program) -> None:
    users: dict[Value, list[Instr]] = {}
    for instr in program.instructions():
        for operand in dict.fromkeys(instr.operands):
            users.setdefault(operand, []).append(instr)
    _Sinker(program, users).run()
    for block in program.blocks:
        _guard_block(block, users)


def _is_plain_load(instr: Instr) -> bool:
    return instr.op == "load" and not instr.arg.volatile and not instr.arg.atomic


def _may_write(instr: Instr) -> bool:
    """Whether memory may hold something else behind the instruction."""
    if instr.op == "call":
        return calls.has_effect(instr.arg)
    return instr.op in ("store", "atomicrmw", "cmpxchg", "fence")


class _Sinker:
    """Moves loads down to the lowest block that dominates all their uses."""

    def __init__(self, program: Program, users: dict[Value, list[Instr]]) -> None:
        self.program = program
        self.users = users
        entry = program.blocks[0]
        self.idom = dominators(entry, lambda b: b.successors)
        self.loop_of: dict[Block, Loop] = {}
        for loop in find_loops(program.blocks):  # outer ones first
            self.loop_of.update(dict.fromkeys(loop.blocks, loop))
        self.preds = predecessors(program.blocks)
        self.writers = {b for b in program.blocks if any(map(_may_write, b.instrs))}

    def run(self) -> None:
        for block in reversed(list(self.idom)):
            for load in [i for i in reversed(block.instrs) if _is_plain_load(i)]:
                target = self._target(load)
                if target is not None and target is not block and self._may_move(load, target):
                    block.instrs.remove(load)
                    target.instrs.insert(len(target.phis), load)
                    load.block = target

    def _target(self, load: Instr) -> Block | None:
        """The lowest common dominator of all uses; a phi uses its operand in the predecessor."""
        target: Block | None = None
        for user in self.users.get(load, []):
            places = (
                [b for v, b in zip(user.operands, user.arg, strict=True) if v is load]
                if user.op == "phi"
                else [user.block]
            )
            for place in places:
                assert place is not None
                target = place if target is None else self._common(target, place)
        return target

    def _common(self, a: Block, b: Block) -> Block:
        while not dominates(self.idom, a, b):
            a = self.idom[a]
        return a

    def _may_move(self, load: Instr, target: Block) -> bool:
        source = load.block
        assert source is not None
        if self.loop_of.get(source) is not self.loop_of.get(target):
            return False
        behind = source.instrs[source.instrs.index(load) :]
        if any(map(_may_write, behind)):
            return False
        return not (self._between(source, target) & self.writers)

    def _between(self, source: Block, target: Block) -> set[Block]:
        """Blocks on a way from `source` to `target`, without the two."""
        reach = set(postorder(source, lambda b: [] if b is target else b.successors))
        back = set(postorder(target, lambda b: [] if b is source else self.preds[b]))
        return (reach & back) - {source, target}


def _guard_block(block: Block, users: dict[Value, list[Instr]]) -> None:
    position = {instr: i for i, instr in enumerate(block.instrs)}
    for load in list(block.instrs):
        if not _is_plain_load(load):
            continue
        select = _only_select(load, users)
        if select is None or select.block is not block:
            continue
        condition, yes, _ = select.operands
        if not isinstance(condition, Instr) or condition is load:
            continue
        if _written_between(block, position[load], position[select]):
            continue
        load.op = "guarded_load"
        load.operands = [load.operands[0], condition]
        load.flags = "" if yes is load else "inverted"
        block.instrs.remove(load)
        block.instrs.insert(block.instrs.index(select), load)
        position = {instr: i for i, instr in enumerate(block.instrs)}


def _only_select(load: Instr, users: dict[Value, list[Instr]]) -> Instr | None:
    """The one selection between this load and something else."""
    found = users.get(load, [])
    if len(found) != 1 or found[0].op != "select":
        return None
    select = found[0]
    condition, yes, no = select.operands
    if condition is load or (yes is load) == (no is load) or condition.type != t.I1:
        return None
    return None if isinstance(condition, Const) else select


def _written_between(block: Block, start: int, end: int) -> bool:
    return any(map(_may_write, block.instrs[start:end]))
