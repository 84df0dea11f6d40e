"""Work for several processes, until it is done or the time is over."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from typing import Any

from anymetal.testing.child import Child

#: Pieces that a process does before another one takes its place: LLVM keeps something of each
#: module, 2 GiB after 7,000 kernels.
_MOST_PIECES = 500

#: A piece of work, and what came of it: an answer, or why there is none.
Outcome = tuple[Any, Any, str]


def outcomes(
    serve: Callable[..., None],
    arguments: tuple[object, ...],
    work: Iterable[Any],
    jobs: int,
    until: float,
    most_seconds: float,
) -> Iterator[Outcome]:
    """What `serve` makes of each piece of work, as it comes; ends at `until` on the clock.

    A process that ends, or takes more than `most_seconds` of processor time for a piece, leaves a
    reason in the place of an answer. So does one that is silent for ten times as long.
    What is under way when the time is over is dropped.
    """
    queue = iter(work)
    busy: dict[Child, Any] = {}
    idle = [Child(serve, *arguments) for _ in range(jobs)]
    children = list(idle)
    pieces: Counter[Child] = Counter()
    try:
        while time.monotonic() < until:
            for piece in queue if idle else ():
                child = idle.pop()
                child.submit(piece)
                busy[child] = piece
                if not idle:
                    break
            if not busy:
                return
            wait([child.pipe for child in busy], timeout=1)
            for child, piece in list(busy.items()):
                outcome = _outcome(child, most_seconds)
                if outcome:
                    del busy[child]
                    idle.append(child)
                    pieces[child] += 1
                    if pieces[child] % _MOST_PIECES == 0:
                        child.stop()
                    yield piece, *outcome
    finally:
        for child in children:
            child.stop()


def _outcome(child: Child, most_seconds: float) -> tuple[Any, str] | None:
    if child.pipe.poll():
        try:
            return child.receive(), ""
        except (EOFError, OSError):
            reason = f"the process ended with {child.exit_code()}"
    elif child.spent() > most_seconds:
        reason = f"nothing after {most_seconds:.0f} seconds of processor time"
    elif child.silent() > 10 * most_seconds:
        reason = f"nothing for {10 * most_seconds:.0f} seconds"
    else:
        return None
    child.stop()
    return None, reason


def last_line(error: Exception) -> str:
    """The last one with something in it: of an error of MLX's form, the reason."""
    return next((line for line in reversed(str(error).splitlines()) if line), "")


def peak() -> int:
    """MiB that this process has taken at most so far, or one that it has started."""
    use = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return max(one.ru_maxrss for one in use) >> 10
