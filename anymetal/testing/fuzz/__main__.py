"""`python -m anymetal.testing.fuzz`: random kernels in each build, against the oracle.

Example:
    python -m anymetal.testing.fuzz --count 2000 --seed 0 --jobs 2
    python -m anymetal.testing.fuzz --count 2000 --passes-off --bisect
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from multiprocessing.connection import wait
from pathlib import Path

from anymetal.testing.fuzz.check import SHORT_TIME_LIMIT, TIME_LIMIT, Checker, Verdict, case_of
from anymetal.testing.fuzz.execute import DEFAULT_WIDTHS
from anymetal.testing.fuzz.report import report
from anymetal.testing.fuzz.shrink import shrink
from anymetal.testing.fuzz.tree import Case
from anymetal.testing.passes_off import culprit

_CLEAN_EVERY = 100


def main(arguments: list[str] | None = None) -> int:
    """Runs the cases; returns 1 if one failed."""
    options = _parser().parse_args(arguments)
    widths = tuple(options.width)
    start = time.monotonic()
    counts, failures = run(
        range(options.seed, options.seed + options.count),
        widths,
        options.jobs,
        options.max_failures,
        progress=sys.stderr.isatty(),
        draw=options.passes_off,
    )
    seconds = time.monotonic() - start
    summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    print(f"{sum(counts.values())} cases, gang widths {widths}: {summary}; {seconds:.0f} s")
    for seed, verdict in failures:
        case = case_of(seed, options.passes_off)
        found = bisected(case, verdict, widths) if options.bisect else ""
        if options.shrink:
            case, verdict = minimise(case, verdict, widths)
        text = report(case, verdict) + found
        print(text)
        if options.save:
            Path(options.save).mkdir(parents=True, exist_ok=True)
            Path(options.save, f"seed_{seed}.txt").write_text(text)
    return 1 if failures else 0


def run(
    seeds: range,
    widths: tuple[int, ...],
    jobs: int = 1,
    max_failures: int = 10,
    progress: bool = False,
    draw: bool = False,
) -> tuple[Counter[str], list[tuple[int, Verdict]]]:
    """Checks all seeds, or stops at that many failures; counts verdicts by status. With `draw`,
    each case does without some passes."""
    counts: Counter[str] = Counter()
    failures: list[tuple[int, Verdict]] = []
    left = iter(seeds)
    checkers = [Checker(widths, draw=draw) for _ in range(jobs)]
    busy: dict[Checker, tuple[int, float]] = {}
    try:
        idle = list(checkers)
        while True:
            while idle and len(failures) < max_failures and (seed := next(left, None)) is not None:
                checker = idle.pop()
                checker.submit(seed)
                busy[checker] = seed, time.monotonic() + TIME_LIMIT
            if not busy:
                return counts, failures
            wait([checker.pipe for checker in busy], timeout=1)
            for checker in list(busy):
                seed, deadline = busy[checker]
                if not checker.pipe.poll() and time.monotonic() < deadline:
                    continue
                verdict = checker.result(wait=False)
                del busy[checker]
                idle.append(checker)
                counts[verdict.status] += 1
                if verdict.failed:
                    failures.append((seed, verdict))
                done = sum(counts.values())
                if done % _CLEAN_EVERY == 0:
                    checker.forget_compiled()
                if progress:
                    print(f"\r{done}/{len(seeds)}, {len(failures)} failed", end="", file=sys.stderr)
    finally:
        for checker in checkers:
            checker.__exit__()


def minimise(
    case: Case, verdict: Verdict, widths: tuple[int, ...], tries: int = 400
) -> tuple[Case, Verdict]:
    """A smaller case that fails in the same way, and its verdict."""
    with Checker(widths, _patience(verdict)) as checker:
        last = verdict

        def fails(candidate: Case) -> bool:
            nonlocal last
            now = checker(candidate)
            same = (now.status, now.key) == (verdict.status, verdict.key)
            if same:
                last = now
            return same

        return shrink(case, fails, tries), last


def bisected(case: Case, verdict: Verdict, widths: tuple[int, ...]) -> str:
    """Which pass of the compiler a failure comes from, in one line."""
    with Checker(widths, _patience(verdict)) as checker:
        found = culprit(lambda off: checker(replace(case, off=off)).failed, case.off)
    return f"\nbisected: seed {case.seed}: {found}\n"


def _patience(verdict: Verdict) -> float:
    """Seconds for trying again what has failed so."""
    return SHORT_TIME_LIMIT if verdict.status == "hang" else TIME_LIMIT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="anymetal.testing.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="number of cases")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--width",
        type=int,
        nargs="+",
        default=list(DEFAULT_WIDTHS),
        help="gang widths to build for; 1 is scalar code",
    )
    parser.add_argument("--max-failures", type=int, default=10, help="stop after so many")
    parser.add_argument("--passes-off", action="store_true", help="compile without random passes")
    parser.add_argument("--bisect", action="store_true", help="name the pass of each failure")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    parser.add_argument("--save", metavar="DIRECTORY", help="write each report to a file, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
