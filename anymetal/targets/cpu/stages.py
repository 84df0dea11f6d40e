"""The stages of a compilation, and who follows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from anymetal import debug
from anymetal.source import KernelSource
from anymetal.targets.cpu.variant import Variant

if TYPE_CHECKING:
    from anymetal.simd.gang import GangFunction
    from anymetal.simd.marks import Marks


class Stages:
    """Follows one compilation and takes the time of each stage.

    A subclass may also look at what the stages make; this one does not.
    """

    def __init__(self) -> None:
        self.times: dict[str, float] = {}  #: seconds, in the order of the stages
        self.level = 0  #: of `ANYMETAL_DEBUG`: what it asks for shall be made as text

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times a stage; one that takes several steps is timed in all."""
        start = perf_counter()
        try:
            yield
        finally:
            self.times[name] = self.times.get(name, 0.0) + perf_counter() - start

    def made(self, what: str, text: Callable[[], str]) -> None:
        """A stage has made something that can be shown as text."""

    def marks(self) -> Marks | None:
        """Marks for the generated code, if the assembly is to be explained."""
        return None

    def vectorized(self, functions: list[GangFunction]) -> None:
        """The vectorizer has decided, and written these functions."""


class DebugStages(Stages):
    """Tells what `ANYMETAL_DEBUG` asks for (see debug.py), as soon as it is known."""

    def __init__(self, source: KernelSource, variant: Variant, level: int) -> None:
        super().__init__()
        self.kernel = source.name
        self.variant = variant
        self.level = level

    def made(self, what: str, text: Callable[[], str]) -> None:
        """Show it, if the level says so."""
        if self.level >= debug.LEVELS[what]:
            debug.show(self.kernel, what, text())

    def found(self, where: str) -> None:
        """The code is there."""
        parts = ", ".join(f"{name} {1000 * time:.0f}" for name, time in self.times.items())
        split = f" in {1000 * sum(self.times.values()):.0f} ms ({parts})" if parts else ""
        debug.say(f"kernel `{self.kernel}` on the CPU, {self.variant.text}: {where}{split}")
