"""Mutants one after the other, and how many of those that do harm the sanitizer finds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anymetal
from anymetal.errors import AnyMetalError
from anymetal.targets.base import Launch
from anymetal.testing.mutants.operators import Mutant, mutants
from anymetal.testing.mutants.oracles import UnstableError, harmful, reference
from anymetal.testing.mutants.recording import run

#: `no kernel`: it does not compile. `harmless`: the oracle sees no harm.
Outcome = Literal["no kernel", "harmless", "caught", "missed"]


@dataclass
class Catch:
    """What became of the mutants."""

    outcomes: Counter[tuple[str, Outcome]] = field(default_factory=Counter)  #: by operator
    missed: list[str] = field(default_factory=list)

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Counts one."""
        self.outcomes[mutant.operator, outcome] += 1
        if outcome == "missed":
            self.missed.append(str(mutant))

    def count(self, outcome: Outcome, operator: str = "") -> int:
        """How many had this outcome, of all operators or of one."""
        return sum(
            n for (o, out), n in self.outcomes.items() if out == outcome and operator in ("", o)
        )

    @property
    def rate(self) -> float:
        """The part of the harmful ones that was caught; 1 if there was none."""
        caught, missed = self.count("caught"), self.count("missed")
        return caught / (caught + missed) if caught + missed else 1.0

    def table(self) -> str:
        """A line for each operator, and one for all."""
        columns: tuple[Outcome, ...] = ("no kernel", "harmless", "caught", "missed")
        rows = [f"{'operator':18}" + "".join(f"{column:>11}" for column in columns)]
        for operator in [*sorted({operator for operator, _ in self.outcomes}), ""]:
            numbers = "".join(f"{self.count(column, operator):11}" for column in columns)
            rows.append(f"{operator or 'all':18}{numbers}")
        return "\n".join(rows)


def sample(
    launches: Iterable[Launch], seed: int, per_kernel: int
) -> Iterator[tuple[Launch, list[Mutant]]]:
    """Of each kernel at most so many mutants, chosen at random, of as many kinds as it has."""
    chance = random.Random(seed)
    for launch in launches:
        by_operator: dict[str, list[Mutant]] = {}
        for mutant in mutants(launch):
            by_operator.setdefault(mutant.operator, []).append(mutant)
        chosen: list[Mutant] = []
        while by_operator and len(chosen) < per_kernel:
            for operator in chance.sample(sorted(by_operator), len(by_operator)):
                left = by_operator[operator]
                chosen.append(left.pop(chance.randrange(len(left))))
                if not left:
                    del by_operator[operator]
        if chosen:
            yield launch, chosen[:per_kernel]


def try_mutants(launch: Launch, chosen: Sequence[Mutant], catch: Catch) -> None:
    """Tries mutants of one kernel; none if the kernel itself gives varying results."""
    try:
        right, known = reference(launch), found_in(launch)
    except UnstableError:
        return
    for mutant in chosen:
        try:
            outcome: Outcome = "harmless"
            if harmful(mutant, right):
                outcome = "caught" if found_in(mutant.launch) - known else "missed"
        except AnyMetalError:
            outcome = "no kernel"
        catch.add(mutant, outcome)


def found_in(launch: Launch) -> set[tuple[str, int]]:
    """What the sanitizer finds, in two orders of threads: kinds, and lines of the kernel's text."""
    with anymetal.sanitize(action="report", order="shuffle", seed=1) as session:
        run(launch)
    return {(finding.code, finding.place.part_line) for finding in session.findings}
