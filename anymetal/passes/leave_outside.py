"""Threads beyond the edge of the grid return at once.

A grid that threadgroups do not tile has smaller ones at its edges. Where a kernel cannot tell, they
may as well be whole: then every gang has all lanes, positions follow from the lane number
everywhere, and what is left of the edge is a bounds check as kernels themselves have them
(version_by_bounds.py takes it out of the interior).

    start:
      i = group_x * full_size_x + thread_x
      br i1 (i < grid_x), label %entry, label %outside
"""

from __future__ import annotations

from collections.abc import Sequence

from anymetal.ir import types as t
from anymetal.ir.model import Block, Instr, Program, Value
from anymetal.ir.rewrite import rewrite


def run(program: Program, axes: Sequence[str]) -> bool:
    """`axes`: those along which threads may be outside, "x" to "z"."""
    entry = program.blocks[0]
    start, outside = Block("am.start"), Block("am.outside")
    names = [name for axis in axes for name in _names(axis)]
    calls = {name: start.append(Instr(t.I32, "call", [], name)) for name in names}
    _share(program, calls)
    _move_allocas(entry, start)
    inside: Value | None = None
    for axis in axes:
        test = _inside(start, calls, axis)
        inside = start.append(Instr(t.I1, "and", [inside, test])) if inside else test
    assert inside
    start.append(Instr(t.VOID, "br", [inside], [entry, outside]))
    _return_from(program, outside)
    program.blocks[:] = [start, *program.blocks, outside]
    return True


def _share(program: Program, calls: dict[str, Instr]) -> None:
    """These take the place of the program's own calls: what checks and addresses have in common
    shows that they belong together."""
    rewrite(program, lambda _, i: calls.get(i.arg) if i.op == "call" else None)


def _inside(start: Block, calls: dict[str, Instr], axis: str) -> Instr:
    """Whether the thread's position on an axis is one of the grid's."""
    thread, group, size, grid = (calls[name] for name in _names(axis))
    first = start.append(Instr(t.I32, "mul", [group, size], None, "nuw"))
    place = start.append(Instr(t.I32, "add", [first, thread], None, "nuw"))
    return start.append(Instr(t.I1, "icmp", [place, grid], "ult"))


def _names(axis: str) -> list[str]:
    return [f"__am_{what}_{axis}" for what in ("thread", "group", "full_size", "grid")]


def _move_allocas(entry: Block, start: Block) -> None:
    start.insert(0, [i for i in entry.instrs if i.op == "alloca"])
    entry.instrs = [i for i in entry.instrs if i.op != "alloca"]


def _return_from(program: Program, outside: Block) -> None:
    """Makes the block the one that returns: a program has one at most."""
    for block in program.blocks:
        if block.terminator.op == "ret":
            block.instrs[-1:] = []
            block.append(Instr(t.VOID, "br", [], [outside]))
    outside.append(Instr(t.VOID, "ret", []))
