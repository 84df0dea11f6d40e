"""`python -m benchmarks [--foreign] [--row NAME]…`: run rows, all of them without `--row`.

Every result is kept in benchmarks/results/. `--write` makes RESULTS.md of what was kept under the
conditions of now, `--plot` a picture of it.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from benchmarks import threads

if TYPE_CHECKING:
    from benchmarks.harness import Result, Row

HERE = Path(__file__).parent
LATENCY = "latency"


#: glibc asks for huge pages, from version 2.35 on; older ones ignore it.
HUGE_PAGES = "glibc.malloc.hugetlb=1"


def main() -> int:
    """Parse the command line and run."""
    options = _parser().parse_args()
    if not (options.list or options.no_run):
        _ask_for_huge_pages()
    threads.prepare(options.threads)
    # No run is to change half-way: a hot kernel gets its version for the launch by itself.
    os.environ.setdefault("ANYMETAL_BRIDGE", "wait")
    os.environ.setdefault("ANYMETAL_SPECIALISE", "eager")
    from benchmarks import foreign, report, results
    from benchmarks import rows as own
    from benchmarks.others import mlx

    mlx.sources = options.mlx_sources
    groups = foreign.all_rows() if options.foreign else own.all_rows()
    rows = {row.name: row for group in groups.values() for row in group}
    members = {name: [row.name for row in group] for name, group in groups.items()}
    single = {name: [name] for name in (*rows, *([] if options.foreign else [LATENCY]))}
    for name in options.row:
        if name not in members and name not in single:
            known = f"Groups: {', '.join(members)}\nRows: {', '.join(single)}"
            print(f"There is no row or group {name!r}.\n{known}", file=sys.stderr)
            return 2
    usual = [name for name in single if name == LATENCY or not rows[name].on_request]
    chosen = [n for name in options.row or usual for n in (members.get(name) or single[name])]
    names = list(dict.fromkeys(chosen))
    if options.list:
        print("\n".join(names))
        return 0

    console = Console()
    conditions = results.conditions(options.threads)
    measured: list[Result] = []
    failed = False
    if not options.no_run:
        measured, failed = _measure(names, rows, options.seconds, conditions, console)
    kept = list(results.load(list(rows), conditions))
    moving = {row.name for row in rows.values() if row.moves}
    if options.no_run or len(measured) > 1:
        shown = measured or [m.result for m in kept]
        summary = (
            report.foreign_summary(shown, moving) if options.foreign else report.summary(shown)
        )
        console.print(report.table(*summary))
    if options.write:
        notes = {row.name: row.note for row in rows.values() if row.note}
        if options.foreign:
            report.write_foreign(HERE / "RESULTS.md", kept, moving, notes)
        else:
            latencies = results.load_table(LATENCY, conditions)
            report.write(HERE / "RESULTS.md", kept, [latencies] if latencies else [], notes)
        console.print(f"Written to {HERE / 'RESULTS.md'}: {len(kept)} of {len(rows)} rows")
    if options.plot:
        picture = HERE / "results" / "ratios.svg"
        report.plot(picture, [m.result for m in kept])
        console.print(f"Drawn to {picture}")
    return 1 if failed else 0


def _ask_for_huge_pages() -> None:
    """Start again such that malloc asks for huge pages, whoever calls it.

    Otherwise chance decides whose arrays have them, and that is worth up to half of a row's time.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if sys.platform == "linux" and HUGE_PAGES not in tunables:
        os.environ["GLIBC_TUNABLES"] = ":".join(filter(None, (tunables, HUGE_PAGES)))
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]])


def _measure(
    names: list[str],
    rows: dict[str, Row],
    seconds: float,
    conditions: dict[str, str],
    console: Console,
) -> tuple[list[Result], bool]:
    """Run rows one after the other; print and keep each as soon as it is known.

    The second result says whether one has failed.
    """
    import torch

    from benchmarks import harness, latency, report, results, rivals
    from benchmarks.others.mlx import NotAvailable

    threads = int(conditions["threads used"])
    torch.set_num_threads(threads)
    rivals.set_threads(threads)
    harness.keep_memory()
    measured, failed = [], False
    for number, name in enumerate(names, 1):
        with console.status(f"{number} of {len(names)}: {name}"):
            if name == LATENCY:
                lines = [figure.line for figure in latency.measure()]
                results.save_table(LATENCY, (latency.TITLE, latency.HEADINGS, lines), conditions)
                table = report.table(latency.TITLE, latency.HEADINGS, lines)
            else:
                date, load = results.now()
                try:
                    result = harness.run(rows[name], seconds)
                except NotAvailable as error:
                    console.print(f"{name}: not available: {escape(str(error))}")
                    continue
                except (AssertionError, RuntimeError) as error:
                    console.print(f"[red]{name} failed:[/red] {escape(str(error))}")
                    failed = True
                    continue
                measured.append(result)
                results.save(results.Measured(result, conditions, date, load))
                table = report.table(*report.section(result))
        console.print(table)
    return measured, failed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--row",
        action="append",
        default=[],
        metavar="NAME",
        help="only this row, or the rows of this group; repeatable",
    )
    parser.add_argument(
        "--foreign", action="store_true", help="kernels that were not written for this compiler"
    )
    parser.add_argument(
        "--mlx-sources",
        type=Path,
        metavar="FOLDER",
        help="a checkout of MLX's repository: with --foreign, rows of kernels that its package "
        "lacks, too",
    )
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    parser.add_argument(
        "--seconds", type=float, default=3, help="time for each row (default: %(default)s)"
    )
    parser.add_argument(
        "--threads", type=int, default=2, help="for everybody but MLX's operations (default: 2)"
    )
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    parser.add_argument("--plot", action="store_true", help="draw results/ratios.svg")
    parser.add_argument("--no-run", action="store_true", help="measure nothing: show what was kept")
    return parser


if __name__ == "__main__":
    sys.exit(main())
