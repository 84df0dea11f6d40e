"""What the generator may use at one point of the program: names in scope and control flow."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from anymetal.testing.fuzz.launch import LaunchSize
from anymetal.testing.fuzz.tree import Buffer, Function, Variable
from anymetal.testing.fuzz.types import Type

#: Nothing to leave; a loop (or switch) whose threads stay together; one whose threads part.
Leaving = Literal["", "uniform", "divergent"]


@dataclass(frozen=True, slots=True)
class Local:
    variable: Variable
    uniform: bool  #: the same in all threads of a threadgroup
    writable: bool


@dataclass(frozen=True, slots=True)
class PrivateArray:
    name: str
    type: Type
    size: int


@dataclass(frozen=True, slots=True)
class PointerLocal:
    """A pointer and how far it may still be moved and read."""

    name: str
    type: Type
    room: int


@dataclass(frozen=True, slots=True)
class Flow:
    """Properties of the block that is being generated."""

    uniform: bool = True  #: all threads of the threadgroup that have not returned are here
    cross_lane: bool = True  #: cross-lane calls have one meaning here
    breaks: Leaving = ""  #: what `break` leaves
    continues: Leaving = ""  #: what `continue` continues
    depth: int = 0
    function: Type | None = None  #: result type, inside a helper function


@dataclass(frozen=True, slots=True)
class Features:
    """What one case exercises; mixing everything everywhere would test little of each."""

    types: tuple[Type, ...]
    cross_lane: bool
    threadgroup: bool
    atomics: bool
    vectors: bool
    arrays: bool
    pointers: bool
    casts: bool
    specials: bool  #: NaN, infinities and huge values, in casts and comparisons


@dataclass
class Scope:
    """The mutable state of one case's generation."""

    rng: random.Random
    launch: LaunchSize
    features: Features
    buffers: list[Buffer] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    arrays: list[PrivateArray] = field(default_factory=list)
    pointers: list[PointerLocal] = field(default_factory=list)
    readable: list[str] = field(default_factory=list)  #: threadgroup arrays, between barriers
    open_atomics: list[str] = field(default_factory=list)  #: threadgroup atomics, likewise
    flow: Flow = field(default_factory=Flow)
    names: int = 0

    def fresh(self, prefix: str) -> str:
        """A name that the case does not use yet."""
        self.names += 1
        return f"{prefix}{self.names}"

    @contextmanager
    def block(self, **changes: object) -> Iterator[None]:
        """A nested block: its declarations end with it."""
        marks = len(self.locals), len(self.arrays), len(self.pointers)
        before = self.flow
        changes.setdefault("depth", before.depth + 1)
        self.flow = replace(before, **changes)  # type: ignore[arg-type]
        yield
        self.flow = before
        del self.locals[marks[0] :], self.arrays[marks[1] :], self.pointers[marks[2] :]

    def inputs(self, kind: Type | None = None) -> list[Buffer]:
        return [
            buffer
            for buffer in self.buffers
            if buffer.space == "input" and kind in (None, buffer.type) and buffer.name != "special"
        ]

    def buffer(self, name: str) -> Buffer:
        return next(buffer for buffer in self.buffers if buffer.name == name)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability
