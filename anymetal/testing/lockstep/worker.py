"""A process that checks cases, and may die of one or never come back from one."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from anymetal.testing import workers
from anymetal.testing.lockstep.builds import Build, builds_here
from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.check import SLOW, Verdict, check, expected_of
from anymetal.testing.lockstep.generators import generate
from anymetal.testing.lockstep.oracle import Oracle, OracleError
from anymetal.testing.passes_off import off_for

#: What a process is asked to check: cases, or seeds and the class of their cases.
Work = Sequence[Case] | tuple[Sequence[int], str]
News = workers.News[Verdict]

#: Processor seconds for one build of a case.
MOST_SECONDS = 1.2 * SLOW


def serve(pipe: Connection, folder: str, build_names: tuple[str, ...], draw: bool) -> None:
    """The child: news of the cases that arrive, until None does. With `draw`, cases that come as
    seeds do without some passes."""
    os.environ["ANYMETAL_CACHE_DIR"] = f"{folder}/cache"
    os.environ["ANYMETAL_BRIDGE"] = "0"
    os.environ.pop("ANYMETAL_CPU", None)
    here = builds_here()
    builds = [here[name] for name in build_names]
    while (work := pipe.recv()) is not None:
        if isinstance(work, tuple):
            seeds, only = work
            work = [replace(generate(seed, only), off=off_for(seed, draw)) for seed in seeds]
        _check_all(work, builds, Path(folder), pipe.send)
        pipe.send(None)


def _check_all(
    cases: Sequence[Case], builds: Sequence[Build], folder: Path, tell: Callable[[News], None]
) -> None:
    """Compiles the oracle once for all cases; if it cannot, for each."""
    try:
        oracle = Oracle(cases, folder)
    except OracleError as error:
        if len(cases) == 1:
            tell((cases[0].seed, cases[0].kind, Verdict("oracle", str(error))))
            return
        for case in cases:
            _check_all([case], builds, folder, tell)
        return
    for case in cases:
        tell((case.seed, case.kind, None))
        expected = expected_of(case, oracle)
        begins = functools.partial(tell, (case.seed, case.kind, None))
        tell((case.seed, case.kind, check(case, expected, builds, folder, begins, SLOW)))
    oracle.close()


class Worker(workers.Worker[Verdict]):
    """Such a process."""

    def __init__(self, builds: tuple[str, ...], draw: bool = False) -> None:
        super().__init__(serve, builds, draw, lost=Verdict, most_seconds=MOST_SECONDS)
