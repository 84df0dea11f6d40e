"""`python -m anymetal.testing.mutants`: does the sanitizer find mistakes that somebody might make?

Examples:
    python -m anymetal.testing.mutants --count 100 --seed 1
    python -m anymetal.testing.mutants tests/kernels/threadgroup --per-kernel 20 --seconds 300
    python -m anymetal.testing.mutants examples/threadgroup_reduction.py
"""

from __future__ import annotations

import argparse
import functools
import random
import runpy
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from anymetal.targets.base import Launch
from anymetal.testing.mutants.recording import cases, launch_of, launches_of
from anymetal.testing.mutants.run import Catch, sample, try_mutants

#: The part of the harmful mistakes that the sanitizer has to find.
WANTED = 0.95


def main(arguments: list[str] | None = None) -> int:
    """Tries mutants, prints the table; returns 1 if too many were missed, or none was harmful."""
    parser = argparse.ArgumentParser(prog="anymetal.testing.mutants")
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("tests/kernels")],
                        help="folders of kernel cases, programs that launch kernels")  # fmt: skip
    parser.add_argument("--count", type=int, default=1000, help="mutants to try at most")
    parser.add_argument("--per-kernel", type=int, default=6, help="of one kernel at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after that")
    options = parser.parse_args(arguments)
    catch, end = Catch(), time.monotonic() + options.seconds
    launches = _launches(options.paths, options.seed)
    for launch, chosen in sample(launches, options.seed, options.per_kernel):
        left = options.count - catch.outcomes.total()
        if left <= 0 or time.monotonic() > end:
            break
        try_mutants(launch, chosen[:left], catch)
    print(catch.table())
    for missed in catch.missed:
        print(f"missed: {missed}")
    harmful = catch.count("caught") + catch.count("missed")
    print(f"{catch.outcomes.total()} mutants, {harmful} do harm, caught {100 * catch.rate:.1f} %")
    return 0 if harmful and catch.rate >= WANTED else 1


def _launches(paths: list[Path], seed: int) -> Iterator[Launch]:
    """Of all cases in the folders, in random order, and of all programs."""
    for path in paths:
        if path.is_dir():
            found = cases(path)
            for case in random.Random(seed).sample(found, len(found)):
                yield launch_of(case)
        else:
            yield from launches_of(
                functools.partial(runpy.run_path, str(path), run_name="__main__")
            )


if __name__ == "__main__":
    sys.exit(main())
