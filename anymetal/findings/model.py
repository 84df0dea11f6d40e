"""A finding: what is wrong in a kernel, and where in the user's text.

Whatever looks for mistakes makes these values; how they are shown is the business of `text.py`,
`records.py`, `sarif.py` and `github.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Place:
    """A place in a text that the user wrote. Lines and columns count from 1, in characters."""

    file: str  #: a path, or "<kernel NAME>" for a kernel whose file is not known
    line: int  #: 0 if unknown
    column: int = 0  #: 0 if unknown
    text: str = ""  #: that line
    end_column: int = 0  #: behind the last character that is meant; 0: that one character
    message: str = ""  #: what is there, such as "the other access"
    part: str = ""  #: the part of the kernel, such as "source", where that is not the whole file
    part_line: int = 0  #: the line in that part

    @property
    def is_file(self) -> bool:
        """Whether there is a file that programs can open."""
        return not (self.file.startswith("<") and self.file.endswith(">"))

    def __str__(self) -> str:
        numbers = [self.line] * (self.line > 0) + [self.column] * (self.line > 0 < self.column)
        return ":".join([self.file, *map(str, numbers)])


def kernel_file(name: str) -> str:
    """What stands for the file of a kernel of which only the text is known."""
    return f"<kernel {name}>"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or may be."""

    code: str  #: short and stable, such as "AM101" or "race": what one selects and ignores
    severity: Severity
    message: str  #: what is wrong, with the offending values
    kernel: str  #: its name, or nothing
    place: Place
    others: tuple[Place, ...] = ()  #: further places, each with its own message
    details: Mapping[str, Any] = field(default_factory=dict)  #: buffer, index, thread …
    hint: str = ""  #: what to do
    count: int = 1  #: how often it happened here

    @property
    def identity(self) -> tuple[str, str, Place, tuple[Place, ...]]:
        """What two reports of one mistake have in common."""
        return self.code, self.kernel, self.place, self.others


@dataclass(frozen=True)
class Rule:
    """What findings of one code have in common."""

    code: str
    name: str  #: a few words joined by hyphens
    summary: str  #: a sentence
    severity: Severity = "warning"
    url: str = ""  #: the page that explains it


def once_per_place(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each mistake once, in the order of first reports, with how often it was reported."""
    merged: dict[object, Finding] = {}
    for finding in findings:
        first = merged.get(finding.identity)
        merged[finding.identity] = (
            replace(first, count=first.count + finding.count) if first else finding
        )
    yield from merged.values()
