"""`anymetal tune`: measures which path of each routine is the fastest here, and keeps that."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as Grid
from rich.text import Text

from anymetal.timing import duration
from anymetal.tune import tables
from anymetal.tune.device import device
from anymetal.tune.operations import Operation, operations
from anymetal.tune.tables import Entry, Table
from anymetal.tune.tuning import Tuning

_BUSY = 0.7  #: load, from which on measurements are doubtful
_INTERRUPTED = 130  #: as shells report a program that Ctrl-C ended


def tune(
    only: Sequence[str],
    quick: bool,
    fresh: bool,
    among: Sequence[Operation] | None = None,
    console: Console | None = None,
) -> int:
    """Measure what is not measured yet, and print who won where.

    Status 1 if a path gave a wrong result anywhere; 130 after Ctrl-C, with all measured so far
    kept.
    """
    console = console or Console(highlight=False)
    tuning = Tuning(device(), _wanted(only, operations() if among is None else among), quick, fresh)
    console.print(f"[bold]{tuning.table.device.name}[/]")
    if (load := os.getloadavg()[0]) > _BUSY:
        console.print(
            f"[yellow]Other programs keep this machine busy[/] (load {load:.1f}): close results "
            "are uncertain, and so is who wins where memory is the limit."
        )
    status = 0
    if not tuning.left:
        console.print("Everything is measured already; --fresh measures again.")
    elif not _measured(tuning, console):
        left = f"anymetal tune{' --quick' if quick else ''} continues with the rest"
        console.print(f"[yellow]Interrupted.[/] What is measured is kept; {left}.")
        status = _INTERRUPTED
    for operation in tuning.operations:
        _print(console, tuning.table, operation)
    wrong = sum(len(e.wrong) for o in tuning.operations for e in tuning.table.of(o.name))
    if wrong:
        console.print(f"[red]{wrong} results were wrong[/]: these paths are not taken there.")
    if tuning.table.entries:
        console.print(f"Kept in {tables.file_of(tuning.table.device)}", soft_wrap=True)
    return status or int(wrong > 0)


def import_modules(names: Sequence[str]) -> None:
    """Import modules that register operations; those in the current folder are found, too."""
    sys.path.insert(0, "")
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise typer.BadParameter(f"{name} cannot be imported: {error}") from error


def _wanted(names: Sequence[str], known: Sequence[Operation]) -> list[Operation]:
    unknown = [name for name in names if name not in [operation.name for operation in known]]
    if unknown:
        there = ", ".join(operation.name for operation in known)
        raise typer.BadParameter(f"there is no operation {unknown[0]!r}; there are: {there}")
    return [operation for operation in known if not names or operation.name in names]


def _measured(tuning: Tuning, console: Console) -> bool:
    """Whether it came to its end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    left, total = tuning.left, len(tuning.steps)
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=total, completed=total - len(left))
        try:
            for step in left:
                progress.update(bar, description=f"{step.operation.name} {step.case.name}")
                tuning.measure(step)
                progress.advance(bar)
        except KeyboardInterrupt:
            return False
    return True


def _print(console: Console, table: Table, operation: Operation) -> None:
    order = [case.name for case in operation.cases]
    entries = sorted(table.of(operation.name), key=lambda entry: order.index(entry.case))
    if not entries:
        return
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for title in (f"[bold not dim]{operation.name}[/]", "winner", "", "others"):
        grid.add_column(title)
    for entry in entries:
        grid.add_row(entry.case, *_row(table, entry))
    console.print()
    console.print(grid)
    if losers := table.losers(operation.name):
        console.print(f"[dim]never the fastest: {', '.join(losers)}[/]")


def _row(table: Table, entry: Entry) -> tuple[Text, str, Text]:
    wrong = [Text(f"{path} is wrong: {what}", "red") for path, what in entry.wrong.items()]
    winner = table.winner(entry)
    if winner is None:
        return Text("none", "red"), "", Text("; ").join(wrong)
    best = entry.seconds[winner]
    others = [
        Text(f"{path} {entry.seconds[path] / best:.2f}×")
        for path in entry.order()
        if path != winner
    ]
    return Text(winner, "green"), duration(best), Text(", ").join([*others, *wrong])
