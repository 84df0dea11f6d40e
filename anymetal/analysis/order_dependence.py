"""Whether results may depend on the order in which threadgroups run.

Atomic operations on device memory are where threadgroups meet: sums of floats are rounded in the
order of their additions, and an old value tells who came before. Threadgroups run side by side on
the threads of the pool, so that order is another one each time; ANYMETAL_DETERMINISTIC has such a
kernel run on one thread, from the first threadgroup to the last (runtime/pool.py).
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import is_atomic, pointer_of
from anymetal.analysis.objects import in_threadgroup, origins


def depends_on_order(known: Analyses) -> bool:
    """Whether there is an atomic operation that is not certain to be in threadgroup memory."""
    atomics = [instr for instr in known.program.instructions() if is_atomic(instr)]
    pointers = map(pointer_of, atomics)
    return not all(in_threadgroup(known(origins).get(p, frozenset())) for p in pointers)
