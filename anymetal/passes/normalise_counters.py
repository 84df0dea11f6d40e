"""Counters that begin at a thread's position count from zero.

    for (j = y; j < 32; j += 8) …                y is below 8

becomes

    for (i = 0; i < 32; i += 8) j = y + i, …

The loop has four iterations, wherever it begins. That follows from the range of `y`, at which LLVM
does not look: to it, each thread has a number of iterations of its own. Now that is a constant. So
lanes and SIMD-groups leave the loop together, and what they access is as far apart as they are.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import loops
from anymetal.analysis.induction import Induction, inductions, iterations, only_exit
from anymetal.analysis.ranges import Bounds
from anymetal.ir import types as t
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Const, Instr, Value
from anymetal.passes.counts import replace, split

_NO_WRAP = "nuw nsw"


def run(known: Analyses) -> bool:
    """Whether there was such a counter."""
    below = Bounds(known.program.limits)
    found = [
        (loop, one, count)
        for loop in known(loops)
        for one in known(inductions)[loop]
        if (count := _same_for_all(loop, one, below))
    ]
    replace(known.program, dict(_normalised(*one) for one in found))
    return bool(found)


def _same_for_all(loop: Loop, one: Induction, below: Bounds) -> int:
    """The number of iterations if it is the same wherever the counter begins; else 0."""
    if one.start is None or isinstance(one.start, Const) or len(one.tests) != 1 or one.growth < 0:
        return 0
    first, last = (iterations(loop, one, start) for start in (0, below(one.start) - 1))
    wraps = first * one.growth >> 31  # when the count ends the loop, where the counter did not
    return first if first == last and not wraps else 0


def _normalised(loop: Loop, one: Induction, iterations: int) -> tuple[Value, Value]:
    """Counts from zero, and so often; the counter, and what takes its place."""
    phi, whole = split(loop, one.phi, one.update)
    _, count = whole.operands
    assert isinstance(count, Instr)
    following = count.operands[count.arg.index(loop.latches[0])]
    assert isinstance(following, Instr)
    whole.flags = following.flags = _NO_WRAP  # the numbers are those that the counter had
    end = only_exit(loop)
    assert end
    branch, limit = end.terminator, Const(count.type, str(iterations * one.growth))
    kind = "ne" if branch.arg[0] is loop.header else "eq"
    test = Instr(t.I1, "icmp", [following, limit], kind, "", branch.loc)
    end.insert(-1, [test])
    branch.operands = [test]
    return phi, whole
