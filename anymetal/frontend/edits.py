"""Changes of the user's text at places that Clang names, before it is compiled again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from anymetal.frontend.metal_tokens import offset_of
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource

#: Where a message of Clang begins.
PLACE = r"^(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): "
_MACRO = re.compile(PLACE + "note: expanded from macro", re.M)
_NEXT = re.compile(r": (?:warning|error): ")


class Edit(NamedTuple):
    """A text in the place of another."""

    start: int
    end: int
    text: str


class Position(NamedTuple):
    """An offset in a part of the user's text."""

    part: str
    offset: int


class Edits:
    """What is to be changed in the header and the body of a kernel."""

    def __init__(self, source: KernelSource) -> None:
        self.texts = source.parts
        self._source = source
        self._edits: dict[str, set[Edit]] = {part: set() for part in self.texts}

    def place(self, match: re.Match[str]) -> Position | None:
        """Where in the user's text a message points; None if it does not. Clang counts bytes."""
        for part, text in self.texts.items():
            if match["file"] == part_name(self._source, part):
                line = text.split("\n")[int(match["line"]) - 1].encode()[: int(match["column"]) - 1]
                column = len(line.decode(errors="ignore")) + 1
                return Position(part, offset_of(text, int(match["line"]), column))
        return None

    def places(self, match: re.Match[str]) -> Iterator[Position]:
        """The place of a message, and those in the macros that it comes from."""
        following = _NEXT.search(match.string, match.end())
        end = following.start() if following else len(match.string)
        for message in (match, *_MACRO.finditer(match.string, match.end(), end)):
            if place := self.place(message):
                yield place

    def add(self, part: str, edits: Iterable[Edit]) -> None:
        self._edits[part].update(edits)

    def applied(self) -> KernelSource | None:
        """The kernel with all changes; None if there are none."""
        if not any(self._edits.values()):
            return None
        texts = dict(self.texts)
        for part, edits in self._edits.items():
            for edit in sorted(edits, reverse=True):
                texts[part] = texts[part][: edit.start] + edit.text + texts[part][edit.end :]
        return self._source.with_parts(texts)
