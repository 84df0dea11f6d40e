"""Rules about threads that have to come together: barriers, and functions of SIMD-groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from anymetal.analysis.control import loops
from anymetal.analysis.effects import LOADS, is_plain
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.findings.model import Finding
from anymetal.ir.calls import BARRIER, MATRIX_FMA, SHUFFLE, SIMDGROUP_BARRIER
from anymetal.ir.model import Block, Const, Global, Instr
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.lint.fixes import Edit
from anymetal.lint.flow import Flow, sources
from anymetal.lint.heads import heads_around
from anymetal.lint.look import Look

THREADGROUP_MEMORY = 2  #: its bit in mem_flags
#: A call of a barrier that orders no memory.
_NONE = re.compile(r"[\w\s:]*\(\s*(?:metal\s*::\s*)?mem_flags\s*::\s*(mem_none)\s*\)")
_NEEDS_ALL = re.compile(r"simdgroup_(?:barrier|load|store|multiply)|simd_shuffle(?!\w*fill)")


def check(look: Look) -> Iterator[Finding]:
    """AM101, AM102, AM103, AM106."""
    for instr in look.flow.program.instructions():
        if instr.op != "call":
            continue
        if instr.arg == BARRIER:
            yield from _divergent(look, instr)
            yield from _without_memory(look, instr)
        elif instr.arg in (SHUFFLE, MATRIX_FMA, SIMDGROUP_BARRIER):
            yield from _divergent_lanes(look, instr)


# -- barriers under conditions ----------------------------------------------------------------


def _divergent(look: Look, barrier: Instr) -> Iterator[Finding]:
    flow, block = look.flow, barrier.block
    assert block is not None
    shapes = flow.lanes if look.single else flow.threads
    notes = []
    for branch in flow.partings(block, shapes):
        where = look.place(branch.terminator, "threads part here")
        if _have_ended(look, branch, barrier):
            notes.append(where)
            continue
        found = look.finding(
            "AM101",
            look.place(barrier),
            "not all threads of the threadgroup reach this barrier",
            where,
            hint="put the barrier where all threads come, outside of the condition or loop",
        )
        if _is_strided_loop(flow, branch):
            message = "threads may reach this barrier in a loop that they go round unequally often"
            found = replace(found, severity="note", message=message)
        yield found
        return
    if notes:
        yield look.finding(
            "AM102",
            look.place(barrier),
            "threads may have returned before this barrier",
            notes[0],
            hint="Metal wants every thread at every barrier: let the threads that have nothing to "
            "do run on, and put conditions around loads and stores",
        )


def _is_strided_loop(flow: Flow, branch: Block) -> bool:
    """Whether a branch is the end of a loop that counts from a thread's position to a common bound:
    if the bound is a multiple of the step, threads go round equally often."""
    loop = next((loop for loop in flow.known(loops) if branch in loop.blocks), None)
    if loop is None or all(successor in loop.blocks for successor in branch.successors):
        return False
    return not any(
        part.op in LOADS
        for part in sources(branch.terminator.operands[0])
        if not flow.threads[part].is_uniform
    )


def _have_ended(look: Look, branch: Block, barrier: Instr) -> bool:
    """Whether the threads that do not come to a barrier have ended by then: the text returns. An
    `if` around the barrier is something else, though the program may look the same."""
    flow = look.flow
    assert barrier.block is not None
    if flow.meet(branch) is not flow.end and not _is_bare(flow.meet(branch)):
        return False
    others = flow.other_ways(branch, barrier.block)
    if any(i.op == "call" and i.arg == BARRIER for b in others for i in b.instrs):
        return False
    return not _encloses(look, branch.terminator, barrier)


def _is_bare(block: Block) -> bool:
    """Whether nothing but the return follows."""
    return all(i.op in ("phi", "ret") for i in block.instrs)


def _encloses(look: Look, branch: Instr, inner: Instr) -> bool:
    """Whether a branch is the `if` or loop that an instruction stands in, by the text."""
    if branch.loc is None or inner.loc is None:
        return False
    outer, place = look.offset(branch.loc), look.offset(inner.loc)
    if outer is None or place is None or outer[0] != place[0]:
        return False
    return any(
        outer[1] in head for head in heads_around(look.kernel.text(place[0]).value, place[1])
    )


# -- what a barrier orders --------------------------------------------------------------------


def _without_memory(look: Look, barrier: Instr) -> Iterator[Finding]:
    """AM103: threadgroup memory is written before a barrier that is not for it, and read behind."""
    if _orders_threadgroup(barrier):
        return
    flow = look.flow
    written: dict[Global, Instr] = {}
    for instr in flow.before(barrier, _orders_threadgroup):
        variable = flow.variable(instr) if instr.op == "store" and is_plain(instr) else None
        if variable is not None:
            written.setdefault(variable, instr)
    for instr in flow.behind(barrier, _orders_threadgroup):
        variable = flow.variable(instr) if instr.op == "load" and is_plain(instr) else None
        if variable is not None and variable in written:
            name = name_of(variable)
            found = look.finding(
                "AM103",
                look.place(barrier),
                f"this barrier does not order threadgroup memory, and `{name}` is shared across it",
                look.access(written[variable], f"`{name}` is written here"),
                look.access(instr, f"`{name}` is read here"),
                hint="use mem_flags::mem_threadgroup",
            )
            look.fix(found, _with_memory(look, barrier))
            yield found
            return


def _with_memory(look: Look, barrier: Instr) -> Edit | None:
    """`mem_none` becomes `mem_threadgroup`, if the call names it."""
    place = look.offset(barrier.loc) if barrier.loc is not None else None
    if place is None:
        return None
    part, offset = place
    found = _NONE.match(look.kernel.text(part).value, offset)
    return found and Edit.at(look.kernel, part, found.start(1), "mem_none", "mem_threadgroup")


def _orders_threadgroup(instr: Instr) -> bool:
    if instr.op != "call" or instr.arg not in (BARRIER, SIMDGROUP_BARRIER):
        return False
    flags = instr.operands[0]
    value = flags.int_value if isinstance(flags, Const) else None
    return value is None or bool(value & THREADGROUP_MEMORY)


def name_of(variable: Global) -> str:
    """The name that the user gave a threadgroup variable."""
    return re.sub(r"^@\"?threadgroup\.\d+\.|\"$|(?:\.i)+\d*$|\.addr$", "", variable.name)


# -- SIMD-groups ------------------------------------------------------------------------------


def _divergent_lanes(look: Look, call: Instr) -> Iterator[Finding]:
    """AM106: lanes are missing that the function needs."""
    flow, block = look.flow, call.block
    assert block is not None
    name = look.word_at(call)
    if not _NEEDS_ALL.match(name):
        return
    partings = flow.partings(block, flow.lanes)
    partings = [
        branch
        for branch in partings
        if not _have_ended(look, branch, call) and not _is_strided_loop(flow, branch)
    ]
    if not partings:
        return
    if call.arg == SHUFFLE:
        if flow.lanes[call.operands[1]].is_uniform or _stays_inside(flow, partings, block, call):
            return
    yield look.finding(
        "AM106",
        look.place(call),
        f"{name} in control flow that differs between lanes: what it gets from lanes that are not "
        "here is undefined"
        if call.arg == SHUFFLE
        else f"{name} in control flow that differs between the lanes of a SIMD-group",
        look.place(partings[0].terminator, "lanes part here"),
        hint="call it with all lanes, and choose among the results",
    )


def _stays_inside(flow: Flow, partings: list[Block], block: Block, call: Instr) -> bool:
    """Whether active lanes shuffle among themselves, or may do so if the data is right."""
    numbers = flow.known(lane_numbers)(call.operands[1])
    if numbers is None and any(part.op in LOADS for part in sources(call.operands[1])):
        return True
    active = set(range(SIMD_GROUP))
    for branch in partings:
        lanes = _lanes_of(flow, branch, block)
        if lanes is None:
            return False
        active &= lanes
    return numbers is not None and all(numbers[lane] % SIMD_GROUP in active for lane in active)


def _lanes_of(flow: Flow, branch: Block, block: Block) -> set[int] | None:
    """The lanes that a branch sends to a block, if the lane number decides that."""
    numbers = flow.known(lane_numbers)(branch.terminator.operands[0])
    ways = flow.ways(branch, block)
    if numbers is None or len(ways) != 1:
        return None
    return {lane for lane, holds in enumerate(numbers) if bool(holds) == (ways[0] == 0)}
