"""`anymetal spot`: small pairs of kernels that teach what costs what on this machine."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import mlx.core as mx
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anymetal.cli.spot import page
from anymetal.cli.spot.pairs import PAIRS, Pair
from anymetal.timing import Timing, duration, interleaved
from anymetal.tune.device import device

_PAGE_WIDTH = 100  #: columns of what goes into a page
#: Ratios between these are called equal.
_EQUAL = (0.95, 1.05)


def spot(
    only: Sequence[str],
    seconds: float,
    plot: Path | None,
    pairs: Sequence[Callable[[], Pair]] = PAIRS,
    console: Console | None = None,
    write: Path | None = None,
) -> int:
    """Check and time the pairs and print a table; status 1 if ways of a pair disagree."""
    if write is not None:
        if why := page.problem(write):
            raise typer.BadParameter(f"--write {write}: {why}")
        console = Console(record=True, width=_PAGE_WIDTH, highlight=False)
    console = console or Console(highlight=False)
    save = _plotter(plot)
    console.print(f"[bold]{device().name}[/]", soft_wrap=True)
    status, results = 0, []
    for make in _wanted(only, pairs):
        pair = make()
        console.print()
        if wrong := disagreeing(pair):
            console.print(f"[bold]{pair.name}[/]: [red]{', '.join(wrong)} gives another result[/]")
            status = 1
            continue
        timings = interleaved({way.name: way.run for way in pair.ways}, seconds)
        console.print(_table(pair, timings))
        console.print(f"[dim]{pair.lesson}[/]")
        results.append((pair, timings))
    if write is not None:
        page.write(write, shlex.join(["anymetal", *sys.argv[1:]]), console.export_text())
    if save is not None:
        save(results)
        console.print(f"\n{plot}", soft_wrap=True)
    return status


def disagreeing(pair: Pair) -> list[str]:
    """The ways whose result is not that of the first one, to the last bit of float32's rounding."""
    first = pair.ways[0].run()
    return [
        way.name
        for way in pair.ways[1:]
        if not mx.allclose(way.run(), first, rtol=1e-6, atol=1e-6).item()
    ]


def _wanted(names: Sequence[str], pairs: Sequence[Callable[[], Pair]]) -> list[Callable[[], Pair]]:
    known = [make.__name__ for make in pairs]
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no pair {name!r}; there are: {', '.join(known)}")
    return [make for make in pairs if not names or make.__name__ in names]


def _table(pair: Pair, timings: Sequence[Timing]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=28)
    table.add_column(justify="right", min_width=8)
    table.add_column(justify="right")
    table.add_row(Text(pair.name, "bold"))
    for timing in timings:
        ratio = timing.over(timings[0])
        style = "" if _EQUAL[0] <= ratio <= _EQUAL[1] else "red" if ratio > 1 else "green"
        text = "" if timing is timings[0] else f"{ratio:.2f} × as long"
        table.add_row(Text(f"  {timing.name}"), duration(timing.median), Text(text, style))
    return table


def _plotter(file: Path | None) -> Callable[[list[tuple[Pair, list[Timing]]]], None] | None:
    """Who draws the picture; asked for before anything is measured, as it may be missing."""
    if file is None:
        return None
    if find_spec("matplotlib") is None:
        raise typer.BadParameter("--plot needs matplotlib: pip install matplotlib")
    from anymetal.cli.spot import plot

    if file.suffix[1:] not in plot.formats() or not file.parent.is_dir():
        raise typer.BadParameter(
            f"--plot {file}: it must be a file in a folder that exists, with one of the endings "
            f"{', '.join(plot.formats())}"
        )
    return lambda results: plot.save(results, device().name, file)
