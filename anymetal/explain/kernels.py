"""Explains a kernel: compiles it once more, with marks, and looks at what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anymetal.explain.costs import Cost, costs
from anymetal.explain.facts import Fact, facts
from anymetal.explain.listing import read_listing
from anymetal.pipeline.stages import Times
from anymetal.simd.code.marks import Marks
from anymetal.simd.emit.gang import GangFunction
from anymetal.source import KernelSource
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import Variant


@dataclass(frozen=True)
class Explanation:
    """What became of a kernel in one class of launches."""

    source: KernelSource
    variant: Variant
    facts: list[Fact]
    costs: list[Cost]
    times: Times


class _Look(GangStages):
    """Keeps what a compilation decided and wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.given = Marks()
        self.functions: list[GangFunction] = []
        self.listing = ""

    def marks(self) -> Marks:
        return self.given

    def vectorized(self, functions: list[GangFunction]) -> None:
        self.functions = functions

    def made(self, what: str, text: Callable[[], str]) -> None:
        if what == "assembly":
            self.listing = text()


def explain(source: KernelSource, variant: Variant) -> Explanation:
    """Facts and costs of the code that full SIMD-groups run; where there are none, of the others.

    Raises as `compile_kernel` does.
    """
    look = _Look()
    compile_kernel(source, variant, look)
    function = look.functions[0]
    found = costs(function, look.given, read_listing(look.listing))
    times = Times(look.times, look.passes)
    return Explanation(source, variant, facts(function), found, times)
