"""Makes a failing case small: leaves out lines and blocks, and replaces parts of expressions.

The marks around a loop (metal.h) tell the oracle where lanes meet again. They stay as long as the
loop does: without them the oracle would be wrong, and the case fail for that.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.results import Failure
from anymetal.testing.lockstep.worker import Worker

#: Seconds for one failure.
PATIENCE = 180.0
#: Lines of a marked loop in front of its body, and behind it.
_HEAD, _TAIL = 3, 2


def shrunk(case: Case, failure: Failure, builds: tuple[str, ...]) -> tuple[Case, str]:
    """A smaller case that fails in the same way, and what is said about it."""
    worker = Worker(failing(failure, builds))
    end = time.monotonic() + PATIENCE
    detail = failure.detail

    def fails(candidate: Case) -> bool:
        nonlocal detail
        verdict = worker.verdict(candidate)
        same = (verdict.status, verdict.key) == (failure.status, failure.key)
        if same:
            detail = verdict.detail
        return same

    try:
        case = minimal(case, fails, end)
        return case, detail
    finally:
        worker.close()


def failing(failure: Failure, builds: tuple[str, ...]) -> tuple[str, ...]:
    """The build that fails, if that is known."""
    build = failure.key.split(" ")[0]
    return (build,) if build in builds else builds


def minimal(case: Case, fails: Callable[[Case], bool], end: float) -> Case:
    """A smaller case that fails; what is found until `end` on the clock."""
    progress = True
    while progress:
        progress = False
        for lines in _smaller(case.body.splitlines()):
            if time.monotonic() > end:
                return case
            candidate = case.with_body("\n".join(lines) + "\n")
            shorter = len(candidate.body) < len(case.body)
            if shorter and _marked(lines) and fails(candidate):
                case, progress = candidate, True
                break
    return case


def _smaller(lines: list[str]) -> Iterator[list[str]]:
    """Bodies with something left out, large parts first."""
    size = len(lines) // 2
    while size >= 1:
        for start in range(0, len(lines) - size + 1, size):
            part = lines[start : start + size]
            if _balanced(part):
                yield lines[:start] + lines[start + size :]
        size //= 2
    for first, last in sorted(_blocks(lines), key=lambda block: block[0] - block[1]):
        yield lines[:first] + lines[last + 1 :]
        head, tail = (_HEAD, _TAIL) if lines[first].strip() == "LOOP" else (1, 1)
        yield lines[:first] + lines[first + head : last + 1 - tail] + lines[last + 1 :]
    for number, line in enumerate(lines):
        for shorter in _shorter(line):
            yield [*lines[:number], shorter, *lines[number + 1 :]]


def _marked(lines: list[str]) -> bool:
    """Whether the marks of each loop are complete: `LOOP`, the head of the loop, `ITER`, its body,
    its end, `END_LOOP`."""
    marks = [line.strip() for line in lines]
    blocks = dict(_blocks(lines))
    starts = [number for number, mark in enumerate(marks) if mark == "LOOP"]
    return marks.count("ITER") == marks.count("END_LOOP") == len(starts) and all(
        blocks.get(start + 1, -1) + 1 == blocks.get(start) and marks[start + 2] == "ITER"
        for start in starts
    )


def _depth(line: str) -> int:
    """By how much braces deepen in a line; `LOOP` and `END_LOOP` are braces, too."""
    opened = line.count("{") + (line.strip() == "LOOP")
    return opened - line.count("}") - (line.strip() == "END_LOOP")


def _balanced(lines: list[str]) -> bool:
    depth = 0
    for line in lines:
        depth += _depth(line)
        if depth < 0:
            return False
    return depth == 0


def _blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First and last line of each block."""
    open_: list[int] = []
    for number, line in enumerate(lines):
        change = _depth(line)
        if change > 0:
            open_.append(number)
        elif change < 0 and open_:
            yield open_.pop(), number


def _shorter(line: str) -> Iterator[str]:
    """The line with a part in parentheses replaced by a number, or by a part of itself."""
    spans = []
    starts: list[int] = []
    for place, letter in enumerate(line):
        if letter == "(":
            starts.append(place)
        elif letter == ")" and starts:
            spans.append((starts.pop(), place))
    for first, last in sorted(spans, key=lambda span: span[0] - span[1]):
        inside = line[first + 1 : last]
        if len(inside) > 1:
            yield f"{line[:first]}(1){line[last + 1 :]}"
        for part in re.split(r" (?:[-+*/%&|^<>=!?:]{1,2}) ", inside):
            if 0 < len(part) < len(inside) and part.count("(") == part.count(")"):
                yield f"{line[:first]}({part}){line[last + 1 :]}"
