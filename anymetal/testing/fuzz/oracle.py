"""The oracle: runs a case with NumPy, all threads at once, divergence as masks on the tree.

Threads reconverge at the end of the statement in which they diverged. `run` returns the contents
of every output, or raises `Undefined` when the program has no single answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from anymetal.testing.fuzz import crosslane, numerics
from anymetal.testing.fuzz.memory import Memory, SharedMemory
from anymetal.testing.fuzz.numerics import Undefined
from anymetal.testing.fuzz.tree import (
    Advance,
    Assign,
    Atomic,
    AtomicLoad,
    Attribute,
    Barrier,
    Binary,
    Block,
    Break,
    Buffer,
    Call,
    Case,
    Cast,
    CastLoad,
    Component,
    Constant,
    Construct,
    Continue,
    CrossLane,
    Declare,
    DeclareArray,
    DeclarePointer,
    Expr,
    Function,
    FunctionCall,
    If,
    Load,
    Loop,
    PointerLoad,
    Return,
    Statement,
    Switch,
    Swizzle,
    Target,
    Ternary,
    Unary,
    Variable,
)
from anymetal.testing.fuzz.types import BOOL, Array, Type, common, promote

Pointer: TypeAlias = "tuple[tuple[str, Array], ...]"

_MAX_ITERATIONS = 1500
#: Byte layout of the header's `struct Record`.
RECORD = np.dtype([("a", np.int32), ("b", np.float32), ("c", np.int16), ("d", np.uint8, (2,))])
_COMPONENTS = {name: i for names in ("xyzw", "rgba") for i, name in enumerate(names)}


@dataclass
class _Frame:
    """One function activation: lanes that have returned, and the value they return."""

    returned: Array
    value: Array | None = None
    #: Innermost last. A loop has both masks, a switch only `broken`.
    broken: list[Array] = field(default_factory=list)
    continued: list[Array] = field(default_factory=list)


def run(case: Case) -> dict[str, Array]:
    """Contents of each output after the launch."""
    machine = Machine(case)
    with np.errstate(all="ignore"):
        machine.block(case.body, machine.exists)
    return {buffer.name: machine.memory[buffer.name].data for buffer in case.outputs()}


class Machine:
    """All threads of a launch in lock step."""

    def __init__(self, case: Case) -> None:
        self.threads = case.launch.layout
        self.exists = self.threads.exists
        self.case = case
        self.functions: dict[str, Function] = {f.name: f for f in case.functions}
        self.values: dict[str, Array] = {}
        self.pointers: dict[str, Pointer] = {}
        self.epoch = np.zeros(self.threads.count, np.int64)
        self.memory: dict[str, Memory] = {b.name: self._memory(b) for b in case.buffers}
        self.frames = [_Frame(np.zeros_like(self.exists))]
        self.iterations = 0

    def _memory(self, buffer: Buffer) -> Memory:
        kind, size, none = buffer.type, buffer.size, np.zeros((), np.int64)
        if buffer.space == "input":
            assert buffer.data is not None
            return Memory(kind, max(size, 1), buffer.data.reshape(-1), none)
        group, epoch = self.threads.group, self.epoch
        if buffer.space == "output":
            data = np.full(size, self.case.init_value, kind.dtype)
            return SharedMemory(kind, size, data, none, group, epoch, initialised=True)
        shape = (size * self.threads.group_count,)
        data = np.zeros(shape if kind.width == 1 else (kind.width, *shape), kind.dtype)
        return SharedMemory(kind, size, data, group * size, group, epoch, initialised=False)

    # ---------------------------------------------------------------------------- statements

    def block(self, statements: Block, mask: Array) -> Array:
        """Runs statements under a mask; returns the lanes that reach the end."""
        for statement in statements:
            if not mask.any():
                break
            mask = self.statement(statement, mask)
        return mask

    def statement(self, node: Statement, mask: Array) -> Array:
        none = np.zeros_like(mask)
        frame = self.frames[-1]
        match node:
            case Declare(variable, value):
                self._set(variable, self.evaluate(value, mask), mask)
            case DeclareArray(name, kind, values):
                self._declare_array(name, kind, values, mask)
            case DeclarePointer():
                self._declare_pointer(node, mask)
            case Advance(pointer, step):
                delta = np.where(mask, self.evaluate(step, mask).astype(np.int64), 0)
                moved = ((name, index + delta) for name, index in self.pointers[pointer])
                self.pointers[pointer] = tuple(moved)
            case Assign(target, op, value):
                self._assign(target, op, value, mask)
            case If(condition, then, otherwise):
                chosen = self.evaluate(condition, mask)
                yes = self.block(then, mask & chosen)
                return yes | self.block(otherwise, mask & ~chosen)
            case Loop():
                return self._loop(node, mask)
            case Switch():
                return self._switch(node, mask)
            case Break():
                frame.broken[-1] |= mask
                return none
            case Continue():
                frame.continued[-1] |= mask
                return none
            case Return(value):
                if value is not None:
                    result = self.evaluate(value, mask)
                    before = result if frame.value is None else frame.value
                    frame.value = np.where(mask, result, before)
                frame.returned |= mask
                return none
            case Barrier():
                self._barrier(mask)
            case Atomic(op, buffer, index, value):
                self._atomic(op, buffer, index, value, mask)
            case _:
                raise TypeError(f"unknown statement {node!r}")
        return mask

    def _set(self, variable: Variable, value: Array, mask: Array) -> None:
        kind = variable.type
        shape = (len(mask),) if kind.width == 1 else (kind.width, len(mask))
        before = self.values.get(variable.name, np.zeros(shape, kind.dtype))
        self.values[variable.name] = np.where(mask, value, before)

    def _declare_array(self, name: str, kind: Type, values: tuple[Expr, ...], mask: Array) -> None:
        lanes, size = len(mask), len(values)
        data = np.zeros((size * lanes,) if kind.width == 1 else (kind.width, size * lanes))
        memory = Memory(kind, size, data.astype(kind.dtype), np.arange(lanes) * size)
        if name in self.memory:  # declared again, in another iteration of a loop or by other lanes
            memory = self.memory[name]
        self.memory[name] = memory
        for place, value in enumerate(values):
            memory.store(np.full(lanes, place), self.evaluate(value, mask), mask)

    def _declare_pointer(self, node: DeclarePointer, mask: Array) -> None:
        choice = np.ones_like(mask)
        if node.condition is not None:
            choice = self.evaluate(node.condition, mask)
        places: list[tuple[str, Array]] = []
        for load, lanes in ((node.first, mask & choice), (node.second, mask & ~choice)):
            if load is not None:
                assert load.index is not None
                index = self.evaluate(load.index, lanes).astype(np.int64)
                places.append((load.buffer, np.where(lanes, index, 0)))
        self.pointers[node.name] = tuple(places)
        self.values[node.name] = choice

    def _assign(self, target: Target, op: str, value: Expr, mask: Array) -> None:
        kind = target.type
        result = self.evaluate(value, mask)
        if op != "=":
            before = self.evaluate(target, mask)
            work = self._work_type(op[:-1], kind, value.type)
            left = numerics.convert(before, kind.element, work.element)
            right = self._operand(result, value.type, work)
            wide = numerics.binary(op[:-1], work, left, right, mask)
            result = numerics.convert(wide, work.element, kind.element)
        self._store(target, result, mask)

    @staticmethod
    def _work_type(op: str, left: Type, right: Type) -> Type:
        """A shift computes in its left operand's type, everything else in the common one."""
        if op in ("<<", ">>"):
            return left if left.is_vector else promote(left)
        return common(left, right)

    @staticmethod
    def _operand(value: Array, source: Type, work: Type) -> Array:
        return numerics.convert(value, source.element, work.element)

    def _store(self, target: Target, value: Array, mask: Array) -> None:
        match target:
            case Variable():
                self._set(target, value, mask)
            case Swizzle(_, Variable() as variable, components):
                whole = self.values[variable.name].copy()
                rows = value if value.ndim == 2 else value[None]
                for row, letter in zip(rows, components, strict=True):
                    place = _COMPONENTS[letter]
                    whole[place] = np.where(mask, row, whole[place])
                self.values[variable.name] = whole
            case Component(_, Variable() as variable, index):
                places = self._component_index(variable.type, self.evaluate(index, mask), mask)
                whole = self.values[variable.name].copy()
                lanes = np.flatnonzero(mask)
                whole[places[lanes], lanes] = value[lanes]
                self.values[variable.name] = whole
            case Load(_, buffer, index) if index is not None:
                self.memory[buffer].store(self.evaluate(index, mask), value, mask)
            case CastLoad(kind, buffer, _, index):
                first = self.evaluate(index, mask).astype(np.int64) * kind.width
                for place, row in enumerate(value):
                    self.memory[buffer].store(first + place, row, mask)
            case _:
                raise TypeError(f"not a target: {target}")

    def _loop(self, node: Loop, mask: Array) -> Array:
        frame, counter = self.frames[-1], node.counter
        self._set(counter, self.evaluate(node.start, mask), mask)
        frame.broken.append(np.zeros_like(mask))
        frame.continued.append(np.zeros_like(mask))
        live, done = mask, np.zeros_like(mask)
        first = True
        while live.any():
            self.iterations += 1
            if self.iterations > _MAX_ITERATIONS:
                raise Undefined("runs too long")
            if not (first and node.kind == "do"):
                going = self._goes_on(node, live)
                done = done | (live & ~going)
                live = live & going
            first = False
            if node.kind != "for":
                self._step(node, live)
            frame.continued[-1][:] = False
            live = self.block(node.body, live) | frame.continued[-1]
            if node.kind == "for":
                self._step(node, live)
        frame.continued.pop()
        return done | frame.broken.pop()

    def _goes_on(self, node: Loop, live: Array) -> Array:
        limit = self.evaluate(node.limit, live)
        counter = self.values[node.counter.name]
        going: Array = counter < limit if node.test == "<" else counter > limit
        if node.condition is not None:
            going = going & self.evaluate(node.condition, live & going)
        return going

    def _step(self, node: Loop, live: Array) -> None:
        counter, kind = self.values[node.counter.name], node.counter.type
        step = np.full(len(live), node.step, kind.dtype)
        self._set(node.counter, numerics.binary(node.op[:-1], kind, counter, step, live), live)

    def _switch(self, node: Switch, mask: Array) -> Array:
        frame = self.frames[-1]
        selector = self.evaluate(node.selector, mask)
        labels = [label for arm in node.cases for label in arm.labels]
        unmatched = mask & ~np.isin(selector, labels)
        frame.broken.append(np.zeros_like(mask))
        running = np.zeros_like(mask)
        for arm in node.cases:
            entering = mask & np.isin(selector, arm.labels)
            if arm.default:
                entering = entering | unmatched
            running = self.block(arm.body, running | entering)
        if not any(arm.default for arm in node.cases):
            running = running | unmatched
        return running | frame.broken.pop()

    def _barrier(self, mask: Array) -> None:
        live = self.exists & ~self.frames[0].returned
        arriving = np.unique(self.threads.group[mask])
        here = np.isin(self.threads.group, arriving)
        if len(self.frames) > 1 or (live & here & ~mask).any():
            raise Undefined("barrier in divergent control flow")
        self.epoch += here

    def _atomic(self, op: str, buffer: str, index: Expr, value: Expr, mask: Array) -> None:
        memory = self.memory[buffer]
        assert isinstance(memory, SharedMemory)
        place, operand = self.evaluate(index, mask), self.evaluate(value, mask)
        if op == "store":
            memory.store(place, operand, mask)
        else:
            memory.atomic(op, place, operand, mask)

    # --------------------------------------------------------------------------- expressions

    def evaluate(self, node: Expr, mask: Array) -> Array:
        """Value in every lane, shape (lanes,) or (width, lanes); junk in lanes off the mask."""
        lanes = len(mask)
        match node:
            case Constant(kind, number):
                return np.full(lanes, number).astype(kind.dtype)
            case Attribute(_, name, component):
                values = self.threads.attributes[name]
                return values[_COMPONENTS[component]] if component else values
            case Variable(_, name):
                return self.values[name]
            case Unary(kind, op, operand):
                value = self.evaluate(operand, mask)
                value = numerics.convert(value, operand.type.element, kind.element)
                return numerics.unary(op, kind, value)
            case Binary():
                return self._binary(node, mask)
            case Ternary(kind, condition, yes, no):
                chosen = self.evaluate(condition, mask)
                taken, other = self.evaluate(yes, mask & chosen), self.evaluate(no, mask & ~chosen)
                return np.where(chosen, taken, other)
            case Cast(kind, operand):
                value = self.evaluate(operand, mask)
                value = numerics.convert(value, operand.type.element, kind.element)
                if kind.is_vector and value.ndim == 1:
                    value = np.repeat(value[None], kind.width, axis=0)
                return value
            case Call(kind, name, arguments):
                values_ = [self.evaluate(argument, mask) for argument in arguments]
                if name == "as_type":
                    return numerics.reinterpret(values_[0], arguments[0].type, kind)
                return numerics.library(name, arguments[0].type.element, values_, mask)
            case Construct(kind, arguments):
                parts = [np.atleast_2d(self.evaluate(argument, mask)) for argument in arguments]
                return np.concatenate(parts)
            case Swizzle(_, operand, components):
                whole = self.evaluate(operand, mask)
                picked = whole[[_COMPONENTS[letter] for letter in components]]
                return picked if len(components) > 1 else picked[0]
            case Component(_, operand, index):
                whole = self.evaluate(operand, mask)
                place = self._component_index(operand.type, self.evaluate(index, mask), mask)
                return np.asarray(np.take_along_axis(whole, place[None], axis=0)[0])
            case Load(_, buffer, index):
                place = np.zeros(lanes, int) if index is None else self.evaluate(index, mask)
                return self.memory[buffer].load(place, mask)
            case AtomicLoad(_, buffer, index):
                return self.memory[buffer].load(self.evaluate(index, mask), mask)
            case CastLoad():
                return self._cast_load(node, mask)
            case PointerLoad():
                return self._pointer_load(node, mask)
            case CrossLane(_, name, arguments):
                values_ = [self.evaluate(argument, mask) for argument in arguments]
                kind = arguments[0].type.element if arguments else BOOL
                return crosslane.evaluate(name, kind, values_, mask)
            case FunctionCall(_, name, arguments):
                return self._call(self.functions[name], arguments, mask)
        raise TypeError(f"unknown node {node!r}")

    def _binary(self, node: Binary, mask: Array) -> Array:
        left = self.evaluate(node.left, mask)
        if node.op in ("&&", "||"):
            decided = left if node.op == "||" else ~left
            right = self.evaluate(node.right, mask & ~decided)
            return numerics.binary(node.op, BOOL, left, right, mask)
        right = self.evaluate(node.right, mask)
        work = self._work_type(node.op, node.left.type, node.right.type)
        left = self._operand(left, node.left.type, work)
        right = self._operand(right, node.right.type, work)
        return numerics.binary(node.op, work, left, right, mask)

    @staticmethod
    def _component_index(kind: Type, index: Array, mask: Array) -> Array:
        wide = index.astype(np.int64)
        numerics.require((wide >= 0) & (wide < kind.width), mask, "component out of range")
        return np.where(mask, wide, 0)

    def _cast_load(self, node: CastLoad, mask: Array) -> Array:
        memory = self.memory[node.buffer]
        raw = np.ascontiguousarray(memory.data).tobytes()
        if node.layout is None:
            records = np.frombuffer(raw, RECORD, count=len(raw) // RECORD.itemsize)
            name, _, place = node.field.partition("[")
            column = records[name]
            values = column[:, int(place.rstrip("]"))] if place else column
        else:
            values = np.frombuffer(raw, node.layout.dtype).reshape(-1, node.layout.width).T
            if node.field:
                values = values[_COMPONENTS[node.field]]
        view = Memory(node.type, values.shape[-1], values, 0)
        return view.load(self.evaluate(node.index, mask), mask)

    def _pointer_load(self, node: PointerLoad, mask: Array) -> Array:
        offset = self.evaluate(node.offset, mask).astype(np.int64)
        choice, places = self.values[node.pointer], self.pointers[node.pointer]
        lanes = (mask & choice, mask & ~choice)
        parts = [
            self.memory[name].load(index + offset, part)
            for (name, index), part in zip(places, lanes, strict=False)
        ]
        return parts[0] if len(parts) == 1 else np.where(choice, parts[0], parts[1])

    def _call(self, function: Function, arguments: tuple[Expr, ...], mask: Array) -> Array:
        # All arguments first: one of them may call this very function.
        values = [self.evaluate(argument, mask) for argument in arguments]
        for parameter, value in zip(function.parameters, values, strict=True):
            self._set(parameter, value, mask)
        self.frames.append(_Frame(np.zeros_like(mask)))
        left_over = self.block(function.body, mask)
        frame = self.frames.pop()
        if left_over.any():
            raise Undefined("function ends without a value")
        if frame.value is None:  # no lane called it
            return np.zeros(len(mask), function.result.dtype)
        return frame.value
