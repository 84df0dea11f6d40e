"""Random float expressions whose every intermediate result is exact.

Values stay small integers, halves or quarters. A bound travels with each expression, and operands
are narrowed before a result could need rounding: contraction and the order of a reduction cannot
change a single bit then, and results compare bit for bit.
"""

from __future__ import annotations

from anymetal.testing.fuzz.lanes import CrossLanes
from anymetal.testing.fuzz.operands import Operands
from anymetal.testing.fuzz.tree import (
    Binary,
    Call,
    Cast,
    Constant,
    CrossLane,
    Expr,
    Ternary,
    Unary,
)
from anymetal.testing.fuzz.types import FLOAT, INT, Type
from anymetal.testing.fuzz.vectors import Vectors

#: (largest magnitude, fraction bits)
Bound = tuple[float, int]
#: What float variables and buffers hold.
VARIABLE_BOUND: dict[str, Bound] = {"float": (64, 1), "half": (16, 1), "bfloat": (8, 0)}


class Reals:
    """Generates float expressions, scalar or vector, together with their bounds."""

    def __init__(self, values: Operands, vectors: Vectors, lanes: CrossLanes) -> None:
        self.values = values
        self.vectors = vectors
        self.lanes = lanes
        self.scope = values.scope
        self.rng = values.rng

    def make(self, kind: Type, depth: int, uniform: bool) -> tuple[Expr, Bound]:
        """A float expression and the bound of its values."""
        if depth <= 0 or self.scope.chance(0.25):
            return self._leaf(kind, uniform)
        makers = [self._arithmetic, self._arithmetic, self._function, self._cast, self._choice]
        if not kind.is_vector:
            makers += [self._fma, self._reduction]
        return self.rng.choice(makers)(kind, depth - 1, uniform)

    def narrowed(self, kind: Type, value: Expr, bound: Bound) -> Expr:
        """The value brought into the bound of variables."""
        most, fraction = VARIABLE_BOUND[kind.base]
        if bound[1] > fraction:
            value = Call(kind, "floor", (value,))
            bound = (bound[0] + 1, 0)
        if bound[0] > most:
            low, high = self.values.splat(kind, -most), self.values.splat(kind, most)
            value = Call(kind, "max", (Call(kind, "min", (value, high)), low))
        return value

    def _leaf(self, kind: Type, uniform: bool) -> tuple[Expr, Bound]:
        values, bound = self.values, VARIABLE_BOUND[kind.base]
        names = values.locals(kind, uniform)
        if names and self.scope.chance(0.6):
            return values.choose(names), bound
        if kind.is_vector:
            options = self.vectors.swizzles(kind, uniform)
            if options and self.scope.chance(0.5):
                return values.pick(options), bound
            if self.scope.features.casts and not uniform and kind.bits == 32:
                return self.vectors.load(kind), bound
            return self.vectors.construct(kind, 0, uniform), bound
        options = values.memory_leaves(kind, uniform)
        if options and self.scope.chance(0.7):
            return values.pick(options), bound
        most, fraction = bound
        steps = int(most) << fraction
        return Constant(kind, self.rng.randint(-steps, steps) / (1 << fraction)), bound

    def _pair(self, kind: Type, depth: int, uniform: bool) -> list[tuple[Expr, Bound]]:
        return [self.make(kind, depth, uniform) for _ in range(2)]

    def _fits(self, kind: Type, bound: Bound) -> bool:
        return bound[0] * float(2 ** bound[1]) <= float(2**kind.precision)

    def _arithmetic(self, kind: Type, depth: int, uniform: bool) -> tuple[Expr, Bound]:
        op = self.rng.choice("+-*")
        pair = self._pair(kind, depth, uniform)
        bound = self._combined(op, pair[0][1], pair[1][1])
        if not self._fits(kind, bound):
            small = VARIABLE_BOUND[kind.base]
            pair = [(self.narrowed(kind, *item), small) for item in pair]
            bound = self._combined(op, small, small)
        return Binary(kind, op, pair[0][0], pair[1][0]), bound

    @staticmethod
    def _combined(op: str, left: Bound, right: Bound) -> Bound:
        if op == "*":
            return left[0] * right[0], left[1] + right[1]
        return left[0] + right[0], max(left[1], right[1])

    def _function(self, kind: Type, depth: int, uniform: bool) -> tuple[Expr, Bound]:
        values = self.values
        names = ["floor", "ceil", "trunc", "rint", "round", "fabs", "min", "max", "-"]
        if kind.base != "bfloat":
            names += ["sign", "fract", "clamp", "step"]
        name = self.rng.choice(names)
        operand, bound = self.make(kind, depth, uniform)
        if name == "-":
            return Unary(kind, "-", operand), bound
        if name in ("min", "max", "step"):
            other, second = self.make(kind, depth, uniform)
            larger = (max(bound[0], second[0]), max(bound[1], second[1]))
            return Call(kind, name, (operand, other)), (1, 0) if name == "step" else larger
        if name == "clamp":
            low, high = sorted((self.rng.randint(-9, 9), self.rng.randint(-9, 9)))
            limits = (values.splat(kind, low), values.splat(kind, high))
            return Call(kind, name, (operand, *limits)), (9, bound[1])
        after = {"fabs": bound, "sign": (1, 0), "fract": (1, bound[1])}
        return Call(kind, name, (operand,)), after.get(name, (bound[0] + 1, 0))

    def _cast(self, kind: Type, depth: int, uniform: bool) -> tuple[Expr, Bound]:
        values = self.values
        floats = [t for t in self.scope.features.types if t.is_float and t.base != kind.base]
        if kind.is_vector:
            floats = [t for t in floats if t.base != "bfloat"]
        most, _ = VARIABLE_BOUND[kind.base]
        if floats and self.scope.chance(0.5):
            source = values.choose(floats).vector(kind.width)
            value, bound = self.make(source, depth, uniform)
            if not self._fits(kind, bound):
                value, bound = self.narrowed(source, value, bound), VARIABLE_BOUND[source.base]
            if not self._fits(kind, bound):
                value, bound = Call(source, "sign", (value,)), (1, 0)
                if source.base == "bfloat":
                    return values.splat(kind, 1), (1, 0)
            if FLOAT.base not in (source.base, kind.base):  # half and bfloat meet only in float
                value = Cast(FLOAT.vector(kind.width), value)
            return Cast(kind, value), bound
        work = INT.vector(kind.width)
        small = Binary(
            work, "&", values.value(work, depth, uniform), values.splat(work, int(most) - 1)
        )
        shifted = Binary(work, "-", small, values.splat(work, int(most) // 2))
        return Cast(kind, shifted), (most, 0)

    def _choice(self, kind: Type, depth: int, uniform: bool) -> tuple[Expr, Bound]:
        (yes, first), (no, second) = self._pair(kind, depth, uniform)
        bound = (max(first[0], second[0]), max(first[1], second[1]))
        if self.scope.chance(0.4):
            return Call(kind, "select", (no, yes, self.values.mask(kind, 0, uniform))), bound
        return Ternary(kind, self.values.condition(depth, uniform), yes, no), bound

    def _fma(self, kind: Type, depth: int, uniform: bool) -> tuple[Expr, Bound]:
        small = VARIABLE_BOUND[kind.base]
        parts = [self.narrowed(kind, *self.make(kind, depth, uniform)) for _ in range(3)]
        product = self._combined("*", small, small)
        return Call(kind, "fma", tuple(parts)), self._combined("+", product, small)

    def _reduction(self, kind: Type, depth: int, uniform: bool) -> tuple[Expr, Bound]:
        """A dot product or a cross-lane function, where allowed."""
        values, small = self.values, VARIABLE_BOUND[kind.base]
        if self.scope.features.vectors and kind == FLOAT and self.scope.chance(0.5):
            wide = kind.vector(self.rng.randint(2, 4))
            sides = tuple(values.value(wide, depth, uniform) for _ in range(2))
            return Call(kind, "dot", sides), (small[0] ** 2 * 4, 2)
        if uniform or kind.base == "bfloat" or not self.lanes.options(INT, 0):
            return self._arithmetic(kind, depth, uniform)
        value = self.narrowed(kind, *self.make(kind, depth, uniform))
        scope, width = self.rng.choice((("simd", 32), ("quad", 4)))
        if self.scope.chance(0.4):
            shuffled = self.lanes.shuffle(kind, scope, width, value)
            return shuffled, small
        names = ["min", "max"]
        if self._fits(kind, (small[0] * width, small[1])):
            names += ["sum", "prefix_inclusive_sum", "prefix_exclusive_sum"]
        name = self.rng.choice(names)
        bound = small if name in ("min", "max") else (small[0] * width, small[1])
        return CrossLane(kind, f"{scope}_{name}", (value,)), bound
