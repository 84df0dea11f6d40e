"""A second version of the program, for gangs whose threads all pass the bounds checks.

    if (r >= 0 && r < rows && c >= 0 && c < columns) sum += weight * x[r * columns + c];

becomes

    if (all lanes: r >= 0 && …) sum += weight * x[r * columns + c];        // the interior
    else                        the program as it was                      // the edge

Kernels check an index before they use it. As they stand, each check is a mask, or at least a
branch; but few gangs lie at an edge. So all lanes are asked once, in front of the first check, and
the interior is one piece of code without masks.

A check is the condition of a guarded load, or of a branch of which one way alone accesses memory.
It consists of comparisons by size, or with the one number that fails, of numbers that the addresses
are made of, that can be computed in front.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from anymetal.analysis import control
from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import ACCESSES, pointer_of
from anymetal.analysis.flow import users
from anymetal.analysis.lane_numbers import LaneNumbers, lane_numbers
from anymetal.ir import types as t
from anymetal.ir.calls import ALL, POSITIONS
from anymetal.ir.cfg import Loop, dominates
from anymetal.ir.model import Argument, Block, Const, Instr, Program, Value
from anymetal.ir.sizes import DESCRIPTION_BYTES
from anymetal.ir.walk import from_below, made_from
from anymetal.passes.straighten import straighten

#: Instructions of a program that has two versions: larger ones take too long to compile.
MOST_INSTRUCTIONS = 600
_MOST_COMPARISONS = 32
_BY_SIZE = ("ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")
_OPPOSITE = {
    "eq": "ne", "ne": "eq", "ult": "uge", "uge": "ult", "ule": "ugt", "ugt": "ule",
    "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle",
}  # fmt: skip
#: Operations that may be done although nobody may need the result.
_FREE = frozenset("add sub mul shl lshr ashr and or xor zext sext trunc icmp select freeze".split())
_PLACES = frozenset(n for n in POSITIONS if "size" not in n and "grid" not in n)
_FREE_CALLS = ("llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax.", "llvm.abs.")


class _Check(NamedTuple):
    """A condition under which memory is accessed if it is `wanted`."""

    condition: Instr
    wanted: bool
    comparisons: dict[Instr, bool]  #: those that it consists of, and how each must come out


def run(known: Analyses) -> bool:
    """Adds the second version, if there is a check that can be asked in front."""
    program = known.program
    if program.size > MOST_INSTRUCTIONS:
        return False
    entry = program.blocks[0]
    found = [c for c in _checks(known) if _may_pass(c, known(lane_numbers))]
    start = _start(entry, found)
    front = _Front(entry, start)
    checks = _agreeing(c for c in found if all(map(front.can_have, c.comparisons)))
    comparisons = {one: wanted for c in checks for one, wanted in c.comparisons.items()}
    if not comparisons or len(comparisons) > _MOST_COMPARISONS:
        return False
    front.move_allocas()
    _Versions(program, front, comparisons).make()
    return True


# ------------------------------------------------------------------------------------- checks


def _checks(known: Analyses) -> Iterator[_Check]:
    """All bounds checks of a program."""
    program, preds = known.program, known(control.predecessors)
    blocks = program.blocks
    idom, loops = known(control.dominators), known(control.loops)
    moving = made_from(known(users), (i for i in program.instructions() if _is_place(i)))

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
) -> Iterator[_Check]:
    """The check that a condition is. `moving`: values that differ from thread to thread, unlike the
    length of a row."""
    comparisons = _comparisons(condition, wanted)
    if comparisons is None:
        return
    inside = _made_of(pointers) & moving
    if isinstance(condition, Instr) and all(_made_of(one.operands) & inside for one in comparisons):
        yield _Check(condition, wanted, comparisons)


def _is_place(instr: Instr) -> bool:
    return instr.op == "call" and instr.arg in _PLACES


def _comparisons(condition: Value, wanted: bool) -> dict[Instr, bool] | None:
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


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and value.int_value == 0


def _made_of(values: Iterable[Value]) -> set[Instr]:
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


def _may_pass(check: _Check, known: LaneNumbers) -> bool:
    """Whether all lanes of a gang may pass: not so for `lane < 16`."""
    for one, wanted in check.comparisons.items():
        results = known(one)
        if results is not None and not all(bool(r) == wanted for r in results):
            return False
    return True


def _agreeing(checks: Iterable[_Check]) -> list[_Check]:
    """The checks that do not contradict an earlier one."""
    result: list[_Check] = []
    wants: dict[Instr, bool] = {}
    for check in checks:
        both = {**{check.condition: check.wanted}, **check.comparisons}
        if all(wants.get(v, wanted) == wanted for v, wanted in both.items()):
            wants.update(both)
            result.append(check)
    return result


# -------------------------------------------------------------------------------- the question


def _start(entry: Block, checks: list[_Check]) -> int:
    """Where in the first block the two versions begin: in front of the first guarded load."""
    guards = {c.condition for c in checks}
    for place, instr in enumerate(entry.instrs):
        if instr.op == "guarded_load" and instr.operands[1] in guards:
            return place
    return len(entry.instrs) - 1


def _describes(load: Instr) -> bool:
    """Whether this loads a number that describes an input, such as its size: that memory exists."""
    if load.op == "gep":
        return len(load.operands) == 1
    if load.op != "load":
        return False
    pointer: Value = load.operands[0]
    offset = 0
    if isinstance(pointer, Instr) and pointer.op == "gep" and len(pointer.operands) == 1:
        offset = pointer.arg[-1]
        pointer = pointer.operands[0]
    inside = 0 <= offset <= DESCRIPTION_BYTES - load.type.size
    return isinstance(pointer, Argument) and pointer.describes and inside


class _Front:
    """What stands in front of both versions."""

    def __init__(self, entry: Block, start: int) -> None:
        self.entry = entry
        self.rest = entry.instrs[start:]
        self.instrs = entry.instrs[:start]
        self.there: dict[Value, Value] = {instr: instr for instr in self.instrs}
        self.possible: dict[Value, bool] = {}

    def can_have(self, value: Value) -> bool:
        """Whether a value is known in front, or may be computed there."""
        return from_below(
            value,
            self.possible,
            lambda v: self._missing(v) if self._is_free(v) else [],
            lambda v: self._is_free(v) and all(self.possible[p] for p in self._missing(v)),
        )

    def _is_free(self, value: Value) -> bool:
        """Whether a value is known in front, or may be computed there if its operands are."""
        if not isinstance(value, Instr) or value in self.there:
            return True
        call = value.op == "call" and (value.arg in POSITIONS or value.arg.startswith(_FREE_CALLS))
        return value.op in _FREE or call or _describes(value)

    def _missing(self, value: Value) -> list[Value]:
        """The operands that have to be computed in front before a value is."""
        if not isinstance(value, Instr) or value in self.there:
            return []
        return [v for v in value.operands if isinstance(v, Instr) and v not in self.there]

    def move_allocas(self) -> None:
        """Moves private arrays to the front: both versions use the same."""
        arrays = [i for i in self.rest if i.op == "alloca"]
        self.rest = [i for i in self.rest if i.op != "alloca"]
        for array in arrays:
            self.instrs.append(array)
            self.there[array] = array

    def add(self, op: str, type_: t.Type, operands: list[Value], arg: object = None) -> Instr:
        """One more instruction."""
        self.instrs.append(Instr(type_, op, operands, arg))
        return self.instrs[-1]

    def have(self, value: Value) -> Value:
        """The value; computed here if it is not known."""
        if not isinstance(value, Instr):
            return value
        return from_below(value, self.there, self._missing, self._computed)

    def _computed(self, value: Value) -> Value:
        assert isinstance(value, Instr)
        operands = [self.there.get(v, v) for v in value.operands]
        copy = self.add(value.op, value.type, operands, value.arg)
        copy.loc = value.loc  # without flags: here it may overflow
        return copy

    def all_pass(self, comparisons: dict[Instr, bool]) -> Value:
        """Whether in all lanes all comparisons come out as wanted."""
        answers = [self._passes(one, wanted) for one, wanted in comparisons.items()]
        result = answers[0]
        for answer in answers[1:]:
            result = self.add("and", t.I1, [result, answer])
        return result

    def _passes(self, compare: Instr, wanted: bool) -> Value:
        predicate = compare.arg if wanted else _OPPOSITE[compare.arg]
        operands = [self.have(v) for v in compare.operands]
        if predicate == "ne" and _is_zero(compare.operands[1]):
            predicate = "ugt"  # the first lane tells, where numbers grow from lane to lane
        passes = self.add("icmp", t.I1, operands, predicate)
        everywhere = self.add("call", t.I1, [passes], ALL)
        passes.loc = everywhere.loc = compare.loc
        return everywhere


class _Versions:
    """Makes two versions of what follows on the front."""

    def __init__(
        self,
        program: Program,
        front: _Front,
        comparisons: dict[Instr, bool],
    ) -> None:
        self.program = program
        self.front = front
        self.comparisons = comparisons
        #: Old values -> those in the interior.
        self.values: dict[Value, Value] = {}
        for instr in program.instructions():
            self._decide(instr)

    def _decide(self, instr: Instr) -> None:
        """Takes note of a condition that the comparisons decide."""
        for wanted in (True, False):
            parts = _comparisons(instr, wanted) if instr.type == t.I1 else None
            if parts and parts.items() <= self.comparisons.items():
                self.values[instr] = Const(t.I1, "true" if wanted else "false")

    def make(self) -> None:
        program, front = self.program, self.front
        end = self._bare_end()
        edge = Block(f"{front.entry.name}$edge")
        self._move_rest(edge)
        outer = [edge, *(b for b in program.blocks[1:] if b is not end)]
        inner = {b: Block(f"{b.name}$inner") for b in outer}
        for block, copy in inner.items():
            self._copy(block, copy, inner)
        for copy in inner.values():
            for instr in copy.instrs:
                instr.operands = [self.values.get(v, v) for v in instr.operands]
        passes = front.all_pass(self.comparisons)
        front.entry.refill(front.instrs)
        front.entry.append(Instr(t.VOID, "br", [passes], [inner[edge], edge]))
        program.blocks = [front.entry, *inner.values(), *outer, end]
        straighten(program)

    def _bare_end(self) -> Block:
        """A block with nothing but the return, for both versions."""
        (end,) = (b for b in self.program.blocks if b.terminator.op == "ret")
        rest = self.front.rest if end is self.front.entry else end.instrs
        bare = Block(f"{end.name}$end")
        bare.append(rest.pop())
        rest.append(Instr(t.VOID, "br", [], [bare]))
        rest[-1].block = end
        return bare

    def _move_rest(self, edge: Block) -> None:
        for instr in self.front.rest:
            edge.append(instr)
        for block in edge.successors:
            for phi in block.phis:
                phi.arg = [edge if b is self.front.entry else b for b in phi.arg]

    def _copy(self, block: Block, copy: Block, blocks: dict[Block, Block]) -> None:
        for instr in block.instrs:
            one = instr.copy("inner")
            if instr.op in ("br", "phi"):
                one.arg = [blocks.get(b, b) for b in one.arg]
            if instr.op == "guarded_load" and self._passes(instr):
                one.op, one.operands, one.flags = "load", instr.operands[:1], ""
            self.values.setdefault(instr, one)
            copy.append(one)

    def _passes(self, load: Instr) -> bool:
        """Whether a guarded load is done in all lanes of the interior."""
        condition = self.values.get(load.operands[1])
        wanted = "false" if "inverted" in load.flags else "true"
        return isinstance(condition, Const) and condition.text == wanted
