"""Sessions: what `anymetal.sanitize` opens, and which of them a launch belongs to.

A launch belongs to the innermost session of the thread, or asyncio task, that makes it. A thread
without one belongs to the session that another thread has opened last; what even then has none
belongs to that of the process (process.py), if there is one.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from anymetal.findings import Finding, Place
from anymetal.findings.records import as_json
from anymetal.findings.sarif import as_sarif
from anymetal.findings.text import as_text, summary
from anymetal.sanitizer.kinds import CHECKS, rules

Order = Literal["shuffle"] | None


@dataclass(frozen=True)
class Options:
    """What a session asks for."""

    checks: tuple[str, ...] = CHECKS
    order: Order = None
    seed: int = 0
    nan: bool = False
    replay: Path | None = None  #: a folder, or the file for the first launch with findings

    @property
    def wanted(self) -> tuple[str, ...]:
        """All groups of kinds that are reported."""
        return (*self.checks, *(["nan"] if self.nan else []), "order")


class Session:
    """What the kernels of a block did wrong. `anymetal.sanitize(…)` gives it to its `with`."""

    def __init__(self, options: Options, whole_process: bool = False) -> None:
        self.options = options
        self.whole_process = whole_process
        self.thread = threading.get_ident()
        self.open = True
        self.launches = 0  #: of kernels, so far
        self.notes: list[str] = []  #: what could not be done, such as a replay file
        self._lock = threading.Lock()
        self._found: dict[object, Finding] = {}
        self._replays = itertools.count()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Each mistake once, in the order in which they were found."""
        with self._lock:
            return tuple(self._found.values())

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Those that are no mere warnings."""
        return tuple(one for one in self.findings if one.severity == "error")

    @property
    def seed(self) -> int:
        """What `order="shuffle"` draws from."""
        return self.options.seed

    def add(
        self, findings: Iterable[Finding], launched: Place | None = None, count_again: bool = True
    ) -> list[Finding]:
        """Adds findings, once per place, and returns those that are new.

        `count_again`: those that are known have happened more often.
        """
        new = []
        with self._lock:
            for finding in findings:
                key = _key(finding)
                before = self._found.get(key)
                if before is None:
                    shown = finding
                    if launched is not None:
                        shown = replace(finding, others=(*finding.others, launched))
                    new.append(shown)
                    self._found[key] = shown
                elif count_again:
                    count = before.count + finding.count
                    self._found[key] = replace(before, count=count)
        return new

    def note(self, text: str) -> None:
        """Has a line in the report, once."""
        if text not in self.notes:
            self.notes.append(text)

    def next_replay(self) -> int:
        """The number of a replay file, from 0 on."""
        return next(self._replays)

    def text(self) -> str:
        """The report, as on a terminal without colours."""
        return "\n".join([*map(as_text, self.findings), *self.notes, self.conclusion()])

    def json(self) -> str:
        """The findings as JSON."""
        return as_json(self.findings)

    def sarif(self) -> str:
        """The findings as SARIF 2.1.0, for code scanning."""
        return as_sarif(self.findings, rules(), version("anymetal"))

    def conclusion(self) -> str:
        """The last line of a report."""
        number = self.launches
        launches = f"{number} kernel launch{'' if number == 1 else 'es'}"
        shuffled = f", also in other orders (seed {self.seed})" if self.options.order else ""
        return f"anymetal: {summary(self.findings)} found in {launches}{shuffled}"


def _key(finding: Finding) -> object:
    """What two reports of one mistake have in common. Threads may differ."""
    places = [(at.file, at.line, at.column) for at in (finding.place, *finding.others)]
    return finding.code, finding.kernel, *places, finding.details.get("buffer")


_current: ContextVar[Session | None] = ContextVar("anymetal.sanitizer", default=None)
_open: list[Session] = []
_changing = threading.Lock()
#: What to do when the first session opens, and when the last one closes (launches.py).
_switch: Callable[[bool], Any] | None = None


def when_needed(switch: Callable[[bool], Any]) -> None:
    """Have a function called with True when the first session opens, False when the last closes."""
    global _switch
    _switch = switch


def start(options: Options, whole_process: bool = False) -> tuple[Session, Session | None]:
    """Opens a session; also returns what was the current one of this thread."""
    session, before = Session(options, whole_process), _current.get()
    with _changing:
        _open.append(session)
        try:
            if len(_open) == 1 and _switch:
                _switch(True)
        except BaseException:
            _open.remove(session)
            raise
    if not whole_process:
        _current.set(session)
    return session, before


def stop(session: Session, before: Session | None) -> None:
    """Closes a session. Closing it twice does nothing."""
    with _changing:
        if not session.open:
            return
        session.open = False
        _open.remove(session)
        if not _open and _switch:
            _switch(False)
    if _current.get() is session:
        _current.set(before)


def entered() -> Session | None:
    """The session that this thread, or asyncio task, has opened last."""
    return _current.get()


def current() -> Session | None:
    """The session that a launch of this thread belongs to."""
    session = _current.get()
    if session is not None and session.open:
        return session
    with _changing:
        me = threading.get_ident()
        whole = [one for one in _open if one.whole_process]
        others = [one for one in _open if one.thread != me and not one.whole_process]
        candidates = [*whole, *others]
        return candidates[-1] if candidates else None
