"""Stores that may bypass the caches (non-temporal stores).

Before it stores to a cache line, a processor reads the line, for nothing if all of it is stored; a
non-temporal store does not. That pays for results larger than the caches, which are pushed out
again before anybody reads them. The launch knows their size and decides (targets/cpu/entry.py).
Here is which stores qualify: those of whole lines to an array that the kernel stores to once and
uses in no other way. A group (groups.py) counts as one such store.
"""

from __future__ import annotations

from functools import cache
from math import prod

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import is_plain
from anymetal.analysis.flow import users
from anymetal.analysis.induction import trips
from anymetal.analysis.must_execute import loops_of
from anymetal.analysis.objects import Origin
from anymetal.analysis.regions import RegionTree
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Argument, Instr, Program, Value
from anymetal.ir.walk import made_from
from anymetal.simd.access.groups import Group


def streaming_stores(
    program: Program, tree: RegionTree, shapes: Shapes, origins: dict[Value, frozenset[Origin]],
    groups: dict[Instr, Group], line: int,
) -> set[Instr]:  # fmt: skip
    """Stores of consecutive elements, or groups of stores, that cover whole lines of `line` bytes
    if the first begins one."""
    read = _read(program, origins)
    return {
        instr
        for instr in program.instructions()
        if instr.op == "store"
        and is_plain(instr)
        and _has_no_gaps(instr, shapes, groups)
        and shapes[instr.operands[1]].stride * shapes.width >= line
        and _only_written(origins.get(instr.operands[1], frozenset()), read)
        and _moves(instr, tree)
    }


def bytes_of(known: Analyses, stores: set[Instr]) -> int:
    """How many bytes of memory a thread stores to. A store in constant loops of which every thread
    runs all iterations counts once for each, if these lead it elsewhere."""

    @cache
    def made_in(loop: Loop) -> set[Value]:
        return made_from(known(users), loop.header.phis)

    def of(store: Instr) -> int:
        assert store.block is not None
        around = loops_of(known, store.block) or ()
        leading = [one for one in around if store.operands[1] in made_in(one)]
        return int(store.operands[0].type.size * prod(known(trips)[one] for one in leading))

    return sum(map(of, stores))


def _has_no_gaps(store: Instr, shapes: Shapes, groups: dict[Instr, Group]) -> bool:
    if store in groups:
        return not groups[store].has_gaps
    return shapes[store.operands[1]].stride == store.operands[0].type.size


def _read(program: Program, origins: dict[Value, frozenset[Origin]]) -> set[Origin]:
    """All memory that is accessed in any other way than by a store through a known pointer."""
    return {
        origin
        for instr in program.instructions()
        for value in instr.operands
        if instr.op not in ("gep", "phi", "select", "freeze")
        and not (instr.op == "store" and value is instr.operands[1])
        for origin in origins.get(value, frozenset())
    }


def _only_written(origins: frozenset[Origin], read: set[Origin]) -> bool:
    return len(origins) == 1 and all(isinstance(o, Argument) and o not in read for o in origins)


def _moves(store: Instr, tree: RegionTree) -> bool:
    """Whether a store in a loop has another address in each iteration."""
    assert store.block is not None
    loop: Loop | None = tree.node_of[store.block].region.loop
    pointer = store.operands[1]
    return loop is None or (isinstance(pointer, Instr) and pointer.block in loop.blocks)
