"""Whether results may depend on the order in which threadgroups run.

Atomic operations on device memory are where threadgroups meet: sums of floats are rounded in the
order of their additions, and an old value tells who came before. Threadgroups run side by side on
the threads of the pool, so that order is another one each time; ANYMETAL_DETERMINISTIC has such a
kernel run on one thread, from the first threadgroup to the last (runtime/pool.py).
"""

from __future__ import annotations

from anymetal.analysis.objects import in_threadgroup, pointer_origins
from anymetal.ir.model import Instr, Program


def depends_on_order(program: Program) -> bool:
    """Whether there is an atomic operation that is not certain to be in threadgroup memory."""
    atomics = [instr for instr in program.instructions() if _is_atomic(instr)]
    if not atomics:
        return False
    origins = pointer_origins(program)
    pointers = [instr.operands[1 if instr.op == "store" else 0] for instr in atomics]
    return not all(in_threadgroup(origins.get(pointer, frozenset())) for pointer in pointers)


def _is_atomic(instr: Instr) -> bool:
    if instr.op in ("load", "guarded_load", "store"):
        return bool(instr.arg.atomic)
    return instr.op in ("atomicrmw", "cmpxchg")
