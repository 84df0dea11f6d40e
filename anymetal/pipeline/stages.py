"""Observers of a compilation: what took how long, and what each stage made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from anymetal import debug

if TYPE_CHECKING:
    from anymetal.ir.model import Program
    from anymetal.ir.spec import Stage


class Times(NamedTuple):
    """How long the parts of a compilation took, in seconds."""

    stages: dict[str, float]
    passes: dict[str, float]


class Stages:
    """Times the stages and passes of one compilation; subclasses look at results, too."""

    def __init__(self, wanted: debug.Wanted = debug.NOTHING) -> None:
        self.times: dict[str, float] = {}  #: seconds, in the order of the stages
        self.passes: dict[str, float] = {}  #: likewise; passes are parts of stages
        self.wanted = wanted  #: what `ANYMETAL_DEBUG` asks for

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times a stage; one that takes several steps is timed in all."""
        with _timed(self.times, name):
            yield

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Times a pass."""
        with _timed(self.passes, name):
            yield

    def passed(self, name: str, program: Program, stage: Stage, changed: bool) -> None:
        """Called behind a pass, with the stage of the grammar that the program is in now."""

    def made(self, what: str, text: Callable[[], str]) -> None:
        """Called when there is something that can be shown as text."""


def longest_first(times: Mapping[str, float]) -> list[tuple[str, float]]:
    """Passes and their times, the longest first."""
    return sorted(times.items(), key=lambda one: -one[1])


def in_milliseconds(times: Iterable[tuple[str, float]], digits: int = 0) -> str:
    """Names and times in one line."""
    return ", ".join(f"{name} {1000 * seconds:.{digits}f}" for name, seconds in times)


@contextmanager
def _timed(times: dict[str, float], name: str) -> Iterator[None]:
    start = perf_counter()
    try:
        yield
    finally:
        times[name] = times.get(name, 0.0) + perf_counter() - start
