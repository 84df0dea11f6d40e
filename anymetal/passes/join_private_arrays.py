"""Private arrays that one pointer may lead into become one array.

    %v = alloca [4 x float]                  %all = alloca [32 x i8]
    %w = alloca [4 x float]        becomes   %v = gep %all + 0
    %p = phi %v, %w                          %w = gep %all + 16
    store %x, %p

LLVM takes an array apart whose elements are accessed at constant places, also where a pointer is
one of these places or another: `v[j] = x` behind an unrolled loop that counts j down. Pointers into
one array are offsets (interleave.py), pointers into several are addresses, for which every access
would be a gather or a scatter.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.objects import origins
from anymetal.ir import types as t
from anymetal.ir.model import Instr


def run(known: Analyses) -> bool:
    """Joins them."""
    arrays, leads_to = known.program.private_arrays, known(origins)
    groups = {array: {array} for array in arrays}
    for of in leads_to.values():
        if len(of) > 1 and groups.keys() >= of:
            whole = set[Instr]().union(*(groups[array] for array in groups if array in of))
            groups.update(dict.fromkeys(whole, whole))
    joined = False
    while arrays:
        group = groups[arrays[0]]
        if len(group) > 1:
            _join(known, [array for array in arrays if array in group])
            joined = True
        arrays = [array for array in arrays if array not in group]
    return joined


def _join(known: Analyses, arrays: list[Instr]) -> None:
    """Makes these arrays parts of one that is new, each at a multiple of its alignment."""
    end, widest = 0, max(array.arg[1] for array in arrays)
    whole = Instr(arrays[0].type, "alloca", [], None, name=f"{arrays[0].name}.joined")
    for array in arrays:
        type_, align = array.arg
        start = -(-end // align) * align
        end = start + type_.size
        array.op, array.operands, array.arg = "gep", [whole], (start,)
    whole.arg = (t.Array(end, t.I8), widest)
    entry = known.program.blocks[0]
    entry.refill([whole, *entry.instrs])
