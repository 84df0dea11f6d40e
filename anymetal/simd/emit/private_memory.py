"""Where private arrays lie: on the stack, or, if they are large, in memory of the worker.

Those of all lanes, and of a team's SIMD-groups, may take megabytes, but the thread that calls a
kernel may have a stack of a few hundred kilobytes. So large ones lie in memory of the worker
(`am_worker.frame` in runtime/launch.h). Launches on a stack of our own would do, too, but
debuggers, profilers and fault handlers know only the one that a thread came with.

"The stack" of a coroutine is its frame, for arrays that LLVM finds alive while it waits. It misses
arrays that are stored to in a loop, a part in each iteration, and read behind it, if the loop also
waits at a barrier: it takes the next store for the first. So arrays in such loops are passed to an
empty `asm` at the start, after which LLVM takes them for alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import loops
from anymetal.analysis.flow import users
from anymetal.analysis.private_arrays import accessed_type
from anymetal.emission.writer import Writer
from anymetal.ir.model import Block, Instr, Program, Value

#: Bytes of private arrays, of all lanes together, that may lie on the stack.
ON_STACK = 64 << 10


class Far(NamedTuple):
    """Private arrays that are not on the stack."""

    offsets: dict[Instr, int]
    bytes: int  #: of all of them, for one call of a gang function


def far_arrays(known: Analyses) -> Far:
    """The arrays that do not fit on the stack, which small ones fill first."""
    arrays, width, line = known.program.private_arrays, known.width, known.machine.line
    near, offsets, end = 0, {}, 0
    for array in sorted(arrays, key=lambda i: i.arg[0].size):
        size = -(-_bytes_of_lane(array) * width // line) * line
        near += size
        if near > ON_STACK:
            offsets[array] = end
            end += size
    return Far(offsets, end)


def in_waiting_loops(known: Analyses, waits: Callable[[str], bool]) -> set[Instr]:
    """Arrays that are used in a loop with a call that waits for others."""
    calls = {i.block for i in known.program.instructions() if i.op == "call" and waits(i.arg)}
    waiting = {b for loop in known(loops) if not calls.isdisjoint(loop.blocks) for b in loop.blocks}
    return {a for a in known.program.private_arrays if waiting & _blocks_of_uses(a, known(users))}


def _blocks_of_uses(array: Instr, users: dict[Value, list[Instr]]) -> set[Block]:
    """The blocks that use an array, or a value computed from its address."""
    seen: set[Instr] = set()
    work = [array]
    while work:
        new = [user for user in users.get(work.pop(), []) if user not in seen]
        seen.update(new)
        work += [user for user in new if user.op not in ("load", "guarded_load", "call")]
    return {user.block for user in seen if user.block}


def _bytes_of_lane(alloca: Instr) -> int:
    type_, align = alloca.arg
    return int(-(-type_.size // align) * align)


class Interleaved(NamedTuple):
    """Where an array is, and the size of its units in bytes."""

    address: str
    unit: int
    mixed: bool  #: some elements are smaller


def interleaved_arrays(
    addresses: dict[Instr, str], program: Program, private: dict[Value, Instr]
) -> dict[Instr, Interleaved]:
    """The interleaved arrays; `addresses` are those of all private ones."""
    sizes: dict[Instr, set[int]] = {array: set() for array in addresses if array in private}
    for instr in program.instructions():
        for pointer in instr.operands:
            type_ = accessed_type(instr, pointer) if pointer in private else None
            if type_ is not None:
                sizes[private[pointer]].add(type_.size)
    return {
        array: Interleaved(addresses[array], max(found, default=1), len(found) > 1)
        for array, found in sizes.items()
    }


def allocate(
    writer: Writer, known: Analyses, gangs_at_once: int, lasting: set[Instr]
) -> dict[Instr, str]:
    """The addresses of all private arrays.

    `gangs_at_once`: 0 if gangs run one after the other; else all gangs of a threadgroup share the
    worker's memory, and a call of the function runs so many of them. `lasting`: arrays that must be
    in the frame of a coroutine.
    """
    far = known(far_arrays)
    if far.offsets:
        base = "%private"
        if gangs_at_once:
            writer.entry_lines += [
                f"  %private.number = udiv i32 %gang, {gangs_at_once}",
                "  %private.wide = zext i32 %private.number to i64",
                f"  %private.offset = mul i64 %private.wide, {far.bytes}",
                "  %private.own = getelementptr i8, ptr %private, i64 %private.offset",
            ]
            base = "%private.own"
    addresses = {}
    for instr in known.program.private_arrays:
        if instr in far.offsets:
            address = f"%{writer.fresh('far')}"
            writer.entry_lines.append(
                f"  {address} = getelementptr i8, ptr {base}, i64 {far.offsets[instr]}"
            )
        else:
            type_ = f"[{_bytes_of_lane(instr) * writer.width} x i8]"
            address = writer.alloca(type_, "private", max(instr.arg[1], known.machine.line))
            if instr in lasting:
                writer.do(f'call void asm sideeffect "", "r"(ptr {address})')
        addresses[instr] = address
    return addresses
