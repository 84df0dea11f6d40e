"""Sums that each worker thread keeps for itself while a launch runs.

    atomic_fetch_add_explicit(&bins[x[i]], 1, memory_order_relaxed);

An addition that other processors must see at once costs ten times one in the thread's own memory.
Where a kernel does nothing with an array but add integers to it, and looks at no old value, nobody
can tell when they arrive: additions of integers give the same in any order. So a worker adds to an
array of its own, with plain instructions, and hands that over when nothing is left for it to do
(targets/cpu/entry.py). It must be small, and how large it has to be must follow from the index.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.objects import Origin
from anymetal.analysis.ranges import Bounds
from anymetal.ir import types as t
from anymetal.ir.model import Argument, Instr, Program, Value

MOST_BYTES = 1 << 20
_SIZE = 4  #: bytes of an element
_LINE = 16  #: elements


class Sums(NamedTuple):
    """The own array of a worker for an argument."""

    argument: Argument
    bins: int  #: elements that may be added to, rounded up to whole cache lines
    offset: int  #: bytes in front of it in the memory for all such arrays


def find_own_sums(
    program: Program, origins: dict[Value, frozenset[Origin]], used: set[Value]
) -> dict[Argument, Sums]:
    """The arguments whose additions can wait."""
    if program.shared_buffers:
        return {}
    bins: dict[Argument, int] = {}
    bound = Bounds()
    for instr in program.instructions():
        places = [instr.operands[0]] if _adds(instr, used) else []
        for value in instr.operands:
            for origin in origins.get(value, frozenset()):
                if not isinstance(origin, Argument) or instr.op == "gep":
                    continue
                count = _bins(value, origin, bound) if value in places else 0
                known = bins.get(origin, count)
                bins[origin] = max(known, count) if known and count else 0
    result: dict[Argument, Sums] = {}
    total = 0
    for argument, count in bins.items():
        count = -(-count // _LINE) * _LINE
        if count and total + count * _SIZE <= MOST_BYTES:
            result[argument] = Sums(argument, count, total)
            total += count * _SIZE
    return result


def _adds(instr: Instr, used: set[Value]) -> bool:
    return (
        instr.op == "atomicrmw"
        and instr.arg[0] == "add"
        and instr.type == t.I32
        and not instr.arg[1].volatile
        and instr not in used
    )


def _bins(pointer: Value, argument: Argument, bound: Bounds) -> int:
    """The elements in front of which an address lies for certain; 0 if that is unknown."""
    if pointer is argument:
        return 1
    if isinstance(pointer, Instr) and pointer.op == "gep" and pointer.operands[0] is argument:
        *scales, offset = pointer.arg
        if scales == [_SIZE] and not offset:
            return bound(pointer.operands[1])
    return 0
