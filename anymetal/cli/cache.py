"""`anymetal cache list | clear | verify`: the disk cache."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from anymetal.runtime import cache_folder, disk_cache

app = typer.Typer(help="The disk cache of compiled kernels.", no_args_is_help=True)
_SPANS = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))


@app.command("list")
def list_() -> None:
    """Show what is in the cache, the last used first."""
    _explain()
    console = Console(highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for title in ("size", "made", "used"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("what")
    now = time.time()
    found = [*disk_cache.entries(), *disk_cache.tables()]
    rows = [(e.used, e.size, e.made, e.name or e.path.suffix.lstrip(".")) for e in found]
    for used, size, made, name in sorted(rows, reverse=True):
        table.add_row(_bytes(size), _span(now - made), _span(now - used), name)
    if rows:
        console.print(table)
    limit = disk_cache.limit()
    console.print(
        f"{len(rows)} files, {_bytes(disk_cache.size())} of at most {_bytes(limit)} "
        f"(ANYMETAL_CACHE_LIMIT), in {cache_folder.place().path}",
        soft_wrap=True,
    )


@app.command()
def clear(
    measured: Annotated[
        bool, typer.Option("--measured", help="Also what `anymetal tune` has measured.")
    ] = False,
) -> None:
    """Remove everything. Running programs keep what they have loaded."""
    _explain()
    size = disk_cache.size()
    disk_cache.clear(measured)
    print(f"removed {_bytes(size - disk_cache.size())} from {cache_folder.place().path}")


@app.command()
def verify() -> None:
    """Read everything, and remove what is damaged or left behind; status 1 if something was."""
    _explain()
    verdict = disk_cache.verify()
    for what in verdict.broken:
        print(f"removed {what}")
    print(
        f"{verdict.good} files are good, {len(verdict.broken)} were damaged, "
        f"{verdict.leftovers} were left over"
    )
    raise typer.Exit(int(bool(verdict.broken)))


def _explain() -> None:
    """Why the cache is not used, or only read."""
    if reason := cache_folder.place().reason:
        print(f"{reason} (see `anymetal doctor`)")


def _bytes(count: float) -> str:
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} GiB"


def _span(seconds: float) -> str:
    """How long ago, in the largest unit that counts."""
    unit, length = next((u for u in _SPANS if seconds >= u[1]), _SPANS[-1])
    return f"{max(0, seconds) / length:.0f} {unit}"
