"""Findings for people: what is wrong, the line, and a caret below the column.

    kernels.py:12:9: error: threadgroup_barrier in divergent control flow [AM101]
       12 |         threadgroup_barrier(mem_flags::mem_threadgroup);
          |         ^~~~~~~~~~~~~~~~~~~
    kernels.py:11:5: note: threads differ here

The form is that of Clang, and of the package's own compile errors. Colours are for terminals only.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TextIO

from anymetal.findings.model import Finding, Place

if TYPE_CHECKING:
    from rich.text import Text

_TAB = 4
_STYLES = {"error": "bold red", "warning": "bold magenta", "note": "bold cyan"}


class _Piece(NamedTuple):
    text: str
    style: str = ""


def as_text(finding: Finding) -> str:
    """Several lines, without colours and without a newline at the end."""
    return "\n".join("".join(piece.text for piece in line) for line in _lines(finding))


def as_rich(finding: Finding) -> Text:
    """The same in colours."""
    from rich.text import Text

    return Text("\n").join(
        Text.assemble(*((piece.text, piece.style) for piece in line)) for line in _lines(finding)
    )


def write(findings: Iterable[Finding], file: TextIO | None = None) -> None:
    """Writes findings to a stream (standard output), in colours if that is a terminal."""
    file = file or sys.stdout
    if not file.isatty():
        for finding in findings:
            print(as_text(finding), file=file)
        return
    from rich.console import Console

    console = Console(file=file, highlight=False, soft_wrap=True)
    for finding in findings:
        console.print(as_rich(finding))


def summary(findings: Iterable[Finding]) -> str:
    """`2 errors and 1 warning`"""
    numbers = {"error": 0, "warning": 0, "note": 0}
    for finding in findings:
        numbers[finding.severity] += 1
    parts = [f"{n} {kind}{'s' if n != 1 else ''}" for kind, n in numbers.items() if n]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[:-1] else parts) or "nothing"


def _lines(finding: Finding) -> Iterator[list[_Piece]]:
    tail = f" [{finding.code}]" + (f" (× {finding.count})" if finding.count > 1 else "")
    yield _head(finding.place, finding.severity, finding.message, tail)
    yield from _shown(finding.place)
    if (inside := _inside(finding)) != "":
        yield [_Piece("    in "), _Piece(inside)]
    if finding.details:
        told = ", ".join(f"{name} {_value(value)}" for name, value in finding.details.items())
        yield [_Piece("    with "), _Piece(told)]
    for other in finding.others:
        yield _head(other, "note", other.message, "")
        yield from _shown(other)
    if finding.hint:
        yield [_Piece("hint: ", "bold"), _Piece(finding.hint)]


def _head(place: Place, kind: str, message: str, tail: str) -> list[_Piece]:
    return [
        _Piece(f"{place}: ", "bold"),
        _Piece(f"{kind}: ", _STYLES[kind]),
        _Piece(message, "bold" if kind != "note" else ""),
        _Piece(tail, "dim"),
    ]


def _inside(finding: Finding) -> str:
    """Which kernel, if the name of the file does not tell; and where in its text."""
    place = finding.place
    parts = [f"kernel {finding.kernel}"] if finding.kernel and place.is_file else []
    if place.part:
        parts.append(f"line {place.part_line} of its {place.part}")
    return ", ".join(parts)


def _value(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(str, value))})"
    return str(value)


def _shown(place: Place) -> Iterator[list[_Piece]]:
    """The line, and a caret below the column. Tabs and wide characters take the room they take."""
    if place.line <= 0 or not place.text.strip():
        return
    text = place.text.rstrip()
    yield [_Piece(f"{place.line:5} | ", "dim"), _Piece(_printable(text))]
    if 0 < place.column <= len(text) + 1:
        before = _width(text[: place.column - 1])
        marked = _width(text[place.column - 1 : max(place.end_column, place.column + 1) - 1])
        tildes = "~" * (marked - 1)
        yield [_Piece("      | ", "dim"), _Piece(" " * before + "^" + tildes, "bold green")]


def _printable(text: str) -> str:
    return "".join(
        c if c.isprintable() else " " * _TAB if c == "\t" else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )


def _width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    return sum(_TAB if c == "\t" else _cells(c) for c in text)


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
