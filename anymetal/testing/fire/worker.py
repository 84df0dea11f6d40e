"""A process that tries texts, with bounds on its memory and a folder that must stay empty."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterable
from multiprocessing.connection import Connection
from pathlib import Path

from anymetal.testing import workers
from anymetal.testing.fire.check import Verdict, check
from anymetal.testing.fire.generate import generate
from anymetal.testing.fire.trial import Trial

#: Processor seconds that a text may take, and bytes that the process and Clang may each map.
MOST_SECONDS = 20.0
MOST_BYTES = 6 << 30
#: Open files that come and go.
_SLACK = 4


def serve(pipe: Connection, folder: str) -> None:
    """The child: news of the trials that arrive, until None does."""
    os.environ["ANYMETAL_CACHE_DIR"] = f"{folder}/cache"
    os.environ["TMPDIR"] = tempfile.tempdir = f"{folder}/tmp"
    os.makedirs(tempfile.tempdir, exist_ok=True)
    os.environ["ANYMETAL_BRIDGE"] = "0"
    os.environ["ANYMETAL_STRICT"] = "0"
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    check(Trial("first", "out[0] = 1;\n"))  # opens what stays open
    files = _open_files()
    while (work := pipe.recv()) is not None:
        trials: Iterable[Trial] = (
            (generate(seed, work[1]) for seed in work[0]) if isinstance(work, tuple) else work
        )
        for trial in trials:
            pipe.send((trial.seed, trial.kind, None))
            verdict = check(trial)
            if not verdict.failed:
                verdict = _left_behind(files) or verdict
            pipe.send((trial.seed, trial.kind, verdict))
        pipe.send(None)


def _left_behind(files: int) -> Verdict | None:
    """What a trial leaves: a temporary file, a process, open files."""
    if left := [path.name for path in Path(tempfile.gettempdir()).iterdir()]:
        return Verdict("left behind", f"temporary files {left}", "files")
    me = os.getpid()
    children = Path(f"/proc/{me}/task/{me}/children").read_text().split()
    names = [Path(f"/proc/{child}/comm").read_text().strip() for child in children]
    if "zig" in names:
        return Verdict("left behind", f"processes {names}", "processes")
    if (now := _open_files()) > files + _SLACK:
        return Verdict("left behind", f"{now} open files, {files} at first", "open files")
    return None


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


class Worker(workers.Worker[Verdict]):
    """Such a process."""

    def __init__(self) -> None:
        super().__init__(serve, lost=Verdict, most_seconds=MOST_SECONDS)
