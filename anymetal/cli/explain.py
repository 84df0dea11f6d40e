"""`anymetal explain FILE`: what becomes of the kernels of a program, line by line."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from anymetal.cli.run import program_words, run_to_end
from anymetal.errors import AnyMetalError
from anymetal.explain.classes import CLASSES
from anymetal.explain.costs import Cost
from anymetal.explain.facts import Fact
from anymetal.explain.kernels import Explanation, explain
from anymetal.frontend.dialect import as_written
from anymetal.frontend.unit import part_name
from anymetal.library import metal_library
from anymetal.pipeline.stages import Times, in_milliseconds, longest_first
from anymetal.source import KernelSource, LibrarySource
from anymetal.targets.cpu.code_lookup import follow
from anymetal.targets.cpu.variant import Extent, Variant, variant_for

_STYLES = {"low": "green", "open": "yellow", "high": "red"}
_CONTEXT = 2  #: lines of a header around those of which something is known
_LEAST_WIDTH = 60
_PASSES_SHOWN = 8

Kernels = Collection[tuple[KernelSource, Variant]]


def explain_file(
    path: Path,
    arguments: list[str],
    kernel: str | None,
    threadgroup: Extent,
    pretend_gpu: bool,
    times: bool,
) -> int:
    """Explain the kernels of a Python program, a one-kernel case or a Metal file."""
    console = Console(highlight=False)
    status = 0
    kernels: Kernels
    if path.suffix != ".metal":
        kernels = follow()
        status = run_to_end(program_words(str(path), None, arguments, pretend_gpu))
    elif _is_case(path):
        kernels = _of_case(path)
    else:
        kernels = list(_of_library(path, threadgroup, console))
    wanted = [pair for pair in kernels if kernel in (None, pair[0].name)]
    if not wanted:
        names = ", ".join(dict.fromkeys(source.name for source, _ in kernels))
        console.print(f"nothing to explain; kernels of {path}: {names or 'none'}", markup=False)
        return status or 1
    for source, variant in wanted:
        try:
            explanation = explain(source, variant)
            _print(console, explanation)
            if times:
                _print_times(console, explanation.times)
        except AnyMetalError as error:
            console.print(f"kernel {source.name}: {error}", style="red", markup=False)
            status = 1
    return status


# -- which kernels ------------------------------------------------------------------------


def _is_case(path: Path) -> bool:
    return "// output:" in path.read_text()


def _of_case(path: Path) -> Kernels:
    from anymetal.testing import metal_case

    case, kernels = metal_case.parse(path), follow()
    for dtype in case.dtypes:
        try:
            metal_case.run(case, dtype)
        except AssertionError as error:  # what it compiled can be explained all the same
            print(error, file=sys.stderr)
    return kernels


def _of_library(
    path: Path, threadgroup: Extent, console: Console
) -> Iterator[tuple[KernelSource, Variant]]:
    """Kernels of a Metal file, as for a grid of whole threadgroups."""
    library = metal_library(path)
    for name in library.kernel_names:
        try:
            source = library[name].source()
        except (AnyMetalError, ValueError) as error:
            console.print(f"kernel {name} is left out: {error}", markup=False)
            continue
        grid = (16 * threadgroup[0], 16 * threadgroup[1], threadgroup[2])
        yield source, variant_for(grid, threadgroup)


# -- how it looks -------------------------------------------------------------------------


def _print(console: Console, explanation: Explanation) -> None:
    source = explanation.source
    title = f"kernel {source.name}{source.template_arguments}"
    console.print(Text.assemble((title, "bold"), f"   {explanation.variant.text}"), soft_wrap=True)
    for part, text in source.parts.items():
        if isinstance(source, LibrarySource):  # where other words stand in for Metal's
            text = as_written(text)
        where = part_name(source, part)
        known: dict[int, list[Fact]] = {}
        for fact in explanation.facts:
            if fact.location is not None and fact.location.where == where:
                known.setdefault(fact.location.line, []).append(fact)
        _print_lines(console, text.split("\n"), known, whole=part == "source")
    lost = [fact for fact in explanation.facts if fact.location is None]
    if lost:
        console.print("\n  of several lines, or moved by LLVM", style="dim")
        _print_facts(console, lost)
    _print_costs(console, explanation.costs)


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


def _print_times(console: Console, times: Times) -> None:
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
