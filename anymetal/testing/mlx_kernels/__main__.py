"""The command: `python -m anymetal.testing.mlx_kernels --help`."""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from anymetal.testing.mlx_kernels import checking, compiling, page
from anymetal.testing.mlx_kernels.state import Log
from anymetal.testing.mlx_kernels.units import Unit, find, library, missing
from anymetal.testing.mlx_kernels.workers import outcomes

#: Of processor time, that a process may take for one kernel.
_MOST_SECONDS = 400.0


class _Phase(NamedTuple):
    """What is done to kernels."""

    name: str
    serve: Callable[..., None]
    lost: Callable[..., Any]  #: the record of a kernel whose process has ended without one


#: What becomes of kernels if all is well.
_GOOD = frozenset(("compiled", "right", "unused", "limit"))
_COMPILE = _Phase("compiled", compiling.serve, compiling.Record)
_CHECK = _Phase("checked", checking.serve, checking.Verdict)


def main(argv: list[str] | None = None) -> int:
    """The exit status: 0 if nothing is left and all is well, 1 if not, 3 if the time was over."""
    options = _options(argv)
    if gone := missing(options.source):
        print(f"no row in the table of units: {', '.join(map(repr, gone))}", file=sys.stderr)
    status = _run(_CHECK if options.check else _COMPILE, options)
    if options.page:
        page.write(options.state, options.source)
    return status


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m anymetal.testing.mlx_kernels")
    parser.add_argument("--source", type=Path, required=True, help="a checkout of MLX")
    parser.add_argument("--state", type=Path, required=True, help="folder for what is done")
    parser.add_argument("--check", action="store_true", help="run kernels, and compile no others")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1e9, help="when to stop")
    parser.add_argument("--units", default="", help="names, with commas between; default: all")
    parser.add_argument("--sample", type=int, default=0, help="so many kernels of each unit only")
    parser.add_argument("--draw", type=int, default=0, help="so many kernels of all, at random")
    parser.add_argument("--seed", type=int, default=0, help="what decides which are drawn")
    parser.add_argument("--shard", default="0/1", help="i/n: every n-th kernel, from the i-th on")
    parser.add_argument("--page", action="store_true", help="write docs/mlx-kernels.md")
    return parser.parse_args(argv)


def _run(phase: _Phase, options: argparse.Namespace) -> int:
    start, count, peak = time.monotonic(), 0, 0
    log = Log(options.state / f"{phase.name}.jsonl")
    done = {(one["unit"], one["kernel"]) for one in log}
    work = [task for task in _tasks(options) if task not in done]
    print(f"{len(done)} kernels {phase.name}, {len(work)} to go", flush=True)
    until = start + options.seconds
    arguments = (str(options.source.resolve()),)
    try:
        for task, answer, reason in outcomes(
            phase.serve, arguments, work, options.jobs, until, _MOST_SECONDS
        ):
            found = answer or phase.lost(*task, outcome="failed", reason=reason)
            log.add(found._asdict())
            count, peak = count + 1, max(peak, found.peak)
            if found.outcome not in _GOOD:
                reason = found.reason[:300]
                print(f"{found.unit} {found.kernel}: {found.outcome}: {reason}", flush=True)
            if count % 200 == 0:
                print(f"{count} in {time.monotonic() - start:.0f} s, now {found.unit}", flush=True)
    finally:  # Ctrl-C is as good an end as any
        if count:
            run = {"phase": phase.name, "kernels": count, "jobs": options.jobs, "peak": peak}
            run["seconds"] = round(time.monotonic() - start, 1)
            Log(options.state / "runs.jsonl").add(run | page.circumstances())
    left = len(work) - count
    bad = [one for one in log if one["outcome"] not in _GOOD]
    print(f"{left} left; {len(bad)} not as they should be so far")
    return 3 if left else int(bool(bad))


def _tasks(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Units and kernels, in order."""
    first, count = map(int, options.shard.split("/"))
    tasks = _drawn(options) if options.draw else _by_unit(options)
    return itertools.islice(tasks, first, None, count)


def _by_unit(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    counts = Log(options.state / "units.jsonl")
    known = {one["unit"] for one in counts}
    for unit in find([name for name in options.units.split(",") if name]):
        names = _kernels(options, unit)
        if names and unit.name not in known:
            counts.add({"unit": unit.name, "kernels": len(names)})
        for kernel in _sample(names, options.sample):
            yield unit.name, kernel


def _drawn(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Kernels in an order that the seed decides: those that a smaller number draws come first."""
    tasks = list(_by_unit(options))
    random.Random(options.seed).shuffle(tasks)
    drawn = tasks[: options.draw]
    log = Log(options.state / "drawn.jsonl")
    known = {(one["seed"], one["unit"], one["kernel"]) for one in log}
    for unit, kernel in drawn:
        if (options.seed, unit, kernel) not in known:
            log.add({"seed": options.seed, "unit": unit, "kernel": kernel})
    return drawn


def _kernels(options: argparse.Namespace, unit: Unit) -> list[str]:
    """Names of the kernels of a unit; none if it cannot be read."""
    try:
        return list(library(options.source, unit).kernels)
    except Exception as error:  # one unit must not keep the others from being tried
        print(f"{unit.short}: {error}", file=sys.stderr, flush=True)
        return []


def _sample(names: list[str], most: int) -> list[str]:
    """So many of them, from everywhere; 0: all."""
    if not most or len(names) <= most:
        return names
    step = len(names) / most
    return [names[int((i + 0.5) * step)] for i in range(most)]


if __name__ == "__main__":
    sys.exit(main())
