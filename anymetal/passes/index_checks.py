"""Checks of indices that a kernel makes: conditions under which it accesses memory.

    if (r >= 0 && r < rows && c >= 0 && c < columns) sum += weight * x[r * columns + c];

Such a check is the condition of a guarded load, or of a branch of which one way alone accesses
memory. It consists of comparisons by size, or with the one number that fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from anymetal.analysis import control
from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import ACCESSES, pointer_of
from anymetal.analysis.flow import users
from anymetal.analysis.lane_numbers import LaneNumbers
from anymetal.ir.calls import POSITIONS
from anymetal.ir.cfg import Loop, dominates
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.walk import made_from

_BY_SIZE = ("ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")
_PLACES = frozenset(n for n in POSITIONS if "size" not in n and "grid" not in n)


class Check(NamedTuple):
    """A condition under which memory is accessed if it is `wanted`."""

    condition: Instr
    wanted: bool
    comparisons: dict[Instr, bool]  #: those that it consists of, and how each must come out


def placed(known: Analyses) -> set[Value]:
    """Values of a program that differ from thread to thread."""
    return made_from(known(users), (i for i in known.program.instructions() if is_place(i)))


def checks(known: Analyses) -> Iterator[Check]:
    """All bounds checks of a program."""
    program, preds = known.program, known(control.predecessors)
    blocks = program.blocks
    idom, loops = known(control.dominators), known(control.loops)
    moving = known(placed)

    def behind(block: Block) -> list[Value]:
        """The addresses of accesses that are done by way of a block only."""
        reached = (b for b in blocks if dominates(idom, block, b))
        return [pointer_of(i) for b in reached for i in b.instrs if i.op in ACCESSES]

    for block in blocks:
        for instr in block.instrs:
            if instr.op == "guarded_load":
                wanted = "inverted" not in instr.flags
                yield from _check(instr.operands[1], wanted, [instr.operands[0]], moving)
        meeting = known(control.postdominators).get(block)
        if len(block.successors) != 2 or meeting is None or _may_leave(block, meeting, loops):
            continue
        for way, successor in enumerate(block.successors):
            around = block.successors[1 - way]
            if preds[successor] != [block]:
                continue
            if _through(around) is meeting or (preds[around] == [block] and not behind(around)):
                yield from _check(block.terminator.operands[0], way == 0, behind(successor), moving)
                break


def _may_leave(block: Block, meeting: Block, loops: list[Loop]) -> bool:
    """Whether a branch, whose ways meet again there, decides about leaving a loop."""
    return any(block in loop.blocks and meeting not in loop.blocks for loop in loops)


def _through(block: Block) -> Block:
    """The block itself, or its successor if it does nothing."""
    return block.successors[0] if [i.op for i in block.instrs] == ["br"] else block


def _check(
    condition: Value, wanted: bool, pointers: list[Value], moving: set[Value]
) -> Iterator[Check]:
    """The check that a condition is. `moving`: values that differ from thread to thread, unlike the
    length of a row."""
    comparisons = comparisons_of(condition, wanted)
    if comparisons is None:
        return
    inside = made_of(pointers) & moving
    if isinstance(condition, Instr) and all(made_of(one.operands) & inside for one in comparisons):
        yield Check(condition, wanted, comparisons)


def is_place(instr: Instr) -> bool:
    """Whether this is where a thread stands, which differs from thread to thread."""
    return instr.op == "call" and instr.arg in _PLACES


def comparisons_of(condition: Value, wanted: bool) -> dict[Instr, bool] | None:
    """The comparisons that a condition is the conjunction of, and how each must come out; None if
    it is no such conjunction."""
    found: dict[Instr, bool] = {}
    work = [(condition, wanted)]
    seen = set(work)
    while work:
        value, as_wanted = work.pop()
        if isinstance(value, Instr) and value.op == "icmp":
            bounds = value.arg in _BY_SIZE or _excludes_one(value, as_wanted)
            if not bounds or found.setdefault(value, as_wanted) != as_wanted:
                return None
            continue
        parts = _conjuncts(value, as_wanted)
        if parts is None:
            return None
        new = [part for part in parts if part not in seen]
        seen.update(new)
        work += reversed(new)
    return found


def _conjuncts(value: Value, wanted: bool) -> list[tuple[Value, bool]] | None:
    """Conditions that together say this one is as `wanted`; None if there are none such."""
    if isinstance(value, Const):
        return [] if (value.text == "true") == wanted else None
    if not isinstance(value, Instr):
        return None
    if value.op == "freeze":
        return [(value.operands[0], wanted)]
    if value.op == "xor" and isinstance(value.operands[1], Const):
        return [(value.operands[0], not wanted)]
    if value.op == ("and" if wanted else "or"):
        return [(v, wanted) for v in value.operands]
    if value.op == "select":
        condition, yes, no = value.operands
        if isinstance(no, Const) and (no.text == "true") != wanted:
            return [(condition, True), (yes, wanted)]
        if isinstance(yes, Const) and (yes.text == "true") != wanted:
            return [(condition, False), (no, wanted)]
    return None


def _excludes_one(compare: Instr, wanted: bool) -> bool:
    """Whether this is LLVM's form of `x < n` or `x > n` where it knows that only one number fails:
    the last of those that a position has, or zero."""
    bound = compare.operands[1]
    return isinstance(bound, Const) and compare.arg == ("ne" if wanted else "eq")


def made_of(values: Iterable[Value]) -> set[Instr]:
    """What goes into values, addresses of loads excepted."""
    found: set[Instr] = set()
    work = list(values)
    while work:
        value = work.pop()
        if isinstance(value, Instr) and value not in found:
            found.add(value)
            if value.op not in ACCESSES:
                work.extend(value.operands)
    return found


def may_pass(check: Check, known: LaneNumbers) -> bool:
    """Whether all lanes of a gang may pass: not so for `lane < 16`."""
    for one, wanted in check.comparisons.items():
        results = known(one)
        if results is not None and not all(bool(r) == wanted for r in results):
            return False
    return True


def agreeing(checks: Iterable[Check]) -> list[Check]:
    """The checks that do not contradict an earlier one."""
    result: list[Check] = []
    wants: dict[Instr, bool] = {}
    for check in checks:
        both = {**{check.condition: check.wanted}, **check.comparisons}
        if all(wants.get(v, wanted) == wanted for v, wanted in both.items()):
            wants.update(both)
            result.append(check)
    return result
