"""Atomic loads and stores of threadgroup memory become plain ones.

    %x = load atomic %p    becomes    %x = load %p    if %p leads into threadgroup memory only

Threadgroup memory belongs to one thread of the processor, which runs one gang at a time.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, pointer_of
from anymetal.analysis.objects import in_threadgroup, origins


def run(known: Analyses) -> bool:
    """Changes all of them."""
    program = known.program
    leads_to, changed = known(origins), False
    for instr in program.instructions():
        if instr.op in (*LOADS, "store") and instr.arg.atomic and not instr.arg.volatile:
            if in_threadgroup(leads_to.get(pointer_of(instr), frozenset())):
                instr.arg = instr.arg._replace(atomic=False)
                changed = True
    return changed
