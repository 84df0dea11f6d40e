"""What a block has loaded once it does not load again, if nothing may have changed it.

    uint alpha = a[4 * i + 3];
    for (uint j = 0; j < 4; ++j) out[4 * i + j] = a[4 * i + j] * alpha;

LLVM, which has unrolled the loop, knows that as long as both addresses are written in the same way.
Here the last one is `a + (4 * i | 3)` and the first `(a + 4 * i) + 3`. Neighbours of which one
comes twice would be no group (simd/access/groups.py).
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import is_plain, pointer_of, writes
from anymetal.analysis.objects import disjoint, origins, read_only
from anymetal.analysis.places import place_of
from anymetal.ir.model import Block, Instr, Value
from anymetal.ir.rewrite import rewrite


def run(known: Analyses) -> bool:
    """Takes values that are there; returns whether any load went."""
    lasting = known(read_only)
    places: dict[object, Instr] = {}
    within: list[Block] = []

    def reused(block: Block, instr: Instr) -> Value | None:
        if within != [block]:
            within[:] = [block]
            places.clear()
        if writes(instr):
            for place, load in list(places.items()):
                if not (_leads_to(load) <= lasting or _is_elsewhere(instr, load)):
                    del places[place]
        if instr.op != "load" or not is_plain(instr):
            return None
        place = (place_of(pointer_of(instr)), instr.type)
        before = places.setdefault(place, instr)
        return None if before is instr else before

    def _leads_to(load: Instr) -> frozenset[object]:
        return frozenset(known(origins)[pointer_of(load)])

    def _is_elsewhere(instr: Instr, load: Instr) -> bool:
        """Whether a plain store never touches the memory that was loaded."""
        leads = known(origins)
        stores = instr.op == "store" and is_plain(instr)
        return stores and disjoint(leads[pointer_of(instr)], leads[pointer_of(load)])

    return rewrite(known.program, reused)
