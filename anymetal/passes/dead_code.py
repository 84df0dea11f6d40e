"""Dead code elimination: drops instructions whose result nobody uses and that change nothing.

    %old = call @__am_shuffle(%x, 3)          without users: gone, and %x with it

LLVM has done this before, but not for cross-lane functions: Clang's output declares them as
touching hidden memory (frontend/optimise.py), so LLVM keeps them all.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import must_stay
from anymetal.ir.model import Instr, Value


def run(known: Analyses) -> bool:
    """Drops them."""
    program = known.program
    before = program.size
    live: set[Value] = set()
    work = [i for i in program.instructions() if must_stay(i)]
    live.update(work)
    while work:
        for operand in work.pop().operands:
            if isinstance(operand, Instr) and operand not in live:
                live.add(operand)
                work.append(operand)
    for block in program.blocks:
        block.instrs = [i for i in block.instrs if i in live]
    return program.size < before
