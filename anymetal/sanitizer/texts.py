"""Places in the texts of a kernel: from "source:2:12" to a line that people can read, and find.

A kernel's body is mostly a literal in a Python file. If the file whose line launches the kernel has
the body in it, once and unchanged, places are those of the file, so that editors and code scanning
open it. Otherwise they count from the beginning of the body, as in compile errors.
"""

from __future__ import annotations

import functools
import linecache
import sys
from pathlib import Path
from typing import NamedTuple

from anymetal.findings import Place
from anymetal.findings.model import kernel_file
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource, LibrarySource

_PACKAGE = str(Path(__file__).parent.parent) + "/"
_MOST_CHARACTERS = 1 << 22  #: of a file that is searched for a body


class Launched(NamedTuple):
    """The line of the program that launched a kernel."""

    file: str
    line: int

    @property
    def place(self) -> Place:
        """For a report."""
        text = linecache.getline(self.file, self.line).rstrip("\n")
        return Place(self.file, self.line, text=text, message="launched here")


def launched() -> Launched | None:
    """The innermost line of the stack that is not ours."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_PACKAGE, "<frozen")):
            return Launched(file, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return None


class Texts:
    """The texts of one kernel."""

    def __init__(self, source: KernelSource, launch: Launched | None) -> None:
        self._name = source.name
        self._parts = {"source": source.body}
        if isinstance(source, LibrarySource):
            self._parts = {part_name(source, part): text for part, text in source.parts.items()}
        elif source.header:
            self._parts["header"] = source.header
        file = launch.file if launch else ""
        self._found = {
            part: (file, at) for part, text in self._parts.items() if (at := _position(file, text))
        }

    def place(self, where: str, message: str = "") -> Place:
        """The place that a site of the machine code names: `part:line:column`, or nothing."""
        part, line, column = [*where.rsplit(":", 2), "", ""][:3]
        if part not in self._parts or not line.isdecimal() or not column.isdecimal():
            return Place(kernel_file(self._name), 0, message=message)
        number, at = int(line), int(column)
        lines = self._parts[part].split("\n")
        text = lines[number - 1] if 0 < number <= len(lines) else ""
        if part in self._found:
            file, (first, before) = self._found[part]
            at += before if number == 1 and at else 0
            number += first - 1
            text = linecache.getline(file, number).rstrip("\n") or text
            return Place(file, number, at, text, _end(text, at), message, part, int(line))
        file = part if part not in ("source", "header") else kernel_file(self._name)
        told = "" if part == "source" else part
        return Place(file, number, at, text, _end(text, at), message, told, number if told else 0)

    def whole(self) -> Place:
        """The kernel, and no place in it."""
        return Place(kernel_file(self._name), 0)


def _end(text: str, column: int) -> int:
    """Behind the name that begins here, or 0."""
    end = column
    while 0 < end <= len(text) and (text[end - 1].isalnum() or text[end - 1] == "_"):
        end += 1
    return end if end > column else 0


@functools.lru_cache(maxsize=256)
def _position(file: str, text: str) -> tuple[int, int] | None:
    """Line and column in front of the only place where the file has this text."""
    if not text.strip() or not file:
        return None
    whole = "".join(linecache.getlines(file))
    if len(whole) > _MOST_CHARACTERS or whole.count(text) != 1:
        return None
    at = whole.index(text)
    return whole.count("\n", 0, at) + 1, at - (whole.rfind("\n", 0, at) + 1)
