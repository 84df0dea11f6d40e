"""A process that does work which may kill it or keep it for ever, such as a miscompiled kernel."""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")


class Child:
    """Such a process, started when there is work for it, and again after its end.

    It runs `serve(pipe, *arguments)`, which takes work from the pipe until None comes, and sends
    back what it likes.
    """

    def __init__(self, serve: Callable[..., None], *arguments: object) -> None:
        self._serve = serve
        self._arguments = arguments
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._since = 0.0, 0.0  #: its processor seconds, and the clock, when it was last heard of

    @property
    def running(self) -> bool:
        """Whether there is a process, alive or not yet known to be dead."""
        return self._process is not None

    @property
    def pipe(self) -> Connection:
        """Readable when there is something to receive, or the process is gone."""
        assert self._pipe is not None
        return self._pipe

    def submit(self, work: object) -> None:
        """Hands it work."""
        if self._process is None or not self._process.is_alive():
            self._start()
        self.pipe.send(work)
        self._note()

    def receive(self) -> Any:
        """The next thing it has sent; EOFError if it has died instead."""
        received = self.pipe.recv()
        self._note()
        return received

    def exit_code(self) -> int | None:
        """Of a process that has died."""
        assert self._process is not None
        self._process.join()
        return self._process.exitcode

    def stop(self) -> None:
        """Ends the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def spent(self) -> float:
        """Processor seconds since it was last heard of."""
        return self._seconds() - self._since[0]

    def silent(self) -> float:
        """Seconds on the clock since it was last heard of."""
        return time.monotonic() - self._since[1]

    def _note(self) -> None:
        self._since = self._seconds(), time.monotonic()

    def _seconds(self) -> float:
        """Processor time of the process, and of those that it has started."""
        assert self._process is not None
        return _seconds_of(f"{self._process.pid}")

    def _start(self) -> None:
        self.stop()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (self._serve, theirs, *self._arguments)
        self._process = context.Process(target=_quietly, args=arguments, daemon=True)
        self._process.start()
        theirs.close()


def _seconds_of(process: str) -> float:
    """Of those that have ended, and of those that run."""
    folder = Path("/proc", process)
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        tasks = [one.read_text() for one in folder.glob("task/*/children")]
    except OSError:  # it has ended
        return 0.0
    started = sum(_seconds_of(child) for task in tasks for child in task.split())
    return sum(map(int, fields[11:15])) / _TICKS + started


def _quietly(serve: Callable[..., None], *arguments: object) -> None:
    """Random kernels look wrong in many places, and are meant to."""
    warnings.simplefilter("ignore")
    serve(*arguments)
