"""Whether results may depend on the order in which threadgroups run.

Threadgroups meet in atomic operations on device memory: sums of floats are rounded in the order of
their additions, and an old value tells who came before. That order differs from run to run, since
the threads of the pool work side by side. With ANYMETAL_DETERMINISTIC such a kernel runs on one
thread, from the first threadgroup to the last (runtime/pool.py).
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import is_atomic, pointer_of
from anymetal.analysis.objects import in_threadgroup, origins


def depends_on_order(known: Analyses) -> bool:
    """Whether there is an atomic operation that may be on device memory."""
    atomics = [instr for instr in known.program.instructions() if is_atomic(instr)]
    pointers = map(pointer_of, atomics)
    return not all(in_threadgroup(known(origins).get(p, frozenset())) for p in pointers)
