"""Results for people: tables on the screen, RESULTS.md, plots."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp, inf, log
from pathlib import Path

from rich import box
from rich.markup import escape
from rich.table import Table

from anymetal.timing import Timing, duration
from benchmarks.harness import COMPOSED, CXX, FLOORS, LIBRARY, MLX, OURS, RIVALS, TORCH, Result
from benchmarks.results import Measured

FOREIGN = "# Foreign kernels"  #: the heading of the second part of RESULTS.md
HEADINGS = ("", "what", "median", "quartiles", "times ours", "rate")
Section = tuple[str, Sequence[str], Sequence[Sequence[str]]]  #: title, headings, lines


def section(result: Result) -> Section:
    """One row in detail: a line for each contender."""
    rounds = len(result.ours.seconds)
    return f"{result.name}: {result.title} ({rounds} rounds)", HEADINGS, list(_lines(result))


def summary(results: Sequence[Result]) -> Section:
    """A line for each row: our time, the floor's share of it, and all rivals beside it."""
    lines: list[Sequence[str]] = []
    for result in results:
        ratios = [_ratio(result.ratio(who)) for who in RIVALS]
        lines.append((result.name, duration(result.ours.median), _ratio(floor(result)), *ratios))
    means = [geometric_mean(ratio(results, who)) for who in RIVALS]
    floors = geometric_mean(value for r in results if (value := floor(r)) is not None)
    lines.append(("geometric mean", "", _ratio(floors), *map(_ratio, means)))
    title = "Times of others, in times of AnyMetal's (above 1: AnyMetal is faster)"
    return title, ("row", OURS, "floor", *RIVALS), lines


def foreign_summary(results: Sequence[Result], moving: Collection[str]) -> Section:
    """The same for foreign kernels, worst first, whose rivals are others; `moving` names those of
    the rows that only move memory, whose floors have a mean of their own."""
    rivals = (TORCH, COMPOSED, MLX, LIBRARY)
    lines: list[Sequence[str]] = []
    for result in sorted(results, key=_beside_pytorch):
        ratios = [_ratio(result.ratio(who)) for who in rivals]
        lines.append((result.name, duration(result.ours.median), _ratio(floor(result)), *ratios))
    means = [_ratio(geometric_mean(ratio(results, who))) for who in rivals]
    moved = (value for r in results if r.name in moving and (value := floor(r)) is not None)
    floors = geometric_mean(value for r in results if (value := floor(r)) is not None)
    lines.append(("geometric mean", "", _ratio(floors), *means))
    blanks = [""] * len(rivals)
    lines.append(("of rows that only move memory", "", _ratio(geometric_mean(moved)), *blanks))
    title = "Foreign kernels: times of others, in times of AnyMetal's"
    return title, ("row", OURS, "floor", *rivals), lines


def _beside_pytorch(result: Result) -> float:
    """The ratio of PyTorch, in one operation or several; MLX's where PyTorch has nothing."""
    ratios = map(result.ratio, (TORCH, COMPOSED, MLX))
    return next((one for one in ratios if one is not None), inf)


def floor(result: Result) -> float | None:
    """The time below which no program can do the row's job, as a share of ours."""
    return max((r for name in FLOORS if (r := result.ratio(name)) is not None), default=None)


def ratio(results: Iterable[Result], who: str) -> Iterator[float]:
    """The ratios of one rival, of the rows in which it takes part."""
    return (value for r in results if (value := r.ratio(who)) is not None)


def geometric_mean(values: Iterable[float]) -> float | None:
    """Of ratios; None if there are none."""
    logarithms = [log(value) for value in values]
    return exp(sum(logarithms) / len(logarithms)) if logarithms else None


def table(title: str, headings: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    """A table for the screen; names on the left, figures on the right."""
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    texts = 2 if headings[1:2] == ("what",) else 1
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="left" if number < texts else "right", no_wrap=number != 1)
    for line in lines:
        made.add_row(
            *map(escape, line), style="bold" if line[0] in (OURS, "geometric mean") else ""
        )
    return made


def markdown(title: str, headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """The same table for a file."""
    rows = ["| " + " | ".join(line) + " |" for line in (headings, *lines)]
    texts = 2 if headings[1:2] == ("what",) else 1
    rule = "|" + "---|" * texts + "---:|" * (len(headings) - texts)
    return "\n".join([f"## {title}\n", rows[0], rule, *rows[1:], ""])


def write(
    path: Path, measured: Sequence[Measured], more: Sequence[Section], notes: Mapping[str, str]
) -> None:
    """The first part of RESULTS.md, of rows that were measured under the same conditions; `notes`
    are of rows. What the file has of foreign kernels stays."""
    results = [m.result for m in measured]
    tables = [summary(results), *map(section, results)] if results else []
    _, found, foreign = _parts(path)
    text = _page("# Results of the benchmark", measured, [*tables, *more], notes)
    path.write_text(text + found + foreign)


def write_foreign(
    path: Path, measured: Sequence[Measured], moving: Collection[str], notes: Mapping[str, str]
) -> None:
    """The second part of RESULTS.md; the first stays. `moving` as in `foreign_summary`."""
    results = [m.result for m in measured]
    tables = [foreign_summary(results, moving), *map(section, results)] if results else []
    first, _, _ = _parts(path)
    path.write_text(first + "\n" + _page(FOREIGN, measured, tables, notes))


def _parts(path: Path) -> tuple[str, str, str]:
    text = path.read_text() if path.exists() else ""
    first, found, foreign = text.partition(f"\n{FOREIGN}\n")
    return first, found, foreign


def _page(
    title: str, measured: Sequence[Measured], parts: Sequence[Section], notes: Mapping[str, str]
) -> str:
    said = [f"* **{name}**: {note}" for name, note in notes.items()]
    ending = ["\n".join(["## Notes on rows", "", *said, ""])] if said else []
    tables = [markdown(*part) for part in parts]
    return "\n".join([_heading(title, measured), *tables, *ending])


def plot(path: Path, results: Sequence[Result]) -> None:
    """Bars of how many times as long as ours the C++ rival and PyTorch take, worst first."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ordered = sorted(results, key=lambda r: r.ratio(CXX) or 0.0)
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.32 * len(ordered)), layout="constrained")
    for offset, who in ((0.2, CXX), (-0.2, TORCH)):
        places = [n + offset for n, r in enumerate(ordered) if r.ratio(who)]
        values = [value for r in ordered if (value := r.ratio(who))]
        axes.barh(places, values, height=0.38, label=who)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(ordered)), [r.name for r in ordered])
    axes.set_xlabel("time in times of AnyMetal's (right of 1: AnyMetal is faster)")
    axes.legend()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


def _lines(result: Result) -> Iterator[Sequence[str]]:
    for timing in result.timings:
        low, high = timing.spread
        times = "" if timing is result.ours else _ratio(result.ratio(timing.name))
        what = result.whats.get(timing.name, "")
        spread = f"{duration(low)} to {duration(high)}"
        yield timing.name, what, duration(timing.median), spread, times, _rate(result, timing)


def _rate(result: Result, timing: Timing) -> str:
    if timing.name == FLOORS[1] or (result.flops and timing.name != FLOORS[0]):
        return f"{result.flops / timing.median / 1e9:.1f} GFLOP/s"
    return f"{result.bytes / timing.median / 1e9:.1f} GB/s" if result.bytes else ""


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _heading(title: str, measured: Sequence[Measured]) -> str:
    given = ["FOLDER" if option == "--mlx-sources" else one for option, one in pairwise(sys.argv)]
    command = shlex.join(["python", "-m", "benchmarks", *given])
    lines = [
        f"{title}\n",
        f"Written by `{command}`. The contenders of a row run in turn; times are medians, a ratio",
        "is the median of the ratios of the rounds. What each column means, and how memory is",
        "treated, is in [README.md](README.md).\n",
    ]
    if measured:
        lines += ["| | |", "|---|---|"]
        lines += [f"| {name} | {value} |" for name, value in measured[0].conditions.items()]
        dates = sorted(m.date for m in measured)
        lines.append(f"| measured | {dates[0]} to {dates[-1]} |")
        heaviest = max(measured, key=lambda m: float(m.load.split(",")[0]))
        lines.append(f"| highest load before a row (1, 5, 15 min) | {heaviest.load} |")
    return "\n".join([*lines, ""])
