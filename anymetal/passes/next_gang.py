"""Asks for what the next gang is going to read.

    for (uint i = lane; i < columns; i += 32) sum += x[row * columns + i] * ...;

Processors ask for memory ahead once they see that a run of it is read. A gang that reads some rows
of a matrix side by side reads several runs, and leaves them soon after the processor has seen them.
But where the next gang will read follows from the program: the address with the next gang's
position. So each step of such a loop asks for the same step of the next gang. (A single run mostly
goes on where that of the gang before ended; processors follow it without help.)

What lies too far ahead would be gone from the caches again. Whether it does depends on the bound
of the loop; if so, the next gang is taken to be this one, and what is asked for is there already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from anymetal.ir import types as t
from anymetal.ir.calls import AHEAD_READ
from anymetal.ir.cfg import Loop
from anymetal.ir.model import Argument, Block, Const, Instr, Program, Value, predecessors
from anymetal.simd.lane_numbers import LaneNumbers
from anymetal.simd.linear import LinearForms
from anymetal.simd.origins import pointer_origins
from anymetal.simd.regions import RegionTree
from anymetal.simd.shape import Launch, Shapes

SIMD_GROUP = 32
#: Bytes that gangs may read until the next one has its turn: they stay in a second-level cache.
NEAR = 128 << 10
_LINEAR = frozenset("add sub mul shl or sext zext trunc freeze gep".split())
_UNIFORM_ONLY = frozenset("lshr ashr and xor select".split())


class _Counter(NamedTuple):
    """What tells the steps of a loop apart."""

    phi: Instr
    step: int
    bound: Value


def run(program: Program, launch: Launch, steps: dict[str, int]) -> None:
    """`steps`: by how much the results of calls for positions grow to the next gang of the
    threadgroup."""
    shapes = Shapes(program, RegionTree(program.blocks), launch, {}, SIMD_GROUP)
    wanted = _Wanted(program, shapes, steps)
    preds = predecessors(program.blocks)
    for region in shapes.tree.regions:
        loop = region.loop
        if loop is None or loop.parent or loop.children or loop in shapes.divergent_loops:
            continue
        front = [b for b in preds[loop.header] if b not in loop.blocks]
        counter = _counter(loop)
        targets = list(wanted.in_loop(loop, counter)) if counter and len(front) == 1 else []
        if counter and len(targets) > 1:
            reach = sum(abs(shapes[load.operands[0]].stride) for load in targets)
            limit = Const(counter.bound.type, str(NEAR // reach))
            asking = _Asking(front[0], loop, wanted, steps, (counter.bound, limit))
            for load in targets:
                asking.ask(load)


def _counter(loop: Loop) -> _Counter | None:
    """The loop goes on while a number that grows by a constant is below a bound."""
    for phi in loop.header.phis:
        for update in phi.operands:
            if not (isinstance(update, Instr) and update.op == "add" and update.operands[0] is phi):
                continue
            step = getattr(update.operands[1], "int_value", None)
            bounds = list(_bounds(loop, (phi, update)))
            if step and len(bounds) == 1:
                return _Counter(phi, step, bounds[0])
    return None


def _bounds(loop: Loop, counters: tuple[Instr, Instr]) -> Iterator[Value]:
    """What is compared with the counter at an exit."""
    for block, _ in loop.exits:
        condition = block.terminator.operands[0]
        if isinstance(condition, Instr) and condition.op == "icmp":
            left, right = condition.operands
            inside = isinstance(right, Instr) and right.block in loop.blocks
            if left in counters and right.type in (t.I32, t.I64) and not inside:
                yield right


class _Wanted:
    """Which loads are asked for, and what their addresses are made of."""

    def __init__(self, program: Program, shapes: Shapes, steps: dict[str, int]) -> None:
        self.shapes = shapes
        self.steps = steps
        self.team = max(steps.get("__am_gang", 1), 1)
        self.origins = pointer_origins(program)
        numbers = LaneNumbers(program.instructions(), SIMD_GROUP)
        self.forms = LinearForms(shapes, numbers, deep=True)
        self.moving: dict[Value, bool] = {}

    def in_loop(self, loop: Loop, counter: _Counter) -> Iterator[Instr]:
        """One load of each run that a gang reads step by step."""
        seen: set[tuple[object, ...]] = set()
        for block in loop.ordered:
            for instr in block.instrs:
                if instr.op == "load" and self._is_run(instr, counter):
                    key = self._place(instr.operands[0])
                    if key not in seen:
                        seen.add(key)
                        yield instr

    def _is_run(self, load: Instr, counter: _Counter) -> bool:
        """Whether lanes and steps read a run of an array, elsewhere than the next gang."""
        pointer = load.operands[0]
        shape = self.shapes[pointer]
        origins = self.origins.get(pointer, frozenset())
        if load.arg.volatile or load.arg.atomic or not shape.is_strided:
            return False
        if not origins or not all(isinstance(o, Argument) for o in origins):
            return False
        if not (self.moves(pointer) and self.can_be_moved(pointer)):
            return False
        form = self.forms(pointer)
        if form is None or any(counter.phi in product and len(product) > 1 for product in form):
            return False
        advance = form.get((counter.phi,), (0,))[0] * counter.step
        return 0 < abs(advance) <= abs(shape.stride) * SIMD_GROUP * self.team

    def _place(self, pointer: Value) -> tuple[object, ...]:
        """The same for pointers that differ by a constant less than what all lanes read."""
        reach, offset = abs(self.shapes[pointer].stride) * SIMD_GROUP, 0
        while isinstance(pointer, Instr) and pointer.op == "gep":
            offset += pointer.arg[-1]
            if len(pointer.operands) > 1:
                return (*pointer.operands, pointer.arg[:-1], offset // reach)
            pointer = pointer.operands[0]
        return pointer, offset // reach

    def moves(self, value: Value) -> bool:
        """Whether a value differs between a gang and the next."""
        if not isinstance(value, Instr):
            return False
        if value not in self.moving:
            self.moving[value] = False  # while a loop goes round
            self.moving[value] = (value.op == "call" and value.arg in self.steps) or any(
                map(self.moves, value.operands)
            )
        return self.moving[value]

    def can_be_moved(self, value: Value) -> bool:
        """Whether the next gang's value may be computed here, and has the same shape."""
        if not isinstance(value, Instr) or not self.moves(value):
            return True
        if value.op == "call":
            return value.arg in self.steps
        uniform = value.op in _UNIFORM_ONLY and all(
            self.shapes[v].is_uniform for v in value.operands
        )
        adds = value.op != "or" or "disjoint" in value.flags
        linear = value.op in _LINEAR and adds and not self.shapes[value].is_varying
        return (linear or uniform) and all(map(self.can_be_moved, value.operands))


class _Asking:
    """Adds the requests to one loop."""

    def __init__(
        self,
        front: Block,
        loop: Loop,
        wanted: _Wanted,
        steps: dict[str, int],
        near: tuple[Value, Value],
    ) -> None:
        self.front = front
        self.loop = loop
        self.wanted = wanted
        self.steps = steps
        self.near = self._in_front(Instr(t.I1, "icmp", list(near), "ult"))
        self.made: dict[Value, Value] = {}

    def ask(self, load: Instr) -> None:
        """Beside the load, so that the requests of a team are spread over its loop."""
        pointer = self._next(load.operands[0])
        self._behind(load, Instr(t.VOID, "call", [pointer], AHEAD_READ, "", load.loc))

    def _next(self, value: Value) -> Value:
        """The next gang's value."""
        if not isinstance(value, Instr) or not self.wanted.moves(value):
            return value
        if value not in self.made:
            self.made[value] = self._moved(value)
        return self.made[value]

    def _moved(self, value: Instr) -> Value:
        if value.op == "call":
            step, none = Const(t.I32, str(self.steps[value.arg])), Const(t.I32, "0")
            by = self._in_front(Instr(t.I32, "select", [self.near, step, none]))
            return self._in_front(Instr(t.I32, "add", [value, by], None, "", value.loc))
        op = "add" if "disjoint" in value.flags else value.op
        operands = [self._next(v) for v in value.operands]
        copy = Instr(value.type, op, operands, value.arg, "", value.loc)
        if value.block not in self.loop.blocks:
            return self._in_front(copy)
        return self._behind(value, copy)

    @staticmethod
    def _behind(instr: Instr, new: Instr) -> Instr:
        assert instr.block is not None
        new.block = instr.block
        instr.block.instrs.insert(instr.block.instrs.index(instr) + 1, new)
        return new

    def _in_front(self, instr: Instr) -> Instr:
        instr.block = self.front
        self.front.instrs.insert(-1, instr)
        return instr
