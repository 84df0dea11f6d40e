"""`python -m benchmarks [--row NAME]…`: run the benchmark; without `--row` all of it.

A run of everything writes benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

RESULTS = Path(__file__).parent / "RESULTS.md"
LATENCY = "latency"
_MODULES = ("elementwise", "matrices", "simdgroup", "sampling")


def main() -> int:
    """Parse the command line and run."""
    options = _parser().parse_args()
    # Before anything starts its threads.
    for variable in ("ANYMETAL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(options.threads)
    os.environ.setdefault("ANYMETAL_BRIDGE", "wait")  # no run is to change half-way
    import torch

    from benchmarks import harness

    torch.set_num_threads(options.threads)
    rows = [row for m in _MODULES for row in importlib.import_module(f"benchmarks.{m}").ROWS]
    known = [row.name for row in rows] + [LATENCY]
    for name in options.row:
        if name not in known:
            print(f"There is no row {name!r}. Rows: {', '.join(known)}", file=sys.stderr)
            return 2
    wanted = options.row or known
    console = Console()
    conditions = harness.conditions(options.threads)
    results = harness.run([row for row in rows if row.name in wanted], options.seconds, console)
    sections = [(result.title, harness.HEADINGS, list(result.lines())) for result in results]
    if LATENCY in wanted:
        from benchmarks import latency

        with console.status(LATENCY):
            lines = [figure.line for figure in latency.measure()]
        sections.append((latency.TITLE, latency.HEADINGS, lines))
        console.print(harness.table(*sections[-1]))
    if not options.row:
        tables = [harness.markdown(*section) for section in sections]
        RESULTS.write_text("\n".join([_heading(conditions), *tables]))
        console.print(f"Written to {RESULTS}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--row", action="append", default=[], metavar="NAME", help="only this row; repeatable"
    )
    parser.add_argument(
        "--seconds", type=float, default=5, help="time for each row (default: %(default)s)"
    )
    parser.add_argument(
        "--threads", type=int, default=2, help="for AnyMetal, PyTorch and NumPy (default: 2)"
    )
    return parser


def _heading(conditions: Sequence[tuple[str, str]]) -> str:
    command = shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]])
    return "\n".join(
        [
            "# Results of the benchmark\n",
            f"Written by `{command}` (`make bench`) on {time.strftime('%Y-%m-%d')}. The contenders",
            "of a row run in turn; times are medians, and a ratio is the median of the ratios of",
            "the rounds: above 1 means slower than AnyMetal. PyTorch, NumPy and MLX allocate their",
            "results as AnyMetal does, unless the name says `out=`.\n",
            "| | |",
            "|---|---|",
            *(f"| {name} | {value} |" for name, value in conditions),
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
