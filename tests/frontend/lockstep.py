"""Programs of nested control flow, as Metal text and as a simulation of 32 lanes in lockstep.

The simulation knows nothing but the structure of the text: lanes that take different ways meet
again where the `if`, the `switch` or the loop that parted them ends, and those that leave a loop
wait behind it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LANES = 32
Lanes = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Frame:
    """The lanes that have left the innermost loop or switch, and its iteration."""

    loop: bool
    broken: Lanes = field(default_factory=lambda: np.zeros(LANES, bool))
    continued: Lanes = field(default_factory=lambda: np.zeros(LANES, bool))


class Machine:
    """Variables of all lanes, and who is where."""

    def __init__(self, x: Lanes) -> None:
        self.variables: dict[str, Lanes] = {"x": x.astype(np.int32), "s": np.zeros(LANES, np.int32)}
        self.result = np.full(LANES, -1, np.int32)
        self.frames: list[Frame] = []

    def run(self, block: list[Statement], mask: Lanes) -> Lanes:
        for statement in block:
            if not mask.any():
                break
            mask = statement.run(self, mask)
        return mask

    def value(self, expression: Expression, mask: Lanes) -> Lanes:
        with np.errstate(over="ignore"):
            return np.broadcast_to(expression.value(self, mask), LANES).astype(np.int32)

    def set(self, name: str, value: Lanes, mask: Lanes) -> None:
        old = self.variables.get(name, np.zeros(LANES, np.int32))
        self.variables[name] = np.where(mask, value, old).astype(np.int32)


@dataclass
class Expression:
    text: str
    value: Callable[[Machine, Lanes], Any]


class Statement:
    """Something that lanes do together; gives those that go on behind it."""

    def run(self, machine: Machine, mask: Lanes) -> Lanes:
        raise NotImplementedError

    def text(self) -> str:
        raise NotImplementedError


def text_of(block: list[Statement]) -> str:
    return "{\n" + "\n".join(statement.text() for statement in block) + "\n}"


@dataclass
class Set(Statement):
    name: str
    expression: Expression
    declares: bool = False

    def run(self, machine: Machine, mask: Lanes) -> Lanes:
        machine.set(self.name, machine.value(self.expression, mask), mask)
        return mask

    def text(self) -> str:
        return f"{'int ' if self.declares else ''}{self.name} = {self.expression.text};"


@dataclass
class If(Statement):
    condition: Expression
    then: list[Statement]
    otherwise: list[Statement] = field(default_factory=list)

    def run(self, machine: Machine, mask: Lanes) -> Lanes:
        chosen = machine.value(self.condition, mask) != 0
        return machine.run(self.then, mask & chosen) | machine.run(self.otherwise, mask & ~chosen)

    def text(self) -> str:
        tail = f" else {text_of(self.otherwise)}" if self.otherwise else ""
        return f"if ({self.condition.text}) {text_of(self.then)}{tail}"


@dataclass
class Loop(Statement):
    """`kind` is "for", "while", "forever" or "do"; `counter` counts what has begun."""

    kind: str
    counter: str
    limit: int
    body: list[Statement]
    condition: Expression | None = None  #: one more, behind the counter's

    def _goes_on(self, machine: Machine, mask: Lanes) -> Lanes:
        count = machine.variables[self.counter]
        inside = mask & (count < self.limit)
        if self.kind in ("while", "do"):
            machine.set(self.counter, count + 1, mask)
        if self.condition and inside.any():
            inside = inside & (machine.value(self.condition, inside) != 0)
        return inside

    def run(self, machine: Machine, mask: Lanes) -> Lanes:
        machine.set(self.counter, np.zeros(LANES, np.int32), mask)
        frame = Frame(loop=True)
        live, out = mask, np.zeros(LANES, bool)
        while live.any():
            if self.kind in ("for", "while"):
                inside = self._goes_on(machine, live)
                out, live = out | (live & ~inside), inside
            machine.frames.append(frame)
            live = machine.run(self.body, live) | frame.continued
            machine.frames.pop()
            frame.continued = np.zeros(LANES, bool)
            if self.kind in ("for", "forever"):
                machine.set(self.counter, machine.variables[self.counter] + 1, live)
            if self.kind == "do":
                inside = self._goes_on(machine, live)
                out, live = out | (live & ~inside), inside
        return out | frame.broken

    def text(self) -> str:
        more = f" && {self.condition.text}" if self.condition else ""
        k, body = self.counter, text_of(self.body)
        if self.kind == "for":
            return f"for ({k} = 0; {k} < {self.limit}{more}; ++{k}) {body}"
        if self.kind == "while":
            return f"{k} = 0;\nwhile ({k}++ < {self.limit}{more}) {body}"
        if self.kind == "do":
            return f"{k} = 0;\ndo {body} while ({k}++ < {self.limit}{more});"
        return f"for ({k} = 0; ; ++{k}) {body}"


@dataclass
class Switch(Statement):
    on: Expression
    cases: list[tuple[int, list[Statement]]]  #: those without `break` at the end fall through

    def run(self, machine: Machine, mask: Lanes) -> Lanes:
        value = machine.value(self.on, mask)
        machine.frames.append(frame := Frame(loop=False))
        inside, seen = np.zeros(LANES, bool), np.zeros(LANES, bool)
        for label, block in self.cases:
            entering = mask & (value == label)
            inside, seen = machine.run(block, inside | entering), seen | entering
        machine.frames.pop()
        return inside | frame.broken | (mask & ~seen)

    def text(self) -> str:
        cases = "\n".join(f"case {label}: {text_of(block)}" for label, block in self.cases)
        return f"switch ({self.on.text}) {{\n{cases}\n}}"


@dataclass
class Leave(Statement):
    """`break`, `continue` or `return`."""

    how: str

    def run(self, machine: Machine, mask: Lanes) -> Lanes:
        if self.how == "break":
            machine.frames[-1].broken |= mask
        elif self.how == "continue":
            frame = next(frame for frame in reversed(machine.frames) if frame.loop)
            frame.continued |= mask
        else:
            machine.result = np.where(mask, machine.variables["s"], machine.result)
        return np.zeros(LANES, bool)

    def text(self) -> str:
        return "{ o[lane] = s; return; }" if self.how == "return" else f"{self.how};"


def constant(number: int) -> Expression:
    return Expression(str(number), lambda machine, mask: np.int32(number))


def variable(name: str) -> Expression:
    return Expression(name, lambda machine, mask: machine.variables[name])


_BINARY: dict[str, Callable[[Lanes, Lanes], Lanes]] = {
    "+": lambda a, b: a + b, "*": lambda a, b: a * b, "^": lambda a, b: a ^ b,
    "==": lambda a, b: a == b, "<": lambda a, b: a < b, "&": lambda a, b: a & b,
}  # fmt: skip


def binary(op: str, a: Expression, b: Expression) -> Expression:
    return Expression(
        f"({a.text} {op} {b.text})",
        lambda machine, mask: _BINARY[op](machine.value(a, mask), machine.value(b, mask)),
    )


def _bits(mask: Lanes) -> int:
    return int(sum(1 << int(lane) for lane in np.flatnonzero(mask)))


def _as_int(bits: int) -> np.int32:
    return np.uint32(bits).astype(np.int32)


def _quads(value: Lanes, mask: Lanes) -> Lanes:
    return np.repeat(np.where(mask, value, 0).reshape(-1, 4).sum(axis=1), 4)


def _shuffled(value: Lanes, mask: Lanes, source: Lanes) -> Lanes:
    """From lanes that are not there, 0."""
    return np.where(mask[source], value[source], 0)


def cross_lane(name: str, a: Expression) -> Expression:
    """A cross-lane function of a value, as an int."""
    text, function = CROSS_LANE[name]
    return Expression(
        text.format(a.text), lambda machine, mask: function(machine.value(a, mask), mask)
    )


_VOTE = "int(uint(ulong(simd_vote::vote_t({}))))"
CROSS_LANE: dict[str, tuple[str, Callable[[Lanes, Lanes], Any]]] = {
    "sum": ("simd_sum({})", lambda a, m: a[m].sum(dtype=np.int32)),
    "max": ("simd_max({})", lambda a, m: a[m].max()),
    "ballot": (
        _VOTE.format("simd_ballot(({}) & 1)"),
        lambda a, m: _as_int(_bits(m & (a & 1 != 0))),
    ),
    "active": (
        _VOTE.format("simd_active_threads_mask()") + " + 0 * ({})",
        lambda a, m: _as_int(_bits(m)),
    ),
    "first": (
        "int(simd_is_first()) + 0 * ({})",
        lambda a, m: np.arange(LANES) == np.flatnonzero(m)[0],
    ),
    "shuffle": (
        "simd_shuffle_xor({}, 5)",
        lambda a, m: _shuffled(a, m, np.arange(LANES) ^ 5),
    ),
    "scan": (
        "simd_prefix_exclusive_sum({})",
        lambda a, m: np.cumsum(np.where(m, a, 0), dtype=np.int32) - np.where(m, a, 0),
    ),
    "quad": ("quad_sum({})", _quads),
    "any": ("int(simd_any(({}) & 1))", lambda a, m: bool((a[m] & 1).any())),
}  # fmt: skip


def kernel_text(program: list[Statement], counters: int) -> str:
    declared = "".join(f"int k{number} = 0; " for number in range(counters))
    return (
        "uint lane = thread_position_in_grid.x;\nint x = input[lane]; int s = 0; "
        f"{declared}\n{text_of(program)}\no[lane] = s;\n"
    )


def expected(program: list[Statement], x: Lanes, counters: int) -> Lanes:
    machine = Machine(x)
    for number in range(counters):
        machine.variables[f"k{number}"] = np.zeros(LANES, np.int32)
    rest = machine.run(program, np.ones(LANES, bool))
    return np.where(rest, machine.variables["s"], machine.result)


class Generator:
    """Random programs; `counters` tells how many loops one has."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.counters = 0

    def program(self) -> list[Statement]:
        return self._block(3, [])

    def _block(self, depth: int, around: list[str]) -> list[Statement]:
        count = self._random.randint(1, 3)
        block = [self._statement(depth, around) for _ in range(count)]
        if around and self._random.random() < 0.3:
            block = [*block, self._mix(around), Leave(self._leave(around))]
        return block

    def _leave(self, around: list[str]) -> str:
        ways = ["break", "break", "return"] + ["continue"] * any(a.startswith("k") for a in around)
        return self._random.choice(ways)

    def _statement(self, depth: int, around: list[str]) -> Statement:
        kinds = ["mix", "mix"] + ["if", "if", "loop", "loop", "switch"] * (depth > 0)
        kind = self._random.choice(kinds)
        if kind == "if":
            otherwise = self._block(depth - 1, around) if self._random.random() < 0.4 else []
            return If(self._condition(around), self._block(depth - 1, around), otherwise)
        if kind == "loop":
            return self._loop(depth, around)
        if kind == "switch":
            on = binary("&", self._mixed(around), constant(3))
            labels = self._random.sample(range(4), self._random.randint(1, 3))
            inside = [*around, "switch"]
            return Switch(on, [(label, self._block(depth - 1, inside)) for label in labels])
        return self._mix(around)

    def _loop(self, depth: int, around: list[str]) -> Statement:
        counter = f"k{self.counters}"
        self.counters += 1
        kind = self._random.choice(("for", "while", "do", "forever"))
        inside = [*around, counter]
        condition = self._condition(inside) if self._random.random() < 0.3 else None
        body = self._block(depth - 1, inside)
        limit = self._random.randint(1, 5)
        if kind == "forever":  # somebody must leave
            enough = binary("<", constant(limit), variable(counter))
            last: list[Statement] = [self._mix(inside), Leave("break")]
            body = [If(enough, last), *body]
        return Loop(kind, counter, limit, body, condition)

    def _mixed(self, around: list[str]) -> Expression:
        names = ["x", "s", *(name for name in around if name.startswith("k"))]
        name = self._random.choice(names)
        return binary("+", variable(name), binary("*", variable("x"), constant(3)))

    def _condition(self, around: list[str]) -> Expression:
        value = self._mixed(around)
        if self._random.random() < 0.2:
            value = cross_lane(self._random.choice(list(CROSS_LANE)), value)
        number = constant(self._random.randint(0, 3))
        return binary("==", binary("&", value, constant(3)), number)

    def _mix(self, around: list[str]) -> Statement:
        value = self._mixed(around)
        if self._random.random() < 0.7:
            value = cross_lane(self._random.choice(list(CROSS_LANE)), value)
        return Set("s", binary("+", binary("*", variable("s"), constant(5)), value))
