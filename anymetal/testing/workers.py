"""Processes that check cases, each of which may end its process or keep it for ever; and who hands
the cases out."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Literal, TypeVar

from anymetal.testing.child import Child

Verdict = TypeVar("Verdict")
#: The number of a case, its class, and the verdict; None: it is begun.
News = tuple[int, str, Verdict | None]
#: What a process is asked to check: cases, which have a `seed`, or seeds and the class of their
#: cases.
Work = list[Any] | tuple[Sequence[int], str]

Loss = Literal["slow", "crash"]
#: Seconds on the clock for one case; how many of processors depends on the fuzzer.
MOST_WALL_SECONDS = 600.0


class Worker(Generic[Verdict]):
    """A process that is started again when needed.

    It runs `serve(pipe, folder, *arguments)`, which takes work from the pipe, sends news of each
    case, and None behind the last. What it is lost with, `lost` makes a verdict of: "slow" or
    "crash", the reason in words, and a key.
    """

    def __init__(
        self,
        serve: Callable[..., None],
        *arguments: object,
        lost: Callable[[Loss, str, str], Verdict],
        most_seconds: float,
    ) -> None:
        # A tool of a process that was killed may still write there.
        self._folder = tempfile.TemporaryDirectory(
            prefix="anymetal-worker-", ignore_cleanup_errors=True
        )
        self._child = Child(serve, self._folder.name, *arguments)
        self.left: list[int] = []  #: numbers of cases that have no verdict yet
        self.only = ""
        self._begun: tuple[int, str] | None = None
        self._verdict_of_loss = lost
        self._most_seconds = most_seconds

    def close(self) -> None:
        """Ends the process and removes what it wrote."""
        self._child.stop()
        self._folder.cleanup()

    def submit(self, work: Work) -> None:
        """Hands it cases, or seeds and the class of their cases."""
        if isinstance(work, tuple):
            seeds, self.only = work
            self.left = list(seeds)
        else:
            self.left = [case.seed for case in work]
        self._child.submit(work)

    def verdict(self, case: Any) -> Verdict:
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

    def news(self) -> list[News[Verdict]]:
        """Verdicts since the last call, also of a case of which the process died."""
        result: list[News[Verdict]] = []
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
                result.append(self._lost("slow", spent, "killed"))
        except (EOFError, ConnectionResetError):
            code = self._child.exit_code()
            text = f"the process ended with exit code {code}"
            result.append(self._lost("crash", text, str(code)))
        return result

    def _done(self, seed: int) -> None:
        self.left.remove(seed)
        self._begun = None

    def _lost(self, status: Loss, detail: str, key: str) -> News[Verdict]:
        seed, kind = self._begun or (self.left[0], self.only)
        self._done(seed)
        self._child.stop()
        return seed, kind, self._verdict_of_loss(status, detail, key)

    def _takes_too_long(self) -> bool:
        return self._child.silent() > MOST_WALL_SECONDS or self._child.spent() > self._most_seconds


def check_all(
    workers: Sequence[Worker[Verdict]],
    seeds: range,
    batch: int,
    only: str,
    seconds: float | None,
    tell: Callable[[int, str, Verdict], bool],
) -> None:
    """Hands out the seeds in batches, until they or the time are used up, or `tell`, which gets
    each verdict, says that it is enough."""
    end = time.monotonic() + (seconds or float("inf"))
    batches = _batches(seeds, batch)
    enough = False

    def hand_out(worker: Worker[Verdict]) -> None:
        if not enough and (some := next(batches, None)):
            worker.submit((some, only))

    for worker in workers:
        hand_out(worker)
    while (busy := [worker for worker in workers if worker.left]) and time.monotonic() < end:
        wait([worker.pipe for worker in busy], timeout=1)
        for worker in busy:
            for seed, kind, verdict in worker.news():
                assert verdict is not None
                enough |= tell(seed, kind, verdict)
            if worker.left and not worker.running:  # the rest of what it was asked
                worker.submit((worker.left, worker.only))
            if not worker.left:
                hand_out(worker)


def _batches(seeds: range, size: int) -> Iterator[list[int]]:
    for start in range(0, len(seeds), size):
        yield list(seeds[start : start + size])
