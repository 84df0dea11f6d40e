"""Loads by a few lanes of threadgroup memory that was stored one element at a time go lane by lane.

    if (lane == 0) parts[group] = sum;   barrier;   if (lane < 8) total = parts[lane];

Reductions over a threadgroup end like this. A processor forwards a stored value to a load of
exactly that value. A vector load that covers several stores has to wait until all of them, and all
stores before them, have reached the cache. So a few scalar loads are faster.
"""

from __future__ import annotations

from anymetal.analysis.effects import is_plain
from anymetal.analysis.lane_numbers import LaneNumbers
from anymetal.analysis.mask_sources import MaskRoots
from anymetal.analysis.objects import Origin
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.model import Block, Global, Instr, Program, Value

FEW = 8  #: lanes; more take longer one by one than the wait


def few_lane_loads(
    program: Program, shapes: Shapes, numbers: LaneNumbers, roots: MaskRoots,
    origins: dict[Value, frozenset[Origin]], sources: dict[Block, list[Block]],
) -> dict[Instr, list[int]]:  # fmt: skip
    """Such loads, of neighbouring elements, with the lanes of a full gang that do them."""
    piecewise = _stored_piecewise(program, shapes, origins)
    if not piecewise:
        return {}
    lanes = _Lanes(sources, numbers, roots)
    result = {}
    for instr in program.instructions():
        if instr.op != "load" or not is_plain(instr):
            continue
        pointer = instr.operands[0]
        side_by_side = shapes[pointer].is_strided and shapes[pointer].stride == instr.type.size
        leads_to = origins.get(pointer, frozenset())
        if side_by_side and leads_to and leads_to <= piecewise:
            assert instr.block is not None
            active = lanes.of(instr.block)
            if active is not None and len(active) <= FEW:
                result[instr] = active
    return result


def _stored_piecewise(
    program: Program, shapes: Shapes, origins: dict[Value, frozenset[Origin]]
) -> set[Origin]:
    """Threadgroup variables that the program stores to only by uniform addresses, one element at a
    time."""
    single: set[Origin] = set()
    others: set[Origin] = set()
    for instr in program.instructions():
        if instr.op in ("load", "guarded_load", "gep", "phi", "select", "freeze", "icmp"):
            continue
        for value in instr.operands:
            one = instr.op == "store" and value is instr.operands[1] and shapes[value].is_uniform
            (single if one else others).update(origins.get(value, ()))
    return {o for o in single - others if isinstance(o, Global) and o.threadgroup}


class _Lanes:
    """Which lanes are active in a block, where that follows from lane numbers."""

    def __init__(
        self, sources: dict[Block, list[Block]], numbers: LaneNumbers, roots: MaskRoots
    ) -> None:
        self.sources = sources  #: the predecessors of each block
        self.numbers = numbers
        self.roots = roots

    def of(self, block: Block) -> list[int] | None:
        """The lanes in a block that is reached only by a branch of all lanes on the lane number;
        else None."""
        sources = self.sources[block]
        if len(sources) != 1 or not self.roots.always_full(sources[0]):
            return None
        branch = sources[0].terminator
        if len(branch.arg) != 2 or branch.arg[0] is branch.arg[1]:
            return None
        taken = self.numbers(branch.operands[0])
        wanted = int(branch.arg[0] is block)
        return None if taken is None else [i for i, yes in enumerate(taken) if yes == wanted]
