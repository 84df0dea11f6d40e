"""Dead code elimination: drops instructions whose result nobody uses and that change nothing."""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.ir import calls
from anymetal.ir.model import Instr, Value


def has_effect(instr: Instr) -> bool:
    """Whether the instruction must stay even if its result is unused."""
    if instr.op == "call":
        # Clang's output declares the cross-lane functions as touching hidden memory, so LLVM keeps
        # them all (see frontend/optimise.py): here those without use go.
        return calls.has_effect(instr.arg)
    if instr.op == "load":
        return bool(instr.arg.volatile)
    return instr.op in ("store", "atomicrmw", "cmpxchg", "fence") or instr.is_terminator


def run(known: Analyses) -> bool:
    """Drops them."""
    program = known.program
    before = sum(len(block.instrs) for block in program.blocks)
    live: set[Value] = set()
    work = [i for i in program.instructions() if has_effect(i)]
    live.update(work)
    while work:
        for operand in work.pop().operands:
            if isinstance(operand, Instr) and operand not in live:
                live.add(operand)
                work.append(operand)
    for block in program.blocks:
        block.instrs = [i for i in block.instrs if i in live]
    return sum(len(block.instrs) for block in program.blocks) < before
