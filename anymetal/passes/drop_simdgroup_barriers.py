"""Barriers of a SIMD-group go, where a gang is one.

    store %x, %p                                 store %x, %p
    call @__am_simdgroup_barrier(2)    becomes   %y = load %q
    %y = load %q

The lanes of a gang take each step together, in the order of the program: whatever one of them has
stored, the next instruction of all of them finds. Without the barrier, what was loaded in front of
it may be read from where it lies behind it (simd/access/matrix_places.py). One that is a fence for
device memory stays, as other threadgroups may look at that.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir.calls import SIMDGROUP_BARRIER
from anymetal.ir.model import Const, Instr

#: Metal's flag for threadgroup memory.
_THREADGROUP = 2


def run(known: Analyses) -> bool:
    """Drops them."""
    found = False
    for block in known.program.blocks:
        before = len(block.instrs)
        block.instrs = [instr for instr in block.instrs if not _is_idle(instr)]
        found |= len(block.instrs) < before
    return found


def _is_idle(instr: Instr) -> bool:
    if instr.op != "call" or instr.arg != SIMDGROUP_BARRIER:
        return False
    flags = instr.operands[0]
    return isinstance(flags, Const) and flags.int_value in (0, _THREADGROUP)
