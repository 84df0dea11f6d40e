"""A session for a whole process: ANYMETAL_SANITIZE=1 and `anymetal run --sanitize`.

    ANYMETAL_SANITIZE          1: all kernels of the process run under observation
    ANYMETAL_SANITIZE_ORDER    shuffle: as `order="shuffle"`; shuffle:7 with the seed 7
    ANYMETAL_SANITIZE_REPLAY   a file or folder for replay files
    ANYMETAL_SANITIZE_OUTPUT   a file that the findings are written to as JSON; *.sarif: as SARIF

The report goes to stderr at the exit of the process. If there are errors, its exit status is then
66: of `anymetal run`, unless the program itself ends with another; with ANYMETAL_SANITIZE=1 always,
as nothing at the exit of an interpreter knows what the status would be.
"""

from __future__ import annotations

import atexit
import logging
import os
import random
import sys
from multiprocessing import util
from pathlib import Path
from typing import cast

from anymetal.sanitizer import api, launches, session
from anymetal.sanitizer.session import Options, Order, Session

#: The exit status for errors, as ThreadSanitizer has it.
STATUS = 66

_session: Session | None = None
_process = 0  #: of which it is the session


def begin() -> None:
    """Observes the process from now on, and reports at its exit."""
    if _session is None:
        begin_run()
        atexit.register(_at_exit)
        os.register_at_fork(after_in_child=_in_child)
        util.register_after_fork(_key, _report_finally)


def begin_run() -> None:
    """The same for `anymetal run`, which ends with `end_run`."""
    global _session, _process
    if _session is None:
        launches.take_over()
        _session, _ = session.start(_options(), whole_process=True)
        _process = os.getpid()


def end_run(status: int) -> int:
    """Reports, and returns the exit status for a program that would end with this one."""
    failed = _report()
    return STATUS if failed and status == 0 else status


def _options() -> Options:
    """What the environment asks for. Raises ValueError if it cannot be meant."""
    order, _, seed = os.environ.get("ANYMETAL_SANITIZE_ORDER", "").partition(":")
    if order not in ("", "shuffle") or not (seed or "0").isdecimal():
        raise ValueError("ANYMETAL_SANITIZE_ORDER must be shuffle, or shuffle: and a number")
    number = int(seed) if seed else random.SystemRandom().randrange(2**32)
    replay = os.environ.get("ANYMETAL_SANITIZE_REPLAY")
    return Options(
        order=cast(Order, order or None), seed=number, replay=Path(replay) if replay else None
    )


def _report() -> bool:
    """Closes the session and tells what it has found. Returns whether there are errors."""
    global _session
    found, _session = _session, None
    if found is None or os.getpid() != _process:
        return False
    session.stop(found, None)
    if found.launches:
        api.tell(found)
    if path := os.environ.get("ANYMETAL_SANITIZE_OUTPUT"):
        text = found.sarif() if path.endswith(".sarif") else found.json()
        Path(path).write_text(text + "\n", encoding="utf-8")
    return bool(found.errors)


def _at_exit() -> None:
    if not _report():
        return
    # Python offers no other way to change the status here. What would come is done before.
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(STATUS)


def _in_child() -> None:
    """A forked process has its own findings."""
    global _session
    if _session is not None:
        session.stop(_session, None)
        _session = None
        begin_run()


def _report_finally(_: object) -> None:
    """Processes of `multiprocessing` that were forked end without the functions of `atexit`."""
    util.Finalize(None, _report, exitpriority=0)


class _Key:
    """What `register_after_fork` ties a function to."""


_key = _Key()
