"""Explains a kernel: compiles it once more, with marks, and looks at what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from anymetal.emission.marks import Marks
from anymetal.explain.advice import Advice, advice
from anymetal.explain.costs import Cost, costs
from anymetal.explain.facts import Fact, facts
from anymetal.explain.listing import read_listing
from anymetal.explain.ranking import Weights, kind_of_fact, weights
from anymetal.frontend.dialect import parts_as_written
from anymetal.frontend.unit import part_name
from anymetal.ir.model import Location
from anymetal.pipeline.stages import Times
from anymetal.simd.emit.gang import GangFunction
from anymetal.source import KernelSource
from anymetal.targets.cpu.compiler import compile_kernel
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import Variant


class Finding(NamedTuple):
    """A fact about something that might be cheaper."""

    fact: Fact
    share: float  #: of all that the kernel costs (ranking.py)
    advice: Advice


@dataclass(frozen=True)
class Explanation:
    """What became of a kernel in one class of launches."""

    source: KernelSource
    launch: str  #: the class of launches, in words
    facts: list[Fact]
    costs: list[Cost]
    times: Times
    weights: Weights
    #: What it takes of the processor, a line each; and in values of JSON.
    resources: tuple[str, ...] = ()
    taken: dict[str, object] | None = None

    @cached_property
    def texts(self) -> dict[str, tuple[str, list[str]]]:
        """Part and lines of each text of the user's, by the name that places have."""
        return {
            part_name(self.source, part): (part, text.split("\n"))
            for part, text in parts_as_written(self.source).items()
        }

    @cached_property
    def findings(self) -> list[Finding]:
        """What might be cheaper, the most costly first."""
        counts = Counter((fact.location, kind_of_fact(fact)) for fact in self.facts)
        found = []
        for fact, times in Counter(self.facts).items():
            place = fact.location
            if said := advice(fact, self._text_from(place)):
                key = place, kind_of_fact(fact)
                cost = self.weights.findings.get(key, 0.0) * times / counts[key]
                found.append(Finding(fact, cost / (self.weights.total or 1), said))
        return sorted(found, key=lambda one: -one.share)

    def _text_from(self, place: Location | None) -> str:
        """The line at a place, and the next two."""
        return "\n".join(self.texts[place.where][1][place.line - 1 :][:3]) if place else ""

    def to_dict(self) -> dict[str, object]:
        """In values of JSON."""
        shares = {key: cost / (self.weights.total or 1) for key, cost in self.weights.lines.items()}
        return {
            "kernel": f"{self.source.name}{self.source.template_arguments}",
            "variant": self.launch,
            "lines": [
                {**self._place(Location(where, line, 0)), "share": share}
                for (where, line), share in sorted(shares.items(), key=lambda one: -one[1])
            ],
            "findings": [
                {
                    **self._fact(one.fact),
                    "share": one.share,
                    "advice": one.advice.text,
                    "before": one.advice.before,
                    "after": list(one.advice.after),
                }
                for one in self.findings
            ],
            "facts": [self._fact(fact) for fact in self.facts],
            "instructions": [
                {"loop": one.location.line if one.location else None, "note": one.note}
                | {"counts": dict(one.counts)}
                for one in self.costs
            ],
            **({"resources": self.taken} if self.taken else {}),
        }

    def _fact(self, fact: Fact) -> dict[str, object]:
        told = {"kind": fact.kind, "text": fact.text, "price": fact.price}
        return {**self._place(fact.location), **told}

    def _place(self, place: Location | None) -> dict[str, object]:
        part = self.texts[place.where][0] if place else None
        return {"part": part, "line": place.line if place else None}

    def share(self, where: str, line: int) -> float:
        """Of a line, of all that the kernel costs."""
        return self.weights.lines.get((where, line), 0.0) / (self.weights.total or 1)


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
    listing = read_listing(look.listing)
    return Explanation(
        source,
        look.launches,
        facts(function),
        costs(function, look.given, listing),
        Times(look.times, look.passes),
        weights(function, look.given, listing),
    )
