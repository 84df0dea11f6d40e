"""What all that writes code of one gang function works with."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anymetal.analysis.cache import Analyses
from anymetal.emission.writer import Writer
from anymetal.simd.code.accesses import Accesses
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.code.values import Values


class GangContext(NamedTuple):
    """The program, its text so far, and the forms in which values, masks and accesses exist."""

    known: Analyses
    w: Writer
    v: Values
    masks: Masks
    accesses: Accesses
    partial: bool  #: the gang may lack lanes


class GangEmitter:
    """Writes some kind of instructions."""

    def __init__(self, c: GangContext) -> None:
        self.known, self.w, self.v, self.masks, self.accesses, self.partial = c
        self.machine = c.known.machine

    def two_ways(
        self, condition: str, names: tuple[str, str, str], yes: Callable[[], None],
        no: Callable[[], None],
    ) -> None:  # fmt: skip
        """As the writer's; what one side has computed is not known to the other, nor behind."""

        def apart(side: Callable[[], None]) -> None:
            with self.v.apart():
                side()

        self.w.two_ways(condition, names, lambda: apart(yes), lambda: apart(no))

    def full_or_partial(
        self, mask: Mask, whole: Callable[[], list[str]], some: Callable[[], list[str]],
        spelling: str = "",
    ) -> list[str]:  # fmt: skip
        """Emits `whole` for all lanes and `some` for some of them, with a test at run time unless
        it is known which. Each gives the same number of results, of the type `spelling`."""
        if mask is None:
            return whole()
        sides: list[list[tuple[str, str]]] = []

        def side(emit: Callable[[], list[str]]) -> None:
            results = emit()
            last = self.w.fresh("side")  # `emit` may have made blocks of its own
            self.w.do(f"br label %{last}")
            self.w.label(last)
            sides.append([(name, last) for name in results])

        names = ("whole", "some", "end")
        self.two_ways(self.masks.all(mask), names, lambda: side(whole), lambda: side(some))
        return [
            self.w.value(f"phi {spelling} [ {a}, %{at} ], [ {b}, %{bt} ]")
            for (a, at), (b, bt) in zip(*sides, strict=True)
        ]
