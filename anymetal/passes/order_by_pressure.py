"""An order of instructions in which values wait in registers no longer than they must.

    for k: for j > k: row[j] -= row[k] * lane(row[k], j)

Unrolled, as it stands, this touches all of a thread's row in each step; that is more than there are
registers, so in each step most of it goes to memory and comes back. The same sums, each formed just
before it is needed, take what they need one after the other, and nothing is added in another order.
Which of the two is better is counted: what a processor would have to load again.
"""

from __future__ import annotations

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import touches
from anymetal.analysis.flow import final_shapes
from anymetal.analysis.uniformity import Shapes
from anymetal.ir.calls import APART, SHUFFLE
from anymetal.ir.model import Block, Instr, Value

#: Values of 32 lanes that most registers hold: AVX-512 has 32 of 16 lanes.
ROOM = 16
#: Vectors that go to memory or come back, from which on it is worth to look for another order.
MANY = 64
_SAME = ("bitcast", "fneg", "freeze")


def order_lazily(known: Analyses) -> bool:
    """Puts the instructions of blocks in that order, where fewer values go to memory then."""
    program = known.program
    shapes, changed = known(final_shapes), False
    for block in program.blocks:
        if any(i.op == "call" and i.arg == APART for i in block.instrs):
            continue  # sections of a team's SIMD-groups have an order of their own
        before = _moves(block.instrs, shapes)
        if before >= MANY:
            lazy = _lazy(block)
            if _moves(lazy, shapes) < before * 3 // 4:
                block.instrs, changed = lazy, True
    return changed


def _lazy(block: Block) -> list[Instr]:
    """What stays keeps its order; everything else comes just before who needs it first."""
    place = {instr: at for at, instr in enumerate(block.instrs) if instr.op != "phi"}
    done: dict[Instr, None] = dict.fromkeys(block.phis)
    ends = [i for i in place if _stays(i)]
    others = [i for i in place if not _stays(i)]  # of which some are for other blocks
    for end in (*ends[:-1], *others, ends[-1]):
        if end not in done:
            _finish(end, place, done)
    return list(done)


def _finish(end: Instr, place: dict[Instr, int], done: dict[Instr, None]) -> None:
    """Everything that `end` needs and that is not done yet, longest chains first: what is short
    waits for them."""

    def missing(instr: Instr) -> list[Instr]:
        return [v for v in instr.operands if v in place and v not in done]

    needed, found = {end}, [end]
    while found:
        new = [v for v in missing(found.pop()) if v not in needed]
        needed.update(new)
        found += new
    depth: dict[Instr, int] = {}
    for instr in sorted(needed, key=place.__getitem__):
        depth[instr] = 1 + max((depth[v] for v in missing(instr)), default=0)
    stack = [end]
    while stack:
        next_ = max(missing(stack[-1]), key=depth.__getitem__, default=None)
        if next_ is None:
            done.setdefault(stack.pop())
        else:
            stack.append(next_)


def _stays(instr: Instr) -> bool:
    ours = instr.op == "call" and instr.arg.startswith("__am_") and instr.arg != SHUFFLE
    return ours or touches(instr) or instr.is_terminator or instr.op in ("phi", "alloca")


def _moves(instrs: list[Instr], shapes: Shapes) -> int:
    """How many vectors go to memory and come back if the one that is needed last always has to
    make room. Shuffles and casts are left out: those are lanes in memory, or the same registers."""
    same: dict[Value, Value] = {}
    uses: dict[Value, list[int]] = {}  #: from the last to the first
    used: list[set[Value]] = []
    for at, instr in enumerate(instrs):
        if instr.op in _SAME:
            same[instr] = same.get(instr.operands[0], instr.operands[0])
        silent = instr.op in _SAME or (instr.op == "call" and instr.arg == SHUFFLE)
        values = set() if silent else {same.get(v, v) for v in instr.operands}
        used.append({v for v in values if shapes[v].is_varying})
        for value in used[-1]:
            uses.setdefault(value, []).append(at)
    for places in uses.values():
        places.reverse()
    held: set[Value] = set()
    stored: set[Value] = set()
    moves = 0
    for instr, values in zip(instrs, used, strict=True):
        moves += len(values - held)
        held |= values
        for value in values:
            uses[value].pop()
        if instr in uses:
            held.add(instr)
        held = {v for v in held if uses[v]}
        while len(held) > ROOM:
            last = max(held, key=lambda v: uses[v][-1])
            held.remove(last)
            moves += last not in stored
            stored.add(last)
    return moves
