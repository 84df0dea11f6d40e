"""`python -m anymetal.testing.lockstep`: random kernels in every build, against the second oracle.

Examples:
    python -m anymetal.testing.lockstep --count 1000 --seed 0 --jobs 2
    python -m anymetal.testing.lockstep --class lanes --count 200 --shrink --save found
    python -m anymetal.testing.lockstep --count 10000 --jobs 16 --seconds 540 --json a.json
    python -m anymetal.testing.lockstep --merge a.json b.json
    python -m anymetal.testing.lockstep --count 1000 --passes-off --bisect
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from anymetal.testing.lockstep.builds import builds_here
from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.check import Verdict
from anymetal.testing.lockstep.generators import CLASSES, generate
from anymetal.testing.lockstep.results import Failure, Results, merged
from anymetal.testing.lockstep.shrink import failing, shrunk
from anymetal.testing.lockstep.worker import Worker
from anymetal.testing.passes_off import culprit, off_for, setting
from anymetal.testing.workers import check_all

DEFAULT_BUILDS = ("avx512", "avx2", "sse", "scalar", "known")
#: Cases that share one translation unit of the oracle.
BATCH = 25


def main(arguments: list[str] | None = None) -> int:
    """Runs the cases; returns 1 if one failed."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.merge:
        results = merged([Path(name) for name in options.merge])
    else:
        here = builds_here()
        builds = tuple(options.build or [name for name in DEFAULT_BUILDS if name in here])
        if lacking := [name for name in builds if name not in here]:
            parser.error(f"this machine cannot run {', '.join(lacking)}; it can {', '.join(here)}")
        start = time.monotonic()
        results = run(options, builds)
        print(f"builds: {', '.join(builds)}; {time.monotonic() - start:.0f} s on the clock")
        for failure in results.failures[: options.shown]:
            text = report(failure, builds, options.shrink)
            if options.bisect:
                text += f"\n{bisected(failure, builds)}\n"
            print(text)
            if options.save:
                Path(options.save).mkdir(parents=True, exist_ok=True)
                Path(options.save, f"{failure.kind}_{failure.seed}.txt").write_text(text)
    if options.json:
        results.save(Path(options.json))
    print(results.table())
    print(results.summary())
    for failure in results.failures:
        print(failure.line)
    return 1 if results.failures else 0


def run(options: argparse.Namespace, builds: tuple[str, ...]) -> Results:
    """Checks the seeds in as many processes as wanted, until they or the time are used up."""
    results = Results()

    def tell(seed: int, kind: str, verdict: Verdict) -> bool:
        results.add(seed, options.only, kind, verdict, off_for(seed, options.passes_off))
        if verdict.failed:
            print(results.failures[-1].line, file=sys.stderr, flush=True)
        failed = len(results.failures)
        if options.progress:
            print(f"\r{results.kernels} kernels, {failed} failed", end="", file=sys.stderr)
        return bool(failed >= options.max_failures)

    seeds = range(options.seed, options.seed + options.count)
    workers = [Worker(builds, options.passes_off) for _ in range(options.jobs)]
    try:
        check_all(workers, seeds, BATCH, options.only, options.seconds, tell)
    finally:
        for worker in workers:
            worker.close()
    return results


def case_of(failure: Failure) -> Case:
    """The case that failed."""
    return replace(generate(failure.seed, failure.only), off=failure.off)


def bisected(failure: Failure, builds: tuple[str, ...]) -> str:
    """Which pass of the compiler the failure comes from, in one line."""
    case, worker = case_of(failure), Worker(failing(failure, builds))
    try:
        found = culprit(lambda off: worker.verdict(replace(case, off=off)).failed, failure.off)
    finally:
        worker.close()
    return f"bisected: seed {failure.seed}: {found}"


def report(failure: Failure, builds: tuple[str, ...], shrink: bool) -> str:
    """A failure for people: what went wrong, the launch, and the kernel."""
    case, detail = case_of(failure), failure.detail
    if shrink and failure.status != "oracle":
        case, detail = shrunk(case, failure, builds)
    only = f" --class {failure.only}" if failure.only else ""
    arrays = [f"{a.name}: {a.element}[{a.data.size}]" for a in case.inputs]
    arrays += [f"{a.name}: {a.element}[{a.size}] (output)" for a in case.outputs]
    return (
        f"---- {failure.status}, seed {failure.seed}, class {case.kind}\n{detail}\n"
        f"to repeat: {setting(failure.off)}python -m anymetal.testing.lockstep "
        f"--seed {failure.seed} --count 1{only}\n"
        f"grid {case.grid}, threadgroup {case.threadgroup}, {', '.join(arrays)}\n"
        f"template {case.template}, atomic outputs: {case.atomic}, low limits: {case.low_limits}\n"
        f"{case.header}{case.body}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="anymetal.testing.lockstep", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="number of kernels")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--class", dest="only", choices=list(CLASSES), default="")
    parser.add_argument("--build", action="append", help="a build; default: all but native")
    parser.add_argument("--seconds", type=float, help="stop after so long")
    parser.add_argument("--max-failures", type=int, default=100, help="begin nothing new then")
    parser.add_argument("--shown", type=int, default=5, help="failures that are shown in full")
    parser.add_argument("--shrink", action="store_true", help="make those small")
    parser.add_argument("--bisect", action="store_true", help="name the pass that they come from")
    parser.add_argument("--passes-off", action="store_true", help="compile without random passes")
    parser.add_argument("--save", metavar="DIRECTORY", help="write each of them to a file, too")
    parser.add_argument("--json", metavar="FILE", help="write the results to a file")
    parser.add_argument("--merge", metavar="FILE", nargs="+", help="add up such files, run nothing")
    parser.add_argument("--progress", action="store_true", help="count on the terminal")
    return parser


if __name__ == "__main__":
    sys.exit(main())
