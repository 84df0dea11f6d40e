"""A process that checks cases, and may die of one or never come back from one."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path

from anymetal.testing.child import Child
from anymetal.testing.lockstep.builds import Build, builds_here
from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.check import SLOW, Verdict, check, expected_of
from anymetal.testing.lockstep.generators import generate
from anymetal.testing.lockstep.oracle import Oracle, OracleError
from anymetal.testing.passes_off import off_for

#: What a process is asked to check: cases, or seeds and the class of their cases.
Work = Sequence[Case] | tuple[Sequence[int], str]
#: A case that is begun, or its verdict.
News = tuple[int, str, Verdict | None]

#: Processor seconds for one build of a case, and seconds on the clock.
MOST_SECONDS = 1.2 * SLOW
MOST_WALL_SECONDS = 600.0


def serve(pipe: Connection, build_names: tuple[str, ...], folder: str, draw: bool) -> None:
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
        tell((case.seed, case.kind, check(case, expected, builds, folder, begins)))
    oracle.close()


class Worker:
    """Such a process, which is started again when needed."""

    def __init__(self, builds: tuple[str, ...], draw: bool = False) -> None:
        # A tool of a process that was killed may still write there.
        self._folder = tempfile.TemporaryDirectory(
            prefix="anymetal-lockstep-", ignore_cleanup_errors=True
        )
        self._child = Child(serve, builds, self._folder.name, draw)
        self.left: list[int] = []  #: seeds that have no verdict yet
        self.only = ""
        self._begun: tuple[int, str] | None = None

    def close(self) -> None:
        """Ends the process and removes what it wrote."""
        self._child.stop()
        self._folder.cleanup()

    def submit(self, work: Work) -> None:
        """Hands it cases, or seeds."""
        if isinstance(work, tuple):
            self.left, self.only = list(work[0]), work[1]
        else:
            self.left = [case.seed for case in work]
        self._child.submit(work)

    def verdict(self, case: Case) -> Verdict:
        """On one case, as soon as it is there."""
        self.submit([case])
        while True:
            wait([self.pipe], timeout=1)
            for _, _, verdict in self.news():
                if verdict is not None:
                    return verdict

    @property
    def running(self) -> bool:
        """Whether there is a process: it is gone after a case that it did not survive."""
        return self._child.running

    @property
    def pipe(self) -> Connection:
        """Readable when there is news, or the child is gone."""
        return self._child.pipe

    def news(self) -> list[News]:
        """Verdicts since the last call, also of a case of which the process died."""
        result: list[News] = []
        try:
            while self.left and self.pipe.poll():
                news = self._child.receive()
                if news is None:
                    continue
                seed, kind, verdict = news
                self._begun = (seed, kind)
                if verdict is not None:
                    self._done(seed)
                    result.append(news)
            if self.left and self._takes_too_long():
                spent = f"no verdict after {self._child.spent():.0f} s of processor time"
                result.append(self._lost(Verdict("slow", spent, "killed")))
        except EOFError:
            code = self._child.exit_code()
            verdict = Verdict("crash", f"the process ended with exit code {code}", str(code))
            result.append(self._lost(verdict))
        return result

    def _done(self, seed: int) -> None:
        self.left.remove(seed)
        self._begun = None

    def _lost(self, verdict: Verdict) -> News:
        seed, kind = self._begun or (self.left[0], self.only)
        self._done(seed)
        self._child.stop()
        return seed, kind, verdict

    def _takes_too_long(self) -> bool:
        return self._child.silent() > MOST_WALL_SECONDS or self._child.spent() > MOST_SECONDS
