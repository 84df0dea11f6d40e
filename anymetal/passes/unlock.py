"""Atomic loads and stores of threadgroup memory become plain ones.

Threadgroup memory belongs to one thread of the processor, which runs one gang at a time. Teams are
formed before, since those look at what a loop may wait for.

    %x = load atomic %p    becomes    %x = load %p    where %p leads into threadgroup memory
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import LOADS, pointer_of
from anymetal.analysis.objects import in_threadgroup, origins


def run(known: Analyses) -> bool:
    """Atomic loads and stores of threadgroup memory become plain ones: it belongs to one thread of
    the processor. (Not before teams are formed, which look at what a loop may wait for.)"""
    program = known.program
    leads_to, changed = known(origins), False
    for instr in program.instructions():
        if instr.op in (*LOADS, "store") and instr.arg.atomic and not instr.arg.volatile:
            if in_threadgroup(leads_to.get(pointer_of(instr), frozenset())):
                instr.arg = instr.arg._replace(atomic=False)
                changed = True
    return changed
