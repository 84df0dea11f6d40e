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
from anymetal.analysis.objects import Origin, disjoint, origins, read_only
from anymetal.analysis.places import place_of
from anymetal.ir.model import Block, Instr, Value
from anymetal.ir.rewrite import rewrite


def run(known: Analyses) -> bool:
    """Takes values that are there; returns whether any load went."""
    reuse = _Reuse(known)
    return rewrite(known.program, reuse.instead)


class _Reuse:
    def __init__(self, known: Analyses) -> None:
        self.origins, self.lasting = known(origins), known(read_only)
        self.block: Block | None = None
        self.loaded: dict[object, Instr] = {}  #: place and type -> the first load, in this block

    def instead(self, block: Block, instr: Instr) -> Value | None:
        """What has been loaded, in place of a load of the same."""
        if block is not self.block:
            self.block, self.loaded = block, {}
        if writes(instr):
            kept = ((k, load) for k, load in self.loaded.items() if self._lasts(load, instr))
            self.loaded = dict(kept)
        if instr.op != "load" or not is_plain(instr):
            return None
        before = self.loaded.setdefault((place_of(pointer_of(instr)), instr.type), instr)
        return None if before is instr else before

    def _lasts(self, load: Instr, instr: Instr) -> bool:
        """Whether an instruction that writes changes nothing of what was loaded."""
        leads_to = self._leads_to(load)
        if leads_to and leads_to <= self.lasting:
            return True
        stores = instr.op == "store" and is_plain(instr)
        return stores and disjoint(self._leads_to(instr), leads_to)

    def _leads_to(self, access: Instr) -> frozenset[Origin]:
        return self.origins.get(pointer_of(access), frozenset())
