"""What the linter knows of a kernel: its texts, and how the program launches it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from math import prod
from typing import Any

from anymetal.findings.model import Place
from anymetal.lint.text import File, Text

#: For each axis the number of threads, None if it is not known.
Extent = tuple["int | None", "int | None", "int | None"]
UNKNOWN_EXTENT: Extent = (None, None, None)
#: Stands for a template argument of which only that is known.
DTYPE = "a dtype"


@dataclass(frozen=True)
class Launch:
    """A call of a kernel, as far as it is known."""

    grid: Extent = UNKNOWN_EXTENT
    threadgroup: Extent = UNKNOWN_EXTENT
    template: tuple[tuple[str, Any], ...] = ()  #: names; values, `DTYPE`, or None
    output_dtypes: tuple[str | None, ...] = ()
    initialised: bool = False  #: whether outputs have, or may have, a value before
    inputs: tuple[Any, ...] = ()  #: numbers, where an input is one; else None
    open: bool = False  #: there are arguments that are not known at all, such as **options
    node: ast.Call | None = None

    @property
    def threads(self) -> int | None:
        """Threads of a threadgroup: no more than the grid has."""
        sizes = [t if g is None or t is None else min(g, t) for g, t in self._axes()]
        return prod(size for size in sizes if size is not None) if None not in sizes else None

    def _axes(self) -> list[tuple[int | None, int | None]]:
        return list(zip(self.grid, self.threadgroup, strict=True))


@dataclass
class Kernel:
    """A kernel in a file."""

    name: str
    file: File
    body: Text
    header: Text
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    atomic_outputs: bool = False
    math_mode: str = "safe"
    launches: list[Launch] = field(default_factory=list)
    node: ast.Call | None = None

    def text(self, part: str) -> Text:
        """The text of "header" or "source"."""
        return self.header if part == "header" else self.body

    def place(self, part: str, line: int, column: int, length: int = 1, message: str = "") -> Place:
        """A place in one of the texts as a place in the file."""
        text = self.text(part)
        lines = text.value.split("\n")
        before = sum(len(one) + 1 for one in lines[: line - 1])
        offset = before + max(column, 1) - 1
        last = len(text) - 1
        if not lines[0] and last < 0:
            return Place(self.file.name, 0, message=message)
        at, column_in_file = self.file.position(max(text.places[min(offset, last)], 0))
        shown = self.file.line(at)
        whole = text.range_in_file(offset, min(offset + length, last + 1))
        end = column_in_file + length if whole else 0
        inside = self.node is not None
        return Place(
            self.file.name,
            at,
            column_in_file,
            shown,
            end,
            message,
            part if inside else "",
            line if inside else 0,
        )

    def at_argument(self, name: str) -> Place:
        """The place of an argument of `metal_kernel`, or of the call."""
        assert self.node is not None
        found = [keyword.value for keyword in self.node.keywords if keyword.arg == name]
        return self.at_call(found[0] if found else self.node)

    def at_call(self, node: ast.expr, message: str = "") -> Place:
        """The place of an expression of the program."""
        start = self.file.offset(node.lineno, node.col_offset)
        line, column = self.file.position(start)
        end = 0
        if node.end_lineno == node.lineno and node.end_col_offset is not None:
            end = self.file.position(self.file.offset(node.lineno, node.end_col_offset))[1]
        return Place(self.file.name, line, column, self.file.line(line), end, message)


@dataclass(frozen=True)
class Unchecked:
    """A kernel, or a file, that could not be looked at; `failed` if that is a fault."""

    place: Place
    reason: str
    failed: bool = False
