"""Asks for the memory behind runs that are written at places which follow from data.

    for (uint i = begin[d] + lane; i < end[d]; i += 32) out[place[d] + i] = sorted[i];

What is sorted, compacted or appended is written in short runs, and who comes next goes on where one
ended: threadgroups that sort blocks of keys add to the same few hundred runs in turn. Processors
foresee neither where these begin nor that they go on, and before it writes a part of a line, a
processor has to read the line. So a store asks for what the next step of its loop would write.
(Such a store does not go past the caches, as simd/streams.py sees the array used.)
"""

from __future__ import annotations

from collections.abc import Iterator

from anymetal.ir import types as t
from anymetal.ir.calls import AHEAD_WRITE
from anymetal.ir.cfg import Loop, find_loops
from anymetal.ir.model import Instr, Program, Value
from anymetal.simd.origins import Origin, in_arrays, pointer_origins
from anymetal.simd.regions import RegionTree
from anymetal.simd.shape import Launch, Shapes

SIMD_GROUP = 32


def run(program: Program, launch: Launch) -> None:
    stores = [
        instr
        for loop in find_loops(program.blocks)
        if not loop.children
        for block in loop.ordered
        for instr in block.instrs
        if instr.op == "store" and _place_is_data(instr.operands[1], loop)
    ]
    if not stores:
        return
    shapes = Shapes(program, RegionTree(program.blocks), launch, {}, SIMD_GROUP)
    origins = pointer_origins(program)
    for store in stores:
        if _is_run(store, shapes, origins):
            _ask(store)


def _is_run(store: Instr, shapes: Shapes, origins: dict[Value, frozenset[Origin]]) -> bool:
    """Whether neighbouring lanes store to neighbours in device memory."""
    if store.arg.volatile or store.arg.atomic:
        return False
    pointer = store.operands[1]
    side_by_side = shapes[pointer].stride == store.operands[0].type.size
    return side_by_side and in_arrays(origins.get(pointer, frozenset()))


def _place_is_data(pointer: Value, loop: Loop) -> bool:
    """Whether an address is made of an element that is loaded in front of the loop. What is always
    loaded from the same place is a size."""
    loads = [i for i in _makings(pointer) if i.op in ("load", "guarded_load")]
    return any(
        load.block not in loop.blocks
        and any(i.op in ("phi", "call") for i in _makings(load.operands[0]))
        for load in loads
    )


def _makings(value: Value) -> Iterator[Instr]:
    """The instructions that a value is made of, itself included, as far as those that load."""
    waiting, seen = [value], {value}
    while waiting:
        made = waiting.pop()
        if isinstance(made, Instr):
            yield made
            new = [] if "load" in made.op else [v for v in made.operands if v not in seen]
            seen.update(new)
            waiting += new


def _ask(store: Instr) -> None:
    value, pointer = store.operands
    block = store.block
    assert block is not None
    there = Instr(t.PTR, "gep", [pointer], (SIMD_GROUP * value.type.size,), "", store.loc)
    asking = Instr(t.VOID, "call", [there], AHEAD_WRITE, "", store.loc)
    there.block = asking.block = block
    at = block.instrs.index(store) + 1
    block.instrs[at:at] = [there, asking]
