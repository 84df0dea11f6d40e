"""How far apart addresses are: those of two accesses; or those of one access in a SIMD-group and in
the next one, or in an iteration of a loop and in the next one."""

from __future__ import annotations

from collections.abc import Mapping

from anymetal.analysis.affine import Distance, Linear, Product, forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.flow import users
from anymetal.ir.model import Value
from anymetal.ir.walk import made_from


class Distances:
    """The distances in a program.

    `steps`: by how much the results of position calls grow from a SIMD-group to the next. To look
    at the next iteration of a loop instead, `phis` says by how much its phis grow: a number, or a
    value that does not change in the loop (0: unknown).
    """

    def __init__(
        self,
        known: Analyses,
        steps: dict[str, int],
        phis: Mapping[Value, Value | int] | None = None,
    ) -> None:
        program = known.program
        self.width, self.forms = known.width, known(forms)
        calls = (i for i in program.instructions() if i.op == "call" and steps.get(i.arg))
        self.steps: dict[Value, Value | int] = {i: steps[i.arg] for i in calls}
        self.steps.update(phis or {})
        self.moving = made_from(known(users), self.steps)

    def between(self, a: Value, b: Value) -> Distance | None:
        """From one address to another; None if that is unknown or differs between lanes."""
        first, second = self.forms(a), self.forms(b)
        if first is None or second is None:
            return None
        zeros = (0,) * self.width
        changes = {
            product: {y - x for x, y in zip(*(f.get(product, zeros) for f in (first, second)),
                                            strict=True)}
            for product in first.keys() | second.keys()
        }  # fmt: skip
        return _same(changes)

    def to_next(self, pointer: Value) -> Distance | None:
        """From an address to that of the next SIMD-group or iteration; None as above."""
        return self.of(self.forms(pointer))

    def of(self, form: Linear | None) -> Distance | None:
        """The same, of an address in this form."""
        if form is None:
            return None
        changes: dict[Product, list[int]] = {}
        for product, factors in form.items():
            moving = [v for v in product if self.moves(v)]
            if not moving:
                continue
            step = self.steps.get(moving[0], 0)
            rest = tuple(v for v in product if v is not moving[0])
            if len(moving) > 1 or not step:
                return None
            if isinstance(step, Value):
                rest, step = tuple(sorted((*rest, step), key=id)), 1
            before = changes.get(rest, (0,) * self.width)
            changes[rest] = [a + factor * step for a, factor in zip(before, factors, strict=True)]
        return _same({product: set(by) for product, by in changes.items()})

    def moves(self, value: Value) -> bool:
        """Whether a value differs between a SIMD-group or iteration and the next."""
        return value in self.moving


def _same(changes: dict[Product, set[int]]) -> Distance | None:
    """The changes, if all lanes have the same."""
    if any(len(factors) > 1 for factors in changes.values()):
        return None
    return {product: factor for product, (factor,) in changes.items() if factor}
