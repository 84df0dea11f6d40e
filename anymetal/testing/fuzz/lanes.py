"""Random calls of cross-lane functions, where their lanes are certain."""

from __future__ import annotations

import random

from anymetal.testing.fuzz.operands import Operands, Options
from anymetal.testing.fuzz.tree import Binary, Cast, Constant, CrossLane, Expr
from anymetal.testing.fuzz.types import BOOL, UINT, USHORT, Type


class CrossLanes:
    """Generates calls of `simd_` and `quad_` functions."""

    def __init__(self, values: Operands) -> None:
        self.values = values
        self.scope = values.scope
        self.rng: random.Random = values.rng

    def options(self, kind: Type, depth: int) -> Options:
        scope = self.scope
        if not (scope.features.cross_lane and scope.flow.cross_lane):
            return []
        return [(6, lambda: self.make(kind, depth))]

    def make(self, kind: Type, depth: int) -> Expr:
        """A simd or quad function with a result of this integer type."""
        scope = self.rng.choice(("simd", "simd", "quad"))
        width = 32 if scope == "simd" else 4
        value = self.values.integer(kind, depth)
        if kind == UINT and self.scope.chance(0.2):
            if self.scope.chance(0.3):
                return CrossLane(UINT, f"{scope}_active_threads_mask", ())
            return CrossLane(UINT, f"{scope}_ballot", (self.values.condition(depth),))
        names = ("sum", "product", "min", "max", "and", "or", "xor")
        sums = ("prefix_inclusive_sum", "prefix_exclusive_sum")
        products = ("prefix_inclusive_product", "prefix_exclusive_product")
        if self.scope.chance(0.5):
            name = self.rng.choice((*names, *sums, *products))
            return CrossLane(kind, f"{scope}_{name}", (value,))
        return self.shuffle(kind, scope, width, value)

    def shuffle(self, kind: Type, scope: str, width: int, value: Expr) -> Expr:
        """The value of some other lane."""
        name = self.rng.choice(
            "shuffle shuffle shuffle_xor shuffle_up shuffle_down broadcast broadcast_first "
            "shuffle_rotate_up shuffle_rotate_down shuffle_and_fill_up "
            "shuffle_and_fill_down".split()
        )
        full = f"{scope}_{name}"
        if name == "broadcast_first":
            return CrossLane(kind, full, (value,))
        if name == "shuffle":  # the lane may differ from lane to lane
            lane = Binary(UINT, "&", self.values.integer(UINT, 1), Constant(UINT, width - 1))
            return CrossLane(kind, full, (value, Cast(USHORT, lane)))
        delta = Constant(USHORT, self.rng.randrange(width))
        if "fill" in name:
            return CrossLane(kind, full, (value, self.values.value(kind, 1), delta))
        return CrossLane(kind, full, (value, delta))

    def vote(self, depth: int) -> Expr:
        """A question to the lanes whose answer is a bool."""
        scope, name = self.rng.choice(("simd", "quad")), self.rng.choice(("any", "all", "is_first"))
        arguments = () if name == "is_first" else (self.values.condition(depth),)
        return CrossLane(BOOL, f"{scope}_{name}", arguments)
