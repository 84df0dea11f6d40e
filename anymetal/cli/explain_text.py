"""How `anymetal explain` looks on a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from anymetal.explain.classes import CLASSES
from anymetal.explain.costs import Cost
from anymetal.explain.facts import Fact
from anymetal.explain.kernels import Explanation, Finding
from anymetal.pipeline.stages import Times, in_milliseconds, longest_first

_STYLES = {"low": "green", "open": "yellow", "high": "red"}
_CONTEXT = 2  #: lines of a header around those of which something is known
_LEAST_WIDTH = 60
_PASSES_SHOWN = 8
_FINDINGS_SHOWN = 8


def show(console: Console, explanation: Explanation) -> None:
    """Print what is known of a kernel, line by line, then what to do about it."""
    source = explanation.source
    title = f"kernel {source.name}{source.template_arguments}"
    console.print(Text.assemble((title, "bold"), f"   {explanation.launch}"), soft_wrap=True)
    for where, (part, lines) in explanation.texts.items():
        known: dict[int, list[Fact]] = {}
        for fact in explanation.facts:
            if fact.location is not None and fact.location.where == where:
                known.setdefault(fact.location.line, []).append(fact)
        _print_lines(console, lines, known, whole=part == "source")
    lost = [fact for fact in explanation.facts if fact.location is None]
    if lost:
        console.print("\n  of several lines, or moved by LLVM", style="dim")
        _print_facts(console, lost)
    if explanation.costs:
        _print_costs(console, explanation.costs)
    _print_resources(console, explanation.resources)
    _print_findings(console, explanation)


def _print_findings(console: Console, explanation: Explanation) -> None:
    """The most costly first."""
    findings = explanation.findings
    if not findings:
        return
    console.print("  what might be cheaper, by its share of the cost", style="dim")
    told: set[str] = set()
    for finding in findings[:_FINDINGS_SHOWN]:
        _print_finding(console, explanation, finding, told)
    if more := len(findings) - _FINDINGS_SHOWN:
        if more > 0:
            console.print(f"    … and {more} more (--json, --html)", style="dim")
    console.print()


def _print_finding(
    console: Console, explanation: Explanation, finding: Finding, told: set[str]
) -> None:
    fact, said = finding.fact, finding.advice
    where = "several lines"
    if place := fact.location:
        part = explanation.texts[place.where][0]
        where = f"line {place.line}" if part == "source" else f"{part} line {place.line}"
    _wrapped(
        console, f"{finding.share:4.0%}  {where}: {fact.kind} {fact.text}", 4, _STYLES[fact.price]
    )
    if said.text not in told:  # once is enough
        _wrapped(console, said.text, 10, "")
        told.add(said.text)
    if said.before:
        for mark, lines, style in (
            ("-", said.before.split("\n"), "red"),
            ("+", said.after, "green"),
        ):
            for line in lines:
                text = Text(f"          {mark} {line.strip()}", style)
                console.print(text, soft_wrap=True)


def _wrapped(console: Console, text: str, indent: int, style: str) -> None:
    width = max(_LEAST_WIDTH, console.width) - 2
    first, rest = " " * indent, " " * 10
    for line in textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest):
        console.print(Text(line, style), soft_wrap=True)


def _print_lines(
    console: Console, lines: list[str], known: dict[int, list[Fact]], whole: bool
) -> None:
    if not known:
        return
    shown = {n for line in known for n in range(line - _CONTEXT, line + _CONTEXT + 1)}
    if whole:
        filled = [n for n, line in enumerate(lines, 1) if line.strip()]
        shown = set(range(filled[0], filled[-1] + 1))
    console.print()
    before = 0
    for number, line in enumerate(lines, 1):
        if number not in shown:
            continue
        if before and number > before + 1:
            console.print("      …", style="dim")
        before = number
        if not line.strip() and not lines[number - 2].strip():
            continue
        code = Text.assemble((f"{number:5} ", "dim"), line.rstrip().expandtabs(4))
        console.print(code, soft_wrap=True)
        _print_facts(console, known.get(number, []))


def _print_facts(console: Console, facts: list[Fact]) -> None:
    """Equal facts once, with their number."""
    width = max(_LEAST_WIDTH, console.width) - 10
    for fact, count in Counter(fact._replace(location=None) for fact in facts).items():
        times = f" × {count}" if count > 1 else ""
        for i, line in enumerate(textwrap.wrap(f"{fact.kind}{times} {fact.text}", width)):
            mark = "      └ " if i == 0 else "          "
            console.print(Text.assemble((mark, "dim"), (line, _STYLES[fact.price])), soft_wrap=True)


def _print_costs(console: Console, costs: list[Cost]) -> None:
    console.print("\n  instructions for 32 threads, on all ways together", style="dim")
    width = max(_LEAST_WIDTH, console.width) - 8
    for cost in costs:
        for i, line in enumerate(textwrap.wrap(_cost_text(cost), width)):
            console.print(Text(("    " if i == 0 else "        ") + line), soft_wrap=True)
    console.print()


def _print_resources(console: Console, resources: Sequence[str]) -> None:
    if not resources:
        return
    console.print("\n  what it takes", style="dim")
    for line in resources:
        _wrapped(console, line, 4, "")
    console.print()


def show_times(console: Console, times: Times) -> None:
    """Of the stages, and of the passes that took longest."""
    passes = longest_first(times.passes)
    shown = in_milliseconds(passes[:_PASSES_SHOWN], 1)
    console.print("  compiled once more, in milliseconds", style="dim")
    width = max(_LEAST_WIDTH, console.width) - 8
    for text in (
        f"stages: {in_milliseconds(times.stages.items())}",
        f"the longest of {len(passes)} passes: {shown}",
    ):
        for i, line in enumerate(textwrap.wrap(text, width, break_on_hyphens=False)):
            console.print(Text(("    " if i == 0 else "        ") + line), soft_wrap=True)
    console.print()


def _cost_text(cost: Cost) -> str:
    place = cost.location
    where = f"loop in line {place.line}" if place else "outside of innermost loops"
    counts = [f"{cost.counts[name]} {name}" for name in CLASSES if cost.counts[name]]
    numbers = f"{sum(cost.counts.values())} ({', '.join(counts)})" if counts else ""
    return f"{where}: {'; '.join(filter(None, (numbers, cost.note)))}"
