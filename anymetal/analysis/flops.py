"""How many floating-point operations a thread does, where the program alone says so.

It does where each operation runs equally often in every thread: on no side of a branch, and in
loops of constant length only. What reads its trip counts or conditions from memory is not guessed.
"""

from __future__ import annotations

from math import prod

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import dominators
from anymetal.analysis.induction import trips
from anymetal.analysis.must_execute import loops_of
from anymetal.ir.calls import name_of_intrinsic
from anymetal.ir.model import Instr

#: A fused multiplication and addition is two operations, as everywhere else.
_OPERATIONS = dict.fromkeys("fadd fsub fmul fdiv frem sqrt".split(), 1) | {"fma": 2, "fmuladd": 2}
#: Calls that give floats without arithmetic on them.
_FREE = frozenset(
    "fabs copysign floor ceil trunc rint nearbyint round roundeven minnum maxnum minimum maximum "
    "minimumnum maximumnum fmin fmax canonicalize".split()
)


def flops(known: Analyses) -> int | None:
    """Floating-point operations of one thread; None where they cannot be counted."""
    total = 0
    for block in known(dominators):
        counts = [_operations(instr) for instr in block.instrs]
        if None in counts:
            return None
        own = sum(filter(None, counts))
        if not own:
            continue
        around = loops_of(known, block)
        if around is None:
            return None
        total += own * prod(known(trips)[loop] for loop in around)
    return total


def _operations(instr: Instr) -> int | None:
    """Of an instruction. None: who knows."""
    if not instr.type.scalar.is_float:
        return 0
    if instr.op != "call":
        return _OPERATIONS.get(instr.op, 0) * instr.type.lanes
    name = name_of_intrinsic(instr.arg).removesuffix("f")
    if name in _FREE or name.startswith("__am_shuffle"):
        return 0
    if name not in _OPERATIONS:
        return None
    return _OPERATIONS[name] * instr.type.lanes
