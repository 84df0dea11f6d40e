"""Induction variables: phis of a loop that grow by the same amount in each iteration.

    loop: %i = phi [ %start, %before ], [ %next, %last ] … %next = add %i, %step

Where the loop ends by a comparison of one with a constant, the number of iterations follows.
"""

from __future__ import annotations

from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import loops
from anymetal.ir import types as t
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Const, Instr, Value


class Induction(NamedTuple):
    """An induction variable."""

    phi: Instr
    start: Value | None  #: None if there are several ways into the loop
    update: Instr  #: the addition that makes the value of the next iteration
    step: Value  #: what is added, a loop invariant
    tests: list[Instr]  #: comparisons at exits: of phi or update with a loop invariant

    @property
    def growth(self) -> int:
        """The step if it is a constant, else 0."""
        return _constant(self.step) or 0


def inductions(known: Analyses) -> dict[Loop, list[Induction]]:
    """The induction variables of each loop, in the order of its phis."""
    return {
        loop: [one for phi in loop.header.phis if (one := _induction(phi, loop)) is not None]
        for loop in known(loops)
    }


def trips(known: Analyses) -> dict[Loop, int]:
    """The number of iterations of each loop that is left at its end only, if it is constant."""
    found: dict[Loop, int] = {}
    for loop, variables in known(inductions).items():
        for one in variables:
            start = _constant(one.start)
            if start is not None and (count := iterations(loop, one, start)):
                found[loop] = count
    return found


def iterations(loop: Loop, one: Induction, start: int) -> int:
    """The number of iterations if a variable starts at a number; 0 if it is not known."""
    end = only_exit(loop)
    counts = [_trips(end, loop, one, test, start) for test in one.tests] if end else []
    return next(filter(None, counts), 0)


def only_exit(loop: Loop) -> Block | None:
    """The block at the end of a loop, if there is only one, and the loop is left only there."""
    exits = {block for block, _ in loop.exits}
    return loop.latches[0] if len(exits) == 1 and exits == set(loop.latches) else None


def _induction(phi: Instr, loop: Loop) -> Induction | None:
    inside = {v for v, b in zip(phi.operands, phi.arg, strict=True) if b in loop.blocks}
    outside = [v for v, b in zip(phi.operands, phi.arg, strict=True) if b not in loop.blocks]
    (update,) = inside if len(inside) == 1 else (None,)
    if not isinstance(update, Instr) or update.op != "add" or phi not in update.operands:
        return None
    step = update.operands[update.operands[0] is phi]
    if _changes(step, loop):
        return None
    start = outside[0] if len(outside) == 1 else None
    return Induction(phi, start, update, step, _tests(loop, (phi, update)))


def _tests(loop: Loop, counters: tuple[Instr, Instr]) -> list[Instr]:
    conditions = [block.terminator.operands[0] for block, _ in loop.exits]
    return [
        one
        for one in conditions
        if isinstance(one, Instr) and one.op == "icmp"
        if one.operands[0] in counters and not _changes(one.operands[1], loop)
    ]


def _changes(value: Value, loop: Loop) -> bool:
    return isinstance(value, Instr) and value.block in loop.blocks


def _constant(value: Value | None) -> int | None:
    return value.int_value if isinstance(value, Const) else None


def _trips(end: Block, loop: Loop, one: Induction, test: Instr, start: int) -> int:
    """The iterations that a comparison allows; 0 if numbers may wrap, or be negative other than at
    the end of a count down."""
    limit, step = _constant(test.operands[1]), one.growth
    assert isinstance(one.phi.type, t.Int)
    largest = 1 << min(one.phi.type.bits - 1, 31)
    if limit is None or not step or not 0 <= start < largest:
        return 0
    first = start + (step if test.operands[0] is one.update else 0)
    again = end.terminator.arg[0] is loop.header
    kind = test.arg if test.arg in _OPPOSITE else test.arg[1:]  # slt and ult are alike here
    leaves = _OPPOSITE[kind] if again else kind
    least = 0 if step > 0 or test.arg.startswith("u") else step
    distance = limit - first
    if step < 0:  # as of a count up, past zero
        leaves, distance = _MIRRORED.get(leaves, leaves), -distance
    before = _until(leaves, distance, abs(step))
    if before is None or limit < least or not least <= first + step * before < largest:
        return 0
    return before + 1


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def _until(kind: str, distance: int, step: int) -> int | None:
    """The steps that a number takes until it compares so with one `distance` above its start."""
    match kind:
        case "eq":
            return distance // step if distance >= 0 and distance % step == 0 else None
        case "ne":
            return int(distance == 0)
        case "ge":
            return max(0, -(-distance // step))
        case "gt":
            return max(0, distance // step + 1)
        case _:
            return 0 if distance > 0 or (kind == "le" and distance == 0) else None
