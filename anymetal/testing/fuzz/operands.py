"""What the generators of expressions ask each other for.

Expressions of all kinds are parts of each other: a float can be the sum over a vector, which has a
shuffled integer in it. `Values` makes them all; those it leaves to others ask back through this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from anymetal.testing.fuzz.scope import Scope
from anymetal.testing.fuzz.tree import Cast, Constant, Expr, Variable
from anymetal.testing.fuzz.types import Type

Options = list[tuple[int, Callable[[], Expr]]]
T = TypeVar("T")


class Operands(ABC):
    """Expressions of a wanted type from what is in scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.rng = scope.rng

    def pick(self, options: Options) -> Expr:
        """One of several expressions, by weight."""
        weights = [weight for weight, _ in options]
        return self.rng.choices(options, weights)[0][1]()

    def choose(self, items: Sequence[T]) -> T:
        """Any of them."""
        return self.rng.choice(items)

    def locals(self, kind: Type, uniform: bool) -> list[Variable]:
        """Variables of this type in scope."""
        return [
            local.variable
            for local in self.scope.locals
            if local.variable.type == kind and (local.uniform or not uniform)
        ]

    def splat(self, kind: Type, number: int | float) -> Expr:
        """A number as a constant of a scalar or vector type."""
        constant = Constant(kind.element, number)
        return Cast(kind, constant) if kind.is_vector else constant

    @abstractmethod
    def value(self, kind: Type, depth: int, uniform: bool = False) -> Expr:
        """Any expression of this type; floats keep to the bound of variables."""

    @abstractmethod
    def integer(self, kind: Type, depth: int, uniform: bool = False) -> Expr:
        """An integer."""

    @abstractmethod
    def integer_function(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """A function of <metal_integer> on scalars or vectors of any integer type."""

    @abstractmethod
    def condition(self, depth: int, uniform: bool = False) -> Expr:
        """A bool."""

    @abstractmethod
    def mask(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """A bool for each component of `kind`."""

    @abstractmethod
    def ternary(self, kind: Type, depth: int, uniform: bool) -> Expr:
        """`condition ? yes : no`, of which each lane evaluates one."""

    @abstractmethod
    def index(self, size: int, uniform: bool = False) -> Expr:
        """An index into an array of this size."""

    @abstractmethod
    def memory_leaves(self, kind: Type, uniform: bool) -> Options:
        """Loads of this type."""
