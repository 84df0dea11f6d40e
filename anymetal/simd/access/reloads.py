"""Loads that are done once more in later sections of a team (coarsening/coarsen.py).

    float v = x[i];                    the SIMD-groups of a team go through each line in turn, so
    total = group_sum(v * v);          all of them keep their v until the last has had its turn
    out[i] = v * rsqrt(total);

More than the registers hold would go to the stack and come back. What the program only reads can
as well come from where it was: that is in the first-level cache like the stack, and nothing has to
be stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from anymetal.analysis.effects import is_plain, pointer_of
from anymetal.analysis.objects import Origin
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import APART
from anymetal.ir.model import Argument, Block, Instr, Program, Value

Users = Mapping[Value, list[Instr]]


def find_reloads(
    program: Program,
    shapes: Shapes,
    users: Users,
    origins: Mapping[Value, frozenset[Origin]],
    read_only: set[Argument],
    room: int,
) -> set[Instr]:
    """Loads of `read_only` arrays whose values sections hand to each other: more than `room`
    vectors, while nowhere anything else takes more than that."""
    result: set[Instr] = set()
    for block in program.blocks:
        kept = _kept(block, shapes, users)
        loads = {i: ends for i, ends in kept.items() if _reads(i, origins, read_only)}
        if block is not program.blocks[0]:  # addresses are known in all others
            loads = {i: ends for i, ends in loads.items() if _stays(i, users)}
        others = kept.keys() - loads.keys()
        if _most(kept[i] for i in others) > room:
            return set()
        if _most(kept.values()) > room:
            result |= loads.keys()
    return result


def _most(kept: Iterable[range]) -> int:
    """How many vectors are kept at once."""
    return max(Counter(end for ends in kept for end in ends).values(), default=0)


def _kept(block: Block, shapes: Shapes, users: Users) -> dict[Instr, range]:
    """The vectors that sections of a block hand on: the ends of sections that each outlives."""
    section: dict[Instr, int] = {}
    number = 0
    for instr in block.instrs:
        section[instr] = number
        number += instr.op == "call" and instr.arg == APART
    if not number:
        return {}
    result = {}
    for instr, first in section.items():
        if shapes[instr].is_varying and (uses := users.get(instr)):
            last = max(section[use] if _is_in(use, block) else number for use in uses)
            result[instr] = range(first, last)
    return {instr: cuts for instr, cuts in result.items() if cuts}


def _stays(instr: Instr, users: Users) -> bool:
    """Whether only its own block uses a value. Addresses of the first block are known in all."""
    return all(instr.block is not None and _is_in(use, instr.block) for use in users[instr])


def _is_in(use: Instr, block: Block) -> bool:
    return use.block is block and use.op != "phi"


def _reads(
    instr: Instr, origins: Mapping[Value, frozenset[Origin]], read_only: set[Argument]
) -> bool:
    if instr.op != "load" or not is_plain(instr):
        return False
    arrays = origins.get(pointer_of(instr), frozenset((instr,)))
    return len(arrays) == 1 and arrays <= read_only
