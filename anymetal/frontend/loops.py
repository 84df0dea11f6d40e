"""Loops in the LLVM text of a module: their blocks, and their places in the user's text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from anymetal.ir.cfg import Dominators, dominates, dominators, postorder

_FUNCTION = re.compile(r"^define (?:.*\n)+?}$", re.M)
_NAME = r"[\w.$-]+|\"[^\"]+\""
_LABEL = re.compile(rf"^({_NAME}):.*\n", re.M)
_TARGET = re.compile(rf"label %({_NAME})")
_TERMINATOR = re.compile(r"^  (?:br|switch|ret|unreachable)\b", re.M)
#: On an edge back to the beginning of a loop.
LOOP_MARK = re.compile(r"!llvm\.loop !(\d+)")
_METADATA = re.compile(r"^!(\d+) = (.*)$", re.M)
_LOCATION = re.compile(
    r"!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: !(\d+)(?:, inlinedAt: !(\d+))?"
)
_SCOPE = re.compile(r"scope: !(\d+)")
_SUBPROGRAM = re.compile(r'!DISubprogram\(name: "([^"]*)".*?line: (\d+)')


class Place(NamedTuple):
    """A place in a function of the user's text."""

    function: str
    line: int
    column: int


class Level(NamedTuple):
    """A place, and the line table entry of the call that was inlined there."""

    place: Place
    caller: str


class Loop(NamedTuple):
    """A loop of the user's text that is a loop of the function."""

    header: str
    latches: frozenset[str]
    blocks: frozenset[str]
    begin: Level
    end: Level

    @property
    def is_macro(self) -> bool:
        """Whether the whole loop comes from one macro, and so has one place."""
        return self.begin.place == self.end.place

    def surrounds(self, level: Level) -> bool:
        """Whether this is a place in the loop's text."""
        inside = self.begin.place < level.place <= self.end.place
        return inside and level.caller == self.begin.caller


class LineTable:
    """The places in a module's metadata."""

    def __init__(self, text: str) -> None:
        self._entries = dict(_METADATA.findall(text, text.find("\n!")))  # behind all functions

    def levels(self, entry: str) -> Iterator[Level]:
        """The place of an entry, then the places of the calls that it was inlined by."""
        while match := _LOCATION.search(self._entries.get(entry, "")):
            line, column, scope, caller = match.groups("")
            yield Level(Place(self._function(scope), int(line), int(column or 0)), caller)
            entry = caller

    def extent(self, loop: str) -> tuple[Level, Level] | None:
        """Where the text of a loop begins and ends; None for a loop of our headers."""
        parts = re.findall(r"!(\d+)", self._entries.get(loop, ""))
        ends = [level for part in parts for level in list(self.levels(part))[:1]]
        return (ends[0], ends[1]) if len(ends) >= 2 else None

    def _function(self, scope: str) -> str:
        while entry := self._entries.get(scope, ""):
            if match := _SUBPROGRAM.search(entry):
                return f"{match[1]}:{match[2]}"
            above = _SCOPE.search(entry)
            scope = above[1] if above else ""
        return ""


def last_instruction(block: str) -> int:
    """Where in the text of a block the instruction begins that ends it."""
    *_, last = _TERMINATOR.finditer(block)
    return last.start()


class Function:
    """A function as text, block by block."""

    def __init__(self, text: str, table: LineTable) -> None:
        self.text = text
        self._table = table

    @staticmethod
    def all(text: str) -> list[Function]:
        """The functions of a module."""
        table = LineTable(text)
        return [Function(match[0], table) for match in _FUNCTION.finditer(text)]

    @cached_property
    def blocks(self) -> dict[str, str]:
        """The instructions of each block; the first one has no name in LLVM's own text."""
        first, *rest = _LABEL.split(self.text.split("\n", 1)[1])
        blocks = {"": first} if first else {}
        blocks.update(zip(rest[::2], rest[1::2], strict=True))
        return blocks

    @cached_property
    def name(self) -> str:
        """Its symbol."""
        return self.text.split("@", 1)[1].split("(", 1)[0]

    def changed(self, blocks: dict[str, str]) -> Function:
        """The function with other blocks."""
        head = self.text.split("\n", 1)[0]
        body = "".join(f"{name}:\n{text}" if name else text for name, text in blocks.items())
        return Function(f"{head}\n{body}", self._table)

    def levels(self, entry: str) -> Iterator[Level]:
        return self._table.levels(entry)

    @cached_property
    def successors(self) -> dict[str, list[str]]:
        return {
            name: _TARGET.findall(text, last_instruction(text))
            for name, text in self.blocks.items()
        }

    @cached_property
    def _dominators(self) -> Dominators[str]:
        return dominators(next(iter(self.blocks)), self.successors.__getitem__)

    def returns(self, source: str, target: str) -> bool:
        """Whether an edge from `source` leads back to a block that dominates it."""
        return source in self._dominators and dominates(self._dominators, target, source)

    @cached_property
    def loops(self) -> list[Loop]:
        """All loops of the user's text, inner ones last."""
        found: dict[tuple[str, str], set[str]] = {}
        for block, text in self.blocks.items() if LOOP_MARK.search(self.text) else ():
            if match := LOOP_MARK.search(text, last_instruction(text)):
                for target in self.successors[block]:
                    if self.returns(block, target):
                        found.setdefault((target, match[1]), set()).add(block)
        loops = []
        for (header, entry), latches in found.items():
            before = [block for block in self.blocks if header in self.successors[block]]
            latches.update(block for block in before if self.returns(block, header))
            if extent := self._table.extent(entry):
                blocks = frozenset(self._between(header, latches))
                loops.append(Loop(header, frozenset(latches), blocks, *extent))
        return sorted(loops, key=lambda loop: loop.begin.place)

    @property
    def has_nameless_loops(self) -> bool:
        """Whether control goes back anywhere without a mark that names the loop."""
        return any(
            self.returns(block, target) and not LOOP_MARK.search(text, last_instruction(text))
            for block, text in self.blocks.items()
            for target in self.successors[block]
        )

    def _between(self, header: str, latches: set[str]) -> set[str]:
        before: dict[str, list[str]] = {name: [] for name in self.blocks}
        for name in self._dominators:  # what can be reached
            for target in self.successors[name]:
                before[target].append(name)
        found, work = {header}, list(latches)
        while work:
            block = work.pop()
            if block not in found:
                found.add(block)
                work += before[block]
        return found

    def leaves(self, loop: Loop, block: str) -> bool:
        """Whether control may leave the loop from this block of it."""
        return any(target not in loop.blocks for target in self.successors[block])

    def behind(self, block: str) -> set[str]:
        """What can be reached from a block without going back."""
        return set(
            postorder(block, lambda b: [t for t in self.successors[b] if not self.returns(b, t)])
        )
