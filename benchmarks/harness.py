"""Runs the rows of the benchmark: contenders in turn, medians, quartiles, ratios within one run."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rich import box
from rich.console import Console
from rich.table import Table

from anymetal.cli.doctor import findings
from anymetal.cli.timing import Timing, duration, interleaved

#: The contender that all others are compared with.
OURS = "AnyMetal"
HEADINGS = ("", "median", "quartiles", "times ours", "rate")


@dataclass(frozen=True)
class Race:
    """Contenders that compute the same, ready to run."""

    contenders: dict[str, Callable[[], object]]  #: the first one is OURS
    check: Callable[[], None]  #: fails if AnyMetal's result is wrong
    bytes: int = 0  #: that must at least be moved
    flops: int = 0


@dataclass(frozen=True)
class Row:
    """One comparison; `prepare` makes its arrays and compiles its kernels."""

    name: str
    title: str
    prepare: Callable[[], Race]


@dataclass(frozen=True)
class Result:
    """What came of a row."""

    row: Row
    race: Race
    timings: list[Timing]

    @property
    def title(self) -> str:
        """Name, what is computed, how often."""
        return f"{self.row.name}: {self.row.title}, {len(self.timings[0].seconds)} rounds"

    def lines(self) -> Iterable[tuple[str, str, str, str, str]]:
        """For each contender: name, median, quartiles, times as long as ours, rate."""
        ours = self.timings[0]
        for timing in self.timings:
            low, high = timing.spread
            ratio = "" if timing is ours else f"{timing.over(ours):.2f}"
            spread = f"{duration(low)} to {duration(high)}"
            yield timing.name, duration(timing.median), spread, ratio, self._rate(timing)

    def _rate(self, timing: Timing) -> str:
        if self.race.flops:
            return f"{self.race.flops / timing.median / 1e9:.1f} GFLOP/s"
        return f"{self.race.bytes / timing.median / 1e9:.1f} GB/s" if self.race.bytes else ""


def run(rows: Sequence[Row], seconds: float, console: Console) -> list[Result]:
    """Run rows one after the other and print each as soon as it is known."""
    results = []
    for number, row in enumerate(rows, 1):
        with console.status(f"{number} of {len(rows)}: {row.title}"):
            race = row.prepare()
            race.check()
            result = Result(row, race, interleaved(race.contenders, seconds, rounds=5))
        results.append(result)
        console.print(table(result.title, HEADINGS, result.lines()))
    return results


def table(title: str, headings: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    """A table for the screen; names on the left, figures on the right."""
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number else "left", no_wrap=number > 0)
    for line in lines:
        made.add_row(*line, style="bold" if line[0] == OURS else "")
    return made


def markdown(title: str, headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """The same table for a file."""
    rows = ["| " + " | ".join(line) + " |" for line in (headings, *lines)]
    rule = "|---|" + "---:|" * (len(headings) - 1)
    return "\n".join([f"## {title}\n", rows[0], rule, *rows[1:], ""])


def conditions(threads: int) -> list[tuple[str, str]]:
    """Machine and versions: without them no figure means anything."""
    machine = [
        (finding.name, finding.value)
        for finding in findings()
        if finding.section in ("machine", "tools") and finding.state == "good"
    ]
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    packages = ", ".join(f"{name} {version(name)}" for name in ("mlx", "torch", "numpy"))
    return [
        *machine,
        ("threads used", str(threads)),
        ("load before the run (1, 5, 15 min)", load),
        ("Python", platform.python_version()),
        ("packages", packages),
    ]
