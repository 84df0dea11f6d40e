"""How far addresses lie apart: those of two accesses, and those of a SIMD-group and the next."""

from __future__ import annotations

from anymetal.analysis.affine import Distance, Product, forms
from anymetal.analysis.cache import Analyses
from anymetal.analysis.lane_numbers import lane_numbers
from anymetal.ir.model import Instr, Value
from anymetal.ir.walk import made_from


class Distances:
    """Of a program. `steps` says by how much the results of calls for positions grow from a
    SIMD-group to the next one."""

    def __init__(self, known: Analyses, steps: dict[str, int]) -> None:
        program = known.program
        self.steps = steps
        self.width = known.width
        self.numbers, self.forms = known(lane_numbers), known(forms)
        roots = [i for i in program.instructions() if self._step(i)]
        self.moving = made_from(program.instructions(), roots)

    def between(self, a: Value, b: Value) -> Distance | None:
        """From one address to another; None if it is not known, or not the same for all lanes."""
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
        """From a SIMD-group's address to the next one's; None as above."""
        form = self.forms(pointer)
        if form is None:
            return None
        changes: dict[Product, set[int]] = {}
        for product, factors in form.items():
            moving = [v for v in product if self.moves(v)]
            if not moving:
                continue
            step = self._step(moving[0])
            rest = tuple(v for v in product if v is not moving[0])
            if len(moving) > 1 or not step or rest in changes:
                return None
            changes[rest] = {factor * step for factor in factors}
        return _same(changes)

    def _step(self, value: Value) -> int:
        """0 for what is no position."""
        if isinstance(value, Instr) and value.op == "call":
            return self.steps.get(value.arg, 0)
        return 0

    def moves(self, value: Value) -> bool:
        """Whether a value differs between a SIMD-group and the next."""
        return value in self.moving


def _same(changes: dict[Product, set[int]]) -> Distance | None:
    """What changes, if it does so alike in all lanes."""
    if any(len(factors) > 1 for factors in changes.values()):
        return None
    return {product: factor for product, (factor,) in changes.items() if factor}
