"""`python -m benchmarks.paths`: measure when each path of a routine wins, and draw it.

Prints the times. `--write` keeps them in docs/paths/*.json and draws docs/paths/*.svg, which the
pages show; `--draw` draws what is kept. All of it takes three to four minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping

from rich.console import Console
from rich.table import Table

from benchmarks import threads
from benchmarks.paths import kept
from benchmarks.paths.kept import Picture, Times


def main() -> int:
    """Parse the command line, measure and draw."""
    options = _parser().parse_args()
    threads.prepare(options.threads)
    os.environ.setdefault("ANYMETAL_BRIDGE", "wait")
    if not options.draw and (status := _measure(options)):
        return status
    if options.write or options.draw:
        _draw()
    return 0


def _measure(options: argparse.Namespace) -> int:
    import torch

    from anymetal.tune.device import device
    from benchmarks import results
    from benchmarks.harness import keep_memory
    from benchmarks.paths.subjects import SUBJECTS

    known = [subject.name for subject in SUBJECTS]
    if unknown := set(options.only) - set(known):
        print(f"There is no {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    torch.set_num_threads(options.threads)
    keep_memory()
    console = Console()
    conditions = results.conditions(options.threads)
    for subject in SUBJECTS:
        if options.only and subject.name not in options.only:
            continue
        panels = []
        for panel in subject.panels:
            lines: dict[str, dict[int, float]] = {}
            for size in panel.sizes:
                with console.status(f"{subject.name}: {panel.title}, {panel.axis} = {size}"):
                    taken = measured(panel.contenders(size), options.seconds)
                for name, seconds in taken.items():
                    lines.setdefault(name, {})[size] = seconds
            panels.append(Times(panel.title, panel.axis, lines))
            console.print(_table(subject.name, panels[-1]))
        if options.write:
            date = time.strftime("%Y-%m-%d")
            kept.save(Picture(subject.name, panels, device().name, conditions, date))
    return 0


def measured(contenders: Mapping[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """Seconds by name, of contenders in turn; all run once before."""
    from anymetal.tune.measure import race, relative_times

    for run in contenders.values():
        run()
    return relative_times(race(contenders, seconds, time.perf_counter))


def _draw() -> None:
    from benchmarks.paths import picture

    names = sorted(path.stem for path in kept.FOLDER.glob("*.json"))
    pictures = [found for name in names if (found := kept.load(name))]
    for one in pictures:
        print(picture.draw(one))
    if pictures:
        speed = [one for one in pictures if one.name != "extended_precision"]  # there is more to it
        print(picture.draw_overview(kept.OVERVIEW, speed))


def _table(name: str, panel: Times) -> Table:
    from anymetal.timing import duration

    table = Table(title=f"{name}: {panel.title}", title_justify="left", box=None, pad_edge=False)
    sizes = sorted({size for times in panel.lines.values() for size in times})
    table.add_column(panel.axis)
    for size in sizes:
        table.add_column(str(size), justify="right")
    for line, times in panel.lines.items():
        table.add_row(line, *(duration(times[s]) if s in times else "" for s in sizes))
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paths", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], metavar="SUBJECT", help="only this; repeatable"
    )
    parser.add_argument("--write", action="store_true", help="keep the times and draw them")
    parser.add_argument("--draw", action="store_true", help="measure nothing: draw what is kept")
    parser.add_argument(
        "--seconds", type=float, default=1.5, help="for each point (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=2, help="for all but MLX (default: 2)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
