"""Indices that are bent where an array ends: clamped, wrapped around, or chosen.

    u[clamp(x + 1, 0, w - 1)]      u[(x + w - 1) % w]      u[x == 0 ? w - 1 : x - 1]

Away from the edges each is the plain sum that its neighbours count on from. So it is asked in front
of a second version of the program whether all lanes are there (passes/version_by_bounds.py):

    clamp    x + 1 where x + 1 >= 0 and x + 1 <= w - 1
    wrap     x + w - 1 - base where that is below w; base is a multiple of w, of the first lane
    choice   x - 1 where x != 0
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.analysis.effects import ACCESSES, pointer_of
from anymetal.analysis.flow import users
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.ir import types as t
from anymetal.ir.calls import SHUFFLE
from anymetal.ir.model import Const, Instr, Program, Value
from anymetal.ir.sizes import SIMD_GROUP
from anymetal.ir.walk import from_below, made_from
from anymetal.passes.index_checks import Check, comparisons_of, is_place, made_of, placed
from anymetal.passes.version_front import Front

#: What a clamp is where it does nothing: the operand for which this holds.
_CLAMPS = {"smax": "sge", "smin": "sle", "umax": "uge", "umin": "ule", "usub.sat": "uge"}
_BENDING = tuple(f"llvm.{kind}." for kind in (*_CLAMPS, "abs"))
_QUOTIENTS = ("udiv", "sdiv")
_WRAPS = ("and", "urem", "srem", *_QUOTIENTS)
#: Rows of fewer elements have few gangs in their interior.
_SHORTEST_ROW = 2 * SIMD_GROUP
#: Operations that leave linear what is linear; and those that do with one operand that is the same.
_SUMS = ("add", "sub", "or", "zext", "sext", "trunc", "freeze")
_MULTIPLES = ("mul", "shl", "lshr", *_WRAPS)


class Clamp(NamedTuple):
    """The maximum or minimum of an index and a limit."""

    instr: Instr
    predicate: str  #: how the index compares with the limit in the interior
    place: Value
    limit: Value

    def settle(self, front: Front) -> Value:
        """Asks for the interior; returns what the index is there."""
        place = front.have(self.place)
        front.ask(self.predicate, place, self.limit, self.instr)
        if str(self.instr.arg).startswith("llvm.usub.sat."):
            return front.add("sub", place.type, [place, self.limit])
        return place


class Wrap(NamedTuple):
    """The remainder of an index by the size of a row, or the row."""

    instr: Instr
    place: Value
    limit: Value  #: the size; for `and` the mask, which is one less

    def settle(self, front: Front) -> Value:
        """Asks for the interior, where all lanes are in the row of the first; returns what the
        index is there."""
        place, zero = front.have(self.place), Const(t.I32, "0")
        first = front.add("call", t.I32, [place, zero], SHUFFLE)
        if self.instr.op == "and":
            begun = front.add("and", t.I32, [first, self.limit])
            inside = front.add("sub", t.I32, [place, front.add("sub", t.I32, [first, begun])])
            front.ask("ule", inside, self.limit, self.instr)
            return inside
        row = front.add("udiv", t.I32, [first, self.limit])
        inside = front.add("sub", t.I32, [place, front.add("mul", t.I32, [row, self.limit])])
        front.ask("ult", inside, self.limit, self.instr)
        # Also as a signed number; and beyond 2^32 another row would begin.
        front.ask("sge", place, zero, self.instr)
        return row if self.instr.op in _QUOTIENTS else inside


def bent_indices(known: Analyses) -> tuple[list[Clamp | Wrap], dict[Instr, Check]]:
    """The clamped and wrapped indices of a program, in its order, and how the conditions of chosen
    ones come out in the interior. None if a limit is no constant, as in code for all launches: few
    launches take that, and all wait for it."""
    indices = _Indices(known)
    bends = [bend for instr in indices.inside if (bend := indices.bend(instr)) is not None]
    choices = dict(indices.choices())
    limits = [bend.limit for bend in bends]
    limits += [_bound(one) for check in choices.values() for one in check.comparisons]
    return (bends, choices) if all(isinstance(one, Const) for one in limits) else ([], {})


class _Indices:
    """What addresses in device memory are made of."""

    def __init__(self, known: Analyses) -> None:
        program: Program = known.program
        self.placed = known(placed)
        places = (i for i in program.instructions() if is_place(i))
        along = [i for i in places if _differs_in_gang(i, known.launch.linear)]
        self.moving = made_from(known(users), along)  #: values that differ from lane to lane
        self.numbers = known(lane_numbers)
        pointers = [pointer_of(i) for i in program.instructions() if i.op in ACCESSES]
        made = made_of(p for p in pointers if p.type.space not in (t.THREAD, t.THREADGROUP))
        self.linear: dict[Value, bool] = {}  #: whether values count on from lane to lane
        #: What addresses are made of and differs from lane to lane, in the order of the program.
        self.inside = [i for i in program.instructions() if i in made and i in self.moving]

    def bend(self, instr: Instr) -> Clamp | Wrap | None:
        """The clamp or wrap that this is."""
        if instr.op in _WRAPS and instr.type == t.I32 and self._wraps(instr):
            return Wrap(instr, *instr.operands)
        if instr.op == "call" and str(instr.arg).startswith("llvm."):
            kind = str(instr.arg).removeprefix("llvm.").rsplit(".", 1)[0]
            if kind == "abs" and self._counts(instr.operands[0]):
                return Clamp(instr, "sge", instr.operands[0], Const(instr.type, "0"))
            if kind in _CLAMPS:
                index, limit = instr.operands
                if kind != "usub.sat" and limit in self.moving:
                    index, limit = limit, index
                if self._counts(index) and limit not in self.moving:
                    return Clamp(instr, _CLAMPS[kind], index, limit)
        return None

    def _wanted(self, select: Instr) -> bool | None:
        """How the condition of a choice comes out in the interior: so that the index is nearer to
        what is compared, or the only one of both that counts on."""
        condition, *ways = select.operands
        near = [_nearness(way, condition) for way in ways]
        if near[0] != near[1]:
            best = near[0] < near[1]
        elif ways[0] in self.moving and ways[1] in self.moving:
            return None
        else:
            best = ways[0] in self.moving
        return best if self._counts(ways[0] if best else ways[1]) else None

    def choices(self) -> Iterator[tuple[Instr, Check]]:
        """Choices, and their conditions as they are in the interior."""
        for select in (i for i in self.inside if i.op == "select"):
            condition, wanted = select.operands[0], self._wanted(select)
            if isinstance(condition, Instr) and wanted is not None:
                comparisons = comparisons_of(condition, wanted)
                if comparisons:
                    yield select, Check(condition, wanted, comparisons)

    def _wraps(self, instr: Instr) -> bool:
        """Whether an index that may be anywhere in a row, or beyond, is taken apart."""
        index, size = instr.operands
        number = size.int_value if isinstance(size, Const) else None
        if size in self.moving or not self._counts(index):
            return False
        if number is None:
            return instr.op != "and"
        if instr.op == "and":
            whole = not number & (number + 1)
            return whole and number + 1 >= _SHORTEST_ROW and self._is_moved(index)
        moved = number % SIMD_GROUP > 0 or self._is_moved(index)
        return moved and number >= _SHORTEST_ROW

    def _is_moved(self, index: Value) -> bool:
        """Whether the index is a sum of a position and a number that does not follow from any."""
        work, found = [index], False
        while work and not found:
            value = work.pop()
            if isinstance(value, Instr) and value.op in ("add", "sub"):
                work += value.operands
            else:
                found = value not in self.placed
        return found

    def _counts(self, value: Value) -> bool:
        """Whether a value counts on from lane to lane, but for edges: it is no constant of each
        lane, and made of positions by sums and multiples."""
        moving = value in self.moving and self.numbers(value) is None
        return moving and from_below(value, self.linear, self._parts, self._is_linear)

    def _parts(self, value: Value) -> list[Value]:
        return value.operands if isinstance(value, Instr) and value.op != "phi" else []

    def _is_linear(self, value: Value) -> bool:
        if value not in self.moving or not isinstance(value, Instr) or is_place(value):
            return True
        parts = value.operands[1:] if value.op == "select" else value.operands
        known = value.op in (*_SUMS, "select") or str(value.arg).startswith(_BENDING)
        if value.op in _MULTIPLES:
            known = sum(v in self.moving for v in parts) == 1
        return known and all(self.linear[v] for v in parts)


def _differs_in_gang(place: Instr, linear: bool) -> bool:
    """Whether a position differs between the lanes of a gang."""
    alike = ("__am_thread_y", "__am_thread_z") if linear else ()
    return place.arg == "__am_lane" or (
        place.arg.startswith("__am_thread_") and place.arg not in alike
    )


def _bound(comparison: Instr) -> Value:
    """What a comparison compares with."""
    return comparison.operands[1]


def _nearness(way: Value, condition: Value) -> float:
    """How far an index is from a number that a condition compares, if that is known."""
    core, moved = _without_constant(way)
    compared = condition.operands if isinstance(condition, Instr) else []
    distances = [abs(moved - by) for one, by in map(_without_constant, compared) if one is core]
    return min(distances, default=float("inf"))


def _without_constant(value: Value) -> tuple[Value, int]:
    """A value without a constant that is added to it, and that."""
    if isinstance(value, Instr) and value.op == "add" and isinstance(value.operands[1], Const):
        number = value.operands[1].int_value
        if number is not None:
            return value.operands[0], number
    return value, 0
