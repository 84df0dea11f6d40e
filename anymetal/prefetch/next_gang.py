"""Asks for what the next gang is going to read.

    for (uint i = lane; i < columns; i += 32) sum += x[row * columns + i] * ...;

Processors ask for memory ahead once they see that a run of it is read. A gang that reads some rows
of a matrix side by side reads several runs, and leaves them soon after the processor has seen them.
But where the next gang will read follows from the program: the address with the next gang's
position. So each step of such a loop asks for the same step of the next gang. (A single run of an
array mostly goes on where that of the gang before ended; processors follow it without help.)

    for (uint r = simdgroup; r < rows; r += simdgroups)
        for (uint i = lane; i < columns; i += 32) sum += x[r * columns + i] * ...;

Where the loop is inside of another one, it asks for what it will read in the next step of that.

What lies too far ahead would be gone from the caches again. Whether it does depends on the bound
of the loop; if so, the next gang is taken to be this one, and what is asked for is there already.
"""

from __future__ import annotations

import operator
from collections import Counter as tally
from collections.abc import Callable
from typing import NamedTuple, TypeGuard

from anymetal.analysis.affine import ONE, forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.control import predecessors
from anymetal.analysis.distances import Distances
from anymetal.analysis.effects import is_plain
from anymetal.analysis.induction import Induction, inductions
from anymetal.analysis.lane_numbers import lane_numbers, signed
from anymetal.analysis.objects import Origin, in_arrays, origins
from anymetal.analysis.regions import regions
from anymetal.analysis.uniformity import shapes
from anymetal.ir import types as t
from anymetal.ir.calls import NEXT_READ
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Block, Const, Instr, Value
from anymetal.ir.walk import from_below, made_from

SIMD_GROUP = 32
#: Where the next gang is that of the next threadgroup: one of these grows.
NEXT_GROUP = {"__am_group_x": 1, "__am_group_y": 1}
_LINEAR = frozenset("add sub mul shl or sext zext trunc freeze gep".split())
_SCALED: dict[str, Callable[[int, int], int]] = {
    "mul": operator.mul,
    "shl": operator.lshift,
    "lshr": operator.rshift,
}
#: Nothing lies farther from step to step.
_FARTHEST = 1 << 64
_UNIFORM_ONLY = frozenset("lshr ashr and xor select".split())


class _Ahead(NamedTuple):
    """What comes next, and by how much it is further on."""

    steps: dict[str, int]  #: the results of calls for positions, of another gang
    counters: dict[Value, Value]  #: of the loop around
    moving: set[Value]  #: all that differs then


def run(known: Analyses, steps: dict[str, int], team: int = 1) -> bool:
    """`steps`: by how much the results of calls for positions grow to the next gang; `team`: of how
    many SIMD-groups a gang is."""
    preds, diverging = known(predecessors), known(shapes).divergent_loops
    distances = Distances(known, steps)
    around: dict[Loop | None, _Wanted] = {}  #: by the loop around
    changed = False
    for region in known(regions).regions:
        loop = region.loop
        if loop is None or loop.children or loop in diverging:
            continue
        front = [b for b in preds[loop.header] if b not in loop.blocks]
        counter = next(filter(_is_counter, known(inductions)[loop]), None)
        if counter is None or len(front) > 1:
            continue
        if loop.parent not in around:
            ahead = _Ahead(steps, {}, distances.moving)
            if loop.parent:
                ahead = _in_step_of(loop.parent, known(inductions)[loop.parent])
            around[loop.parent] = _Wanted(known, ahead, team)
        wanted = around[loop.parent]
        if targets := wanted.in_loop(loop, counter):
            reach = sum(wanted.reach(load) for load in targets)
            bound = counter.tests[0].operands[1]
            limit = Const(bound.type, str(known.machine.near_bytes * abs(counter.growth) // reach))
            asking = _Asking(front[0], loop, wanted, (bound, limit))
            for load in targets:
                asking.ask(load)
            asking.done()
            changed = True
    return changed


def _in_step_of(loop: Loop, counters: list[Induction]) -> _Ahead:
    """The next step of a loop. What counts are integers that grow by what does not change in the
    loop."""
    found: dict[Value, Value] = {one.phi: one.step for one in counters}
    inside = (instr for block in loop.blocks for instr in block.instrs)
    return _Ahead({}, found, made_from(inside, found))


def _is_counter(one: Induction) -> bool:
    """Whether a loop goes on while the number, which grows by a constant, is below a bound."""
    return one.growth != 0 and len(one.tests) == 1 and one.phi.type in (t.I32, t.I64)


class _Wanted:
    """Which loads are asked for, and what their addresses are made of."""

    def __init__(self, known: Analyses, ahead: _Ahead, team: int) -> None:
        self.shapes, self.origins = known(shapes), known(origins)
        self.numbers, self.forms = known(lane_numbers), known(forms)
        self.ahead = ahead
        self.team = team
        self.movable: dict[Value, bool] = {}

    def in_loop(self, loop: Loop, counter: Induction) -> list[Instr]:
        """One load of each run that a gang reads step by step beside others of the array."""
        found: dict[tuple[object, int], Instr] = {}
        growth = _Growth(loop, counter)
        for block in loop.ordered:
            for instr in block.instrs:
                if instr.op == "load" and self._is_run(instr, growth):
                    found.setdefault(self._place(instr), instr)
        starts = [load for (run, at), load in found.items() if (run, at - 1) not in found]
        runs = tally(map(self._array, starts))
        return [load for load in found.values() if runs[self._array(load)] > 1]

    def _array(self, load: Instr) -> frozenset[Origin]:
        return self.origins.get(load.operands[0], frozenset())

    def _is_run(self, load: Instr, growth_of: _Growth) -> bool:
        """Whether lanes and steps read a run of an array, elsewhere than the next gang."""
        pointer, array = load.operands[0], self._array(load)
        if not is_plain(load) or not self.reach(load):
            return False
        if not in_arrays(array):
            return False
        if not (pointer in self.ahead.moving and self.can_be_moved(pointer)):
            return False
        growth = growth_of(pointer)
        return growth is not None and 0 < abs(growth) <= self.reach(load) * self.team

    def reach(self, load: Instr) -> int:
        """Bytes from the first to the last that lanes load; 0 if that is not known."""
        pointer = load.operands[0]
        if not self.shapes[pointer].is_varying:
            return abs(self.shapes[pointer].stride) * SIMD_GROUP
        form = self.forms(pointer)
        if form is None or any(len(set(f)) > 1 for product, f in form.items() if product != ONE):
            return 0
        lanes = form.get(ONE, (0,))
        return max(lanes) - min(lanes) + load.type.size

    def _place(self, load: Instr) -> tuple[object, int]:
        """In what run of memory a load is, and its place there in steps of what all lanes read."""
        pointer: Value = load.operands[0]
        form = self.forms(pointer)
        if form is None:
            return pointer, 0
        run = frozenset((product, lanes[0]) for product, lanes in form.items() if product != ONE)
        return run, form.get(ONE, (0,))[0] // self.reach(load)

    def first_lane(self, value: Value) -> Value | None:
        """What a value that follows from the lane number is in the first lane."""
        numbers = self.numbers(value) if self.shapes[value].is_varying else None
        return Const(value.type, str(signed(numbers[0], value.type))) if numbers else None

    def can_be_moved(self, value: Value) -> bool:
        """Whether the next gang's value may be computed here, and has the same shape."""
        return from_below(value, self.movable, self._computed_from, self._can_be_moved)

    def _can_be_moved(self, value: Value) -> bool:
        parts = self._computed_from(value)
        if parts or not isinstance(value, Instr) or self.stays(value):
            return all(self.movable[v] for v in parts)
        return value in self.ahead.counters or (
            value.op == "call" and value.arg in self.ahead.steps
        )

    def stays(self, value: Instr) -> bool:
        """Whether the next gang's value is this one, or that of the first lane is known."""
        varies = self.shapes[value].is_varying
        return self.first_lane(value) is not None or not (varies or value in self.ahead.moving)

    def _computed_from(self, value: Value) -> list[Value]:
        """What the next gang's value is computed from; nothing if there is no computing it."""
        if not isinstance(value, Instr) or self.stays(value) or value in self.ahead.counters:
            return []
        uniform = value.op in _UNIFORM_ONLY and all(
            self.shapes[v].is_uniform for v in value.operands
        )
        linear = value.op in _LINEAR and (value.op != "or" or "disjoint" in value.flags)
        return value.operands if linear or uniform else []


class _Growth:
    """By how much values grow from step to step of a loop, as far as that is the same for all
    steps. (No affine form, as in analysis/distances.py: what is packed lies at `x[i / 8]`, and what
    lanes add to addresses need not be known.)"""

    def __init__(self, loop: Loop, counter: Induction) -> None:
        self.loop = loop
        self.known: dict[Value, int | None] = {counter.phi: counter.growth}

    def __call__(self, value: Value) -> int | None:
        return from_below(value, self.known, self._parts, self._growth)

    def _is_inside(self, value: Value) -> TypeGuard[Instr]:
        return isinstance(value, Instr) and value.block in self.loop.blocks

    def _parts(self, value: Value) -> list[Value]:
        return value.operands if self._is_inside(value) and value.op != "phi" else []

    def _growth(self, value: Value) -> int | None:
        if not self._is_inside(value):
            return 0
        if value.op == "phi":
            return None
        parts = [self.known[v] for v in value.operands]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if not any(known):
            return 0
        if value.op == "gep":
            return int(sum(p * scale for p, scale in zip(known, (1, *value.arg[:-1]), strict=True)))
        if value.op in ("sext", "zext", "trunc", "freeze", "add", "or"):
            return sum(known)
        if value.op == "sub":
            return known[0] - known[1]
        by: int | None = getattr(value.operands[-1], "int_value", None)
        if by is None or known[-1]:
            return None
        scaled = _SCALED.get(value.op)
        growth = scaled(known[0], by) if scaled else _FARTHEST
        return growth if abs(growth) < _FARTHEST else None


class _Asking:
    """Adds the requests to one loop."""

    def __init__(
        self,
        front: Block,
        loop: Loop,
        wanted: _Wanted,
        near: tuple[Value, Value],
    ) -> None:
        self.front = front
        self.loop = loop
        self.wanted = wanted
        self.ahead = wanted.ahead
        self.near = self._in_front(Instr(t.I1, "icmp", list(near), "ult"))
        self.made: dict[Value, Value] = {}
        self.behind: dict[Instr, list[Instr]] = {}  #: what is to stand there, the last one first

    def ask(self, load: Instr) -> None:
        """Beside the load, so that the requests of a team are spread over its loop."""
        pointer = from_below(load.operands[0], self.made, self._computed_from, self._next)
        self._behind(load, Instr(t.VOID, "call", [pointer], NEXT_READ, "", load.loc))

    def done(self) -> None:
        """Puts the new instructions of the loop into their places."""
        for block in self.loop.blocks:
            block.instrs = [
                one
                for instr in block.instrs
                for one in (instr, *reversed(self.behind.get(instr, [])))
            ]

    def _computed_from(self, value: Value) -> list[Value]:
        """What must be there before the next gang's value is computed."""
        if not isinstance(value, Instr) or value.op == "call" or self.wanted.stays(value):
            return []
        return [] if value in self.ahead.counters else value.operands

    def _next(self, value: Value) -> Value:
        """The next gang's value; of one that varies, that in the first lane."""
        if not isinstance(value, Instr):
            return value
        if self.wanted.stays(value):
            return self.wanted.first_lane(value) or value
        if value in self.ahead.counters:
            by = self._if(self.near, self.ahead.counters[value])
            return self._in_front(Instr(value.type, "add", [value, by], None, "", value.loc))
        if value.op == "call":
            by = self._if(self.near, Const(t.I32, str(self.ahead.steps[value.arg])))
            if value.arg in NEXT_GROUP:
                by = self._if(self._goes_on(value.arg), by)
            return self._in_front(Instr(t.I32, "add", [value, by], None, "", value.loc))
        op = "add" if "disjoint" in value.flags else value.op
        operands = [self.made[v] for v in value.operands]
        copy = Instr(value.type, op, operands, value.arg, "", value.loc)
        if value.block not in self.loop.blocks:
            return self._in_front(copy)
        return self._behind(value, copy)

    def _goes_on(self, position: str) -> Value:
        """Whether the next threadgroup is the neighbour in x, or, in grids as wide as one, in y."""
        grid, group = (
            self._in_front(Instr(t.I32, "call", [], f"__am_{name}_x"))
            for name in ("grid", "full_size")
        )
        way = "ugt" if position == "__am_group_x" else "ule"
        return self._in_front(Instr(t.I1, "icmp", [grid, group], way))

    def _if(self, condition: Value, number: Value) -> Value:
        """The number, or 0."""
        operands = [condition, number, Const(number.type, "0")]
        return self._in_front(Instr(number.type, "select", operands))

    def _behind(self, instr: Instr, new: Instr) -> Instr:
        new.block = instr.block
        self.behind.setdefault(instr, []).append(new)
        return new

    def _in_front(self, instr: Instr) -> Instr:
        instr.block = self.front
        self.front.instrs.insert(-1, instr)
        return instr
