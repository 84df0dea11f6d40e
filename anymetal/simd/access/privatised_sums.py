"""Privatised sums: each worker thread adds to an array of its own while a launch runs.

    atomic_fetch_add_explicit(&bins[x[i]], 1, memory_order_relaxed);

An atomic addition costs ten times a plain one, and more if other threads add to the same place. If
a kernel adds to an array and does nothing else with it, and looks at no old value, nobody can tell
when the additions arrive, nor in which order; sums of floats depend on that order, which Metal
leaves open. So each worker adds to an array of its own, without atomics, and hands its sums over at
the end (targets/cpu/entry.py). The index shows how large that array must be. Where it does not, as
with an index out of memory, the launch knows how large the shared one is; additions beyond that, if
there are any, go where they would have gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import touches_nothing
from anymetal.analysis.flow import used
from anymetal.analysis.objects import origins
from anymetal.analysis.ranges import Bounds
from anymetal.ir import types as t
from anymetal.ir.model import Argument, Instr, Value
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.machine import Machine

_SIZE = 4  #: bytes of an element
#: Bytes before and behind an array whose size the launch knows, for lanes that are not active.
ROOM = SIMD_GROUP * _SIZE


class Sums(NamedTuple):
    """A worker's array in place of an argument."""

    argument: Argument
    type: t.Type
    bins: int  #: its elements, rounded up to whole cache lines; 0: as many as the shared one has
    offset: int  #: where it begins in the memory for all such arrays, in bytes


def find_privatised_sums(known: Analyses) -> dict[Argument, Sums]:
    """The arguments that may have one. All of a worker's fit into its second-level cache."""
    program, leads_to = known.program, known(origins)
    if program.shared_buffers:
        return {}
    bins: dict[Argument, int | None] = {}  # 0: as many as the array has; None: it may have none
    types: dict[Argument, t.Type] = {}
    bound = Bounds()
    for instr in program.instructions():
        if instr.op == "call" and touches_nothing(instr):
            continue
        places = [instr.operands[0]] if _adds(instr, known(used)) else []
        for value in instr.operands:
            for origin in leads_to.get(value, frozenset()):
                if not isinstance(origin, Argument) or instr.op == "gep":
                    continue
                count = _bins(value, origin, bound) if value in places else None
                if types.setdefault(origin, instr.type) != instr.type:
                    count = None
                bins[origin] = _most(bins.get(origin, count), count)
    return _laid_out(bins, types, known.machine)


def _most(before: int | None, count: int | None) -> int | None:
    if before is None or count is None:
        return None
    return before and count and max(before, count)


def _laid_out(
    bins: Mapping[Argument, int | None], types: Mapping[Argument, t.Type], machine: Machine
) -> dict[Argument, Sums]:
    """The arrays in the memory that a worker has for all of them; behind those that are small for
    certain there is room for another one."""
    result: dict[Argument, Sums] = {}
    total, most, line = 0, machine.caches.second, machine.line // _SIZE
    for argument, count in bins.items():
        count = -(-(count or 0) // line) * line
        if count and total + count * _SIZE <= most:
            result[argument] = Sums(argument, types[argument], count, total)
            total += count * _SIZE
    others = (a for a, count in bins.items() if count is not None and a not in result)
    if other := next(others, None):
        result[other] = Sums(other, types[other], 0, total + ROOM)
    return result


def _adds(instr: Instr, used: set[Value]) -> bool:
    return (
        instr.op == "atomicrmw"
        and (instr.arg[0], instr.type) in (("add", t.I32), ("fadd", t.FLOAT))
        and not instr.arg[1].volatile
        and instr not in used
    )


def _bins(pointer: Value, argument: Argument, bound: Bounds) -> int | None:
    """How large an array must be so that an address is in it for certain; 0: unknown. None if the
    address may lie between elements."""
    farthest, unknown = 0, False
    while pointer is not argument:
        if not isinstance(pointer, Instr) or pointer.op != "gep":
            return None
        (base, *indices), (*scales, offset) = pointer.operands, pointer.arg
        steps = [(bound(index) - 1, scale) for index, scale in zip(indices, scales, strict=True)]
        steps.append((1, offset))
        if any(scale % _SIZE for _, scale in steps):
            return None
        unknown = unknown or any(most < 0 or scale < 0 for most, scale in steps)
        farthest += sum(most * scale for most, scale in steps)
        pointer = base
    return 0 if unknown else farthest // _SIZE + 1
