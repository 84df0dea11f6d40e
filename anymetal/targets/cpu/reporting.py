"""Observers of a compilation for the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from anymetal import debug
from anymetal.pipeline.stages import Stages, in_milliseconds, longest_first
from anymetal.source import KernelSource

if TYPE_CHECKING:
    from anymetal.emission.marks import Marks
    from anymetal.simd.emit.gang import GangFunction


class GangStages(Stages):
    """Is also told about the functions of gangs."""

    declined = False  #: whether the code is for the class that the variant has `instead`
    launches = ""  #: what launches the code is for, in words

    def marks(self) -> Marks | None:
        """Marks for the generated code in the place of the user's lines, if the assembly is to be
        explained."""
        return None

    def vectorized(self, functions: list[GangFunction]) -> None:
        """Called when these functions have been written."""


class DebugStages(GangStages):
    """Shows what `ANYMETAL_DEBUG` asks for (debug.py), as soon as it exists."""

    def __init__(self, source: KernelSource, wanted: debug.Wanted) -> None:
        super().__init__(wanted)
        self.kernel = source.name

    def made(self, what: str, text: Callable[[], str]) -> None:
        """Shows it if `ANYMETAL_DEBUG` asks for it."""
        if self.wanted.shows(what):
            debug.show(self.kernel, what, text())

    def found(self, where: str, launches: str) -> None:
        """Says where the machine code for these launches was found."""
        parts = in_milliseconds(self.times.items())
        split = f" in {1000 * sum(self.times.values()):.0f} ms ({parts})" if parts else ""
        debug.say(f"kernel `{self.kernel}` on the CPU, {launches}: {where}{split}")
        if self.passes and (self.wanted.passes or self.wanted.shows("changes")):
            passes = in_milliseconds(longest_first(self.passes), 1)
            debug.say(f"kernel `{self.kernel}`, passes in ms: {passes}")
