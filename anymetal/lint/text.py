"""Strings of a program that know, character by character, where in its file they come from."""

from __future__ import annotations

import bisect
import itertools
import re
import textwrap
from collections.abc import Iterable
from functools import cached_property

from anymetal.source import with_newlines


class File:
    """A file of the user's, as text."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def line(self, number: int) -> str:
        """A line without its end."""
        if not 0 < number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else None].rstrip("\r")

    def offset(self, line: int, utf8_column: int) -> int:
        """The offset of what Python's `ast` gives as line (from 1) and column (in bytes)."""
        start = self._starts[line - 1]
        before = self.line(line).encode()[:utf8_column]
        return start + len(before.decode(errors="ignore"))


class Text:
    """A string, and for each of its characters the offset in the file (-1: made by a program)."""

    def __init__(self, value: str, places: Iterable[int]) -> None:
        self.value = with_newlines(value)
        self.places = tuple(places)
        assert len(self.places) == len(value)

    @classmethod
    def at(cls, value: str, offset: int) -> Text:
        """A string that comes from one place as a whole."""
        return cls(value, [offset] * len(value))

    @classmethod
    def whole(cls, file: File) -> Text:
        """The text of a file."""
        return cls(file.text, range(len(file.text)))

    @classmethod
    def joined(cls, parts: Iterable[Text]) -> Text:
        """Several strings, one after the other."""
        parts = list(parts)
        places = itertools.chain.from_iterable(part.places for part in parts)
        return cls("".join(part.value for part in parts), places)

    def __add__(self, other: Text) -> Text:
        return Text(self.value + other.value, self.places + other.places)

    def __getitem__(self, part: slice) -> Text:
        return Text(self.value[part], self.places[part])

    def __len__(self) -> int:
        return len(self.value)

    def replaced(self, old: str, new: Text) -> Text:
        """As `str.replace`."""
        if not old:
            return self
        parts, at = [], 0
        while (found := self.value.find(old, at)) >= 0:
            parts += [self[at:found], new]
            at = found + len(old)
        return Text.joined([*parts, self[at:]])

    def stripped(self, left: bool = True, right: bool = True) -> Text:
        """As `str.strip`, `lstrip` and `rstrip` without arguments."""
        start = len(self.value) - len(self.value.lstrip()) if left else 0
        end = len(self.value.rstrip()) if right else len(self.value)
        return self[start : max(start, end)]

    def dedented(self) -> Text:
        """As `textwrap.dedent`, which only takes characters away from the fronts of lines."""
        parts, at = [], 0
        lines = textwrap.dedent(self.value).split("\n")
        for number, (old, new) in enumerate(zip(self.value.split("\n"), lines, strict=True)):
            start = at + len(old) - len(new) if old.endswith(new) else at + len(old)
            end = at + len(old)
            parts += [self[at - 1 : at] if number else self[0:0], self[start:end]]
            at = end + 1
        return Text.joined(parts)

    def range_in_file(self, start: int, end: int) -> tuple[int, int] | None:
        """The characters of the file that make up a part of the string, if they stand there in one
        piece and as they are."""
        places = self.places[start:end]
        if not places or places[0] < 0:
            return None
        if any(b - a != 1 for a, b in itertools.pairwise(places)):
            return None
        return places[0], places[-1] + 1
