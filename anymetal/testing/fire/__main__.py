"""`python -m anymetal.testing.fire`: mutated, random and forbidden texts through the front end.

Examples:
    python -m anymetal.testing.fire --count 2000 --seed 0 --jobs 2
    python -m anymetal.testing.fire --class forbidden --count 500 --shrink
    python -m anymetal.testing.fire --count 100000 --jobs 16 --seconds 560 --json fire.json
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from anymetal.testing.failure import Failure
from anymetal.testing.fire.check import Verdict
from anymetal.testing.fire.generate import CLASSES, generate
from anymetal.testing.fire.results import Results
from anymetal.testing.fire.shrink import shrunk
from anymetal.testing.fire.worker import Worker
from anymetal.testing.workers import check_all

#: Texts that are handed out at once.
BATCH = 25
_MOST_LINE = 200


def main(arguments: list[str] | None = None) -> int:
    """Tries the texts; returns 1 if one failed."""
    options = _parser().parse_args(arguments)
    start = time.monotonic()
    results = run(options)
    seconds = time.monotonic() - start
    for failure in list(results.distinct())[: options.shown]:
        print(report(failure, options.shrink))
    if options.json:
        results.save(Path(options.json))
    print(results.summary())
    print(f"{seconds:.0f} s on the clock, {results.trials / max(seconds, 1e-9):.1f} texts a second")
    for failure in results.failures:
        print(failure.line)
    return 1 if results.failures else 0


def run(options: argparse.Namespace) -> Results:
    """Tries the seeds in as many processes as wanted, until they or the time are used up."""
    results = Results()

    def tell(seed: int, kind: str, verdict: Verdict) -> bool:
        results.add(seed, options.only, kind, verdict)
        if verdict.failed:
            print(results.failures[-1].line, file=sys.stderr, flush=True)
        return bool(len(results.failures) >= options.max_failures)

    workers = [Worker() for _ in range(options.jobs)]
    try:
        seeds = range(options.seed, options.seed + options.count)
        check_all(workers, seeds, BATCH, options.only, options.seconds, tell)
    finally:
        for worker in workers:
            worker.close()
    return results


def report(failure: Failure, shrink: bool) -> str:
    """A failure for people: what went wrong, and the text."""
    trial = generate(failure.seed, failure.only)
    verdict = Verdict(failure.status, failure.detail, failure.key)
    if shrink:
        trial, verdict = shrunk(trial, verdict)
    only = f" --class {failure.only}" if failure.only else ""
    return (
        f"---- {failure.status}, seed {failure.seed}, class {trial.kind}, {trial.name}\n"
        f"{verdict.detail}\n"
        f"to repeat: python -m anymetal.testing.fire --seed {failure.seed} --count 1{only}\n"
        f"{', '.join(trial.notes)}\n-- header\n{_shown(trial.header)}\n-- body\n"
        f"{_shown(trial.body)}\n"
    )


def _shown(text: str) -> str:
    lines = (line[:_MOST_LINE] for line in text.splitlines())
    return "\n".join(ascii(line)[1:-1] if not line.isprintable() else line for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="anymetal.testing.fire",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=500, help="number of texts")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first text")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seconds", type=float, help="stop after so many")
    parser.add_argument("--class", dest="only", default="", choices=["", *CLASSES])
    parser.add_argument("--max-failures", type=int, default=1000, help="stop after so many")
    parser.add_argument("--shown", type=int, default=10, help="failures to print in full")
    parser.add_argument("--shrink", action="store_true", help="make failing texts smaller")
    parser.add_argument("--json", metavar="FILE", help="write the results to a file, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
