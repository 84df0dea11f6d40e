"""`scripts/arm-suite`: the tests on an emulated AArch64.

Kernels are compiled for Arm by processes of this machine and run in an arm64 root by QEMU, where
pytest, MLX, NumPy, the thread pool and the bridge to MLX are Arm's. The root is made of Debian's
packages and of wheels when it is missing, outside of the repository.

Examples:
    scripts/arm-suite                                  # all that is not done yet
    scripts/arm-suite cases --shard 1/4 --seconds 600
    scripts/arm-suite --sample today --seconds 300     # some of the parts that CI looks at
    scripts/arm-suite --python -c 'import anymetal'    # a program in the root
    scripts/arm-suite --report
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from scripts.arm import report
from scripts.arm.machines import MACHINES
from scripts.arm.parts import PARTS, SAMPLED, Part
from scripts.arm.place import Place, Unavailable
from scripts.arm.progress import append, outcomes

_FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "anymetal-arm64"
_WHERE = "where the root, and what was done, are kept (default: ANYMETAL_ARM, or %(default)s)"
_POSSIBLE = (
    "no failure if this machine cannot emulate, or cannot make a root in steps that take this long"
)
#: pytest's statuses where it ended by itself: all passed, some failed, time was up, none were left.
_ENDED = (0, 1, 2, 5)


def main() -> int:
    """Runs what is asked for; 1 if something failed."""
    parser = _parser()
    options = parser.parse_args()
    if unknown := sorted(set(options.parts) - set(PARTS)):
        parser.error(f"there is no part {unknown[0]!r}, but {', '.join(PARTS)}")
    place = Place(options.folder, options.machine, options.if_possible)
    if options.report:
        print(report.table(place.state))
        return 0
    try:
        place.make()
    except Unavailable as reason:
        print(f"arm-suite: nothing was run: {reason}", flush=True)
        return 2 if options.if_possible is None else 0
    if options.python:
        return place.run("python", *options.python)
    if options.sample and not options.parts:
        return _sample(place, options)
    chosen = options.parts or list(PARTS)
    results = [_run(place, name, options) for name in chosen]
    print(report.table(place.state))
    return max(results)


def _sample(place: Place, options: argparse.Namespace) -> int:
    """Tests in a random order; what was done before does not count."""
    file = place.state / f"sample-{os.getpid()}"
    tests = [test for name in SAMPLED for test in PARTS[name].tests]
    try:
        _pytest(place, tests, file, options)
        found = outcomes(file)
    finally:
        file.unlink(missing_ok=True)
    print(
        f"arm-suite: a sample on an emulated {place.machine}: {report.counted(found)}", flush=True
    )
    return int(not found or not report.is_good(found))


def _run(place: Place, name: str, options: argparse.Namespace) -> int:
    """Runs a part, as far as it is not done; 1 if something in it has failed, now or before."""
    part, file = PARTS[name], report.file_of(place.state, place.machine, name)
    print(f"arm-suite: {name}: {part.what}", flush=True)
    file.parent.mkdir(exist_ok=True)
    if part.program:
        _run_program(place, part, name, file)
    else:
        # A test that ends its process counts as lost, and the others go on without it.
        before = -1
        while before < len(outcomes(file)):
            before = len(outcomes(file))
            if _pytest(place, part.tests, file, options) in _ENDED:
                break
    return int(not report.is_good(outcomes(file)))


def _run_program(place: Place, part: Part, name: str, file: Path) -> None:
    if name in outcomes(file):
        return
    begin = time.monotonic()
    status = place.run("python", *part.program)
    print(f"arm-suite: {name}: status {status} after {time.monotonic() - begin:.0f} s", flush=True)
    append(file, name, "failed" if status else "passed")


def _pytest(
    place: Place, tests: tuple[str, ...] | list[str], file: Path, options: argparse.Namespace
) -> int:
    command = "-m pytest -q -p no:cacheprovider -p scripts.arm.progress".split()
    command += ["--progress", str(file)]
    for name in ("seconds", "sample", "shard"):
        if value := getattr(options, name):
            command += [f"--{name}", str(value)]
    return place.run("python", *command, *options.pytest.split(), *tests)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/arm-suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; default: all")
    add("--folder", type=Path, default=os.environ.get("ANYMETAL_ARM") or _FOLDER, help=_WHERE)
    add("--machine", choices=MACHINES, default="neoverse-n1", help="the processor to be emulated")
    add("--seconds", type=float, help="begin no test of a part after so many seconds")
    add("--shard", metavar="I/N", help="the I-th of N parts of the tests")
    add("--sample", metavar="SEED", help="tests in an order drawn by this word")
    add("--pytest", default="", metavar="OPTIONS", help="more options of pytest, such as '-k exp'")
    add("--if-possible", type=float, metavar="SECONDS", help=_POSSIBLE)
    add("--report", action="store_true", help="only print what is done, as a table")
    add("--python", nargs=argparse.REMAINDER, help="only run Python in the root, with these words")
    return parser


if __name__ == "__main__":
    sys.exit(main())
