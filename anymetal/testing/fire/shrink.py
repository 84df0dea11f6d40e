"""Makes a failing text small: leaves out lines, then tokens, while it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from anymetal.testing.fire.check import Verdict
from anymetal.testing.fire.mutate import pieces
from anymetal.testing.fire.trial import Trial
from anymetal.testing.fire.worker import Worker

#: Seconds for one failure.
PATIENCE = 60.0


def shrunk(trial: Trial, verdict: Verdict) -> tuple[Trial, Verdict]:
    """A smaller trial that fails in the same way, and its verdict."""
    worker, last = Worker(), verdict

    def fails(candidate: Trial) -> bool:
        nonlocal last
        now = worker.verdict(candidate)
        same = (now.status, now.key) == (verdict.status, verdict.key)
        if same:
            last = now
        return same

    try:
        return minimal(trial, fails, time.monotonic() + PATIENCE), last
    finally:
        worker.close()


def minimal(trial: Trial, fails: Callable[[Trial], bool], end: float) -> Trial:
    """A smaller trial that fails; what is found until `end` on the clock."""
    if trial.refusal or trial.form == "call":  # the places of what is expected would move
        return trial
    for cut in (lambda text: text.splitlines(keepends=True), pieces):
        for part in ("header", "body"):
            progress = True
            while progress:
                progress = False
                for text in _smaller(cut(getattr(trial, part))):
                    if time.monotonic() > end:
                        return trial
                    header, body = (text, trial.body) if part == "header" else (trial.header, text)
                    if len(header) + len(body) < trial.size and fails(
                        trial.with_texts(header, body)
                    ):
                        trial, progress = trial.with_texts(header, body), True
                        break
    return trial


def _smaller(parts: Sequence[str]) -> Iterator[str]:
    """Texts with some of the parts left out, large spans first."""
    size = len(parts)
    while size >= 1:
        for start in range(0, len(parts), size):
            yield "".join([*parts[:start], *parts[start + size :]])
        size //= 2
