"""Random vector expressions: swizzles, constructors, arithmetic by components."""

from __future__ import annotations

import random

from anymetal.testing.fuzz.operands import Operands, Options
from anymetal.testing.fuzz.tree import (
    Binary,
    Cast,
    CastLoad,
    Component,
    Constant,
    Construct,
    Expr,
    Swizzle,
)
from anymetal.testing.fuzz.types import UINT, Type


class Vectors:
    """Generates integer vectors (`Reals` makes float ones), and parts of any vector."""

    def __init__(self, values: Operands) -> None:
        self.values = values
        self.scope = values.scope
        self.rng: random.Random = values.rng

    def any_type(self) -> Type:
        """A vector type of this case's element types."""
        kinds = [t for t in self.scope.features.types if t.bits <= 32 and t.base != "bfloat"]
        return self.rng.choice(kinds).vector(self.rng.randint(2, 4))

    def make(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """An integer vector; `Reals` makes the float ones."""
        options: Options = [(4, lambda: self.construct(kind, max(depth - 1, 0), uniform))]
        options.append((1, lambda: Cast(kind, self.values.integer(kind.element, 0, uniform))))
        names = self.values.locals(kind, uniform)
        if names:
            options.append((8, lambda: self.rng.choice(names)))
        options += self.swizzles(kind, uniform)
        if self.scope.features.casts and not uniform and kind.bits == 32:
            options.append((2, lambda: self.load(kind)))
        if depth > 0:
            options += [
                (8, lambda: self._vector_arithmetic(kind, depth - 1, uniform)),
                (3, lambda: self.values.integer_function(kind, depth - 1, uniform)),
                (2, lambda: self._vector_cast(kind, depth - 1, uniform)),
                (2, lambda: self.values.ternary(kind, depth - 1, uniform)),
            ]
        return self.values.pick(options)

    def construct(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """A vector from its components."""
        parts = [self.values.value(kind.element, depth, uniform) for _ in range(kind.width)]
        pairs = self.values.locals(kind.vector(2), uniform)
        if kind.width > 2 and pairs and self.scope.chance(0.5):
            place = self.rng.randrange(kind.width - 1)
            parts[place : place + 2] = [self.rng.choice(pairs)]
        return Construct(kind, tuple(parts))

    def swizzles(self, kind: Type, uniform: bool) -> Options:
        wide = [v for width in (2, 3, 4) for v in self.values.locals(kind.vector(width), uniform)]
        if not wide:
            return []

        def swizzle() -> Expr:
            variable = self.rng.choice(wide)
            letters = self.rng.choice(("xyzw", "rgba"))[: variable.type.width]
            picked = "".join(self.rng.choices(letters, k=kind.width))
            return Swizzle(kind, variable, picked)

        return [(3, swizzle)]

    def part(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """One component of a vector, by name or by a varying number."""
        wide = [v for width in (2, 3, 4) for v in self.values.locals(kind.vector(width), uniform)]
        if not wide:
            whole = self.values.value(kind.vector(self.rng.choice((2, 4))), depth, uniform)
            return Swizzle(kind, whole, self.rng.choice("xy"))
        variable = self.rng.choice(wide)
        if self.scope.chance(0.4):
            return Component(kind, variable, self.component(variable.type, uniform))
        return Swizzle(kind, variable, self.rng.choice("xyzw"[: variable.type.width]))

    def component(self, kind: Type, uniform: bool) -> Expr:
        """A component number in range."""
        raw = self.values.integer(UINT, 1, uniform)
        if kind.width == 3:
            return Binary(UINT, "%", raw, Constant(UINT, 3))
        return Binary(UINT, "&", raw, Constant(UINT, kind.width - 1))

    def load(self, kind: Type) -> Expr:
        buffers = [b for b in self.scope.inputs(kind.element) if b.size >= 8]
        if not buffers or self.scope.flow.function is not None or kind.width == 3:
            return self.construct(kind, 0, False)
        buffer = self.rng.choice(buffers)
        return CastLoad(kind, buffer.name, kind, self.values.index(buffer.size // kind.width), "")

    def _vector_arithmetic(self, kind: Type, depth: int, uniform: bool) -> Expr:
        op = self.rng.choice(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"))
        left = self.make(kind, depth, uniform)
        if op in "/%":
            top = min(63, kind.limits[1])
            small = Binary(kind, "&", self.make(kind, depth, uniform), self.values.splat(kind, top))
            return Binary(kind, op, left, Binary(kind, "|", small, Constant(kind.element, 1)))
        if self.scope.chance(0.3):  # a scalar operand spreads to all components
            return Binary(kind, op, left, self.values.value(kind.element, depth, uniform))
        return Binary(kind, op, left, self.make(kind, depth, uniform))

    def _vector_cast(self, kind: Type, depth: int, uniform: bool) -> Expr:
        types = [t for t in self.scope.features.types if t.bits <= 32 and t.base != "bfloat"]
        source = self.rng.choice(types).vector(kind.width)
        return Cast(kind, self.values.value(source, depth, uniform))
