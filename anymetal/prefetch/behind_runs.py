"""Asks for the memory behind runs that are written at places which follow from data.

    for (uint i = begin[d] + lane; i < end[d]; i += 32) out[place[d] + i] = sorted[i];

What is sorted, compacted or appended is written in short runs, and who comes next goes on where one
ended: threadgroups that sort blocks of keys add to the same few hundred runs in turn. Processors
foresee neither where these begin nor that they go on, and before it writes a part of a line, a
processor has to read the line. So a store asks for what the next step of its loop would write.
(Such a store does not go past the caches, as simd/access/streaming.py sees the array used.)
"""

from __future__ import annotations

from types import EllipsisType

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import innermost, loops
from anymetal.analysis.effects import is_plain
from anymetal.analysis.objects import in_arrays, origins
from anymetal.analysis.uniformity import shapes
from anymetal.ir import types as t
from anymetal.ir.calls import AHEAD_WRITE
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Instr, Program, Value
from anymetal.ir.walk import made_from

SIMD_GROUP = 32


def run(known: Analyses) -> bool:
    """Asks behind each such store."""
    inner = [loop for loop in known(loops) if not loop.children]
    data = _loops_of_data(known.program, known(innermost))
    stores = [
        instr
        for loop in inner
        for block in loop.ordered
        for instr in block.instrs
        if instr.op == "store" and data.get(instr.operands[1], loop) is not loop
    ]
    found = [store for store in stores if _is_run(store, known)]
    for store in found:
        _ask(store)
    return bool(found)


def _is_run(store: Instr, known: Analyses) -> bool:
    """Whether neighbouring lanes store to neighbours in device memory."""
    if not is_plain(store):
        return False
    pointer = store.operands[1]
    side_by_side = known(shapes)[pointer].stride == store.operands[0].type.size
    return side_by_side and in_arrays(known(origins).get(pointer, frozenset()))


def _loops_of_data(
    program: Program, loop_of: dict[Block, Loop]
) -> dict[Value, Loop | EllipsisType | None]:
    """The innermost loop, or none, in which the data is loaded that a value is made of; `...` if
    there are several such places. Of what is made of no data there is nothing.

    Data is an element that is loaded from a place that changes: what is always loaded from the same
    one is a size. What a value is made of ends at what is loaded.
    """
    others = [i for i in program.instructions() if "load" not in i.op]
    changing = made_from(others, [i for i in others if i.op in ("phi", "call")])
    users: dict[Value, list[Instr]] = {}
    for instr in others:
        for value in instr.operands:
            users.setdefault(value, []).append(instr)
    found: dict[Value, Loop | EllipsisType | None] = {
        i: loop_of.get(_block(i))
        for i in program.instructions()
        if "load" in i.op and i.operands[0] in changing
    }
    work = list(found)
    while work:
        value = work.pop()
        for user in users.get(value, []):
            before = found.get(user, found[value])
            both = before if before is found[value] else ...
            if user not in found or both is not before:
                found[user] = both
                work.append(user)
    return found


def _block(instr: Instr) -> Block:
    assert instr.block is not None
    return instr.block


def _ask(store: Instr) -> None:
    value, pointer = store.operands
    block = _block(store)
    there = Instr(t.PTR, "gep", [pointer], (SIMD_GROUP * value.type.size,), "", store.loc)
    asking = Instr(t.VOID, "call", [there], AHEAD_WRITE, "", store.loc)
    there.block = asking.block = block
    at = block.instrs.index(store) + 1
    block.instrs[at:at] = [there, asking]
