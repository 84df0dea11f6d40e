"""Clang's syntax tree of a kernel: its nodes, with places in the user's text.

Clang prints a location as an offset, and names the file only where it differs from that of the
location before. The text of the translation unit is ours, so an offset tells part, line and column.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterator
from typing import Any

from anymetal.frontend import literals
from anymetal.frontend.dialect import as_written
from anymetal.frontend.unit import part_name, translation_unit
from anymetal.ir.model import Location
from anymetal.source import KernelSource

Node = dict[str, Any]
_INPUT = "<stdin>"
_CONVERSIONS = ("ImplicitCastExpr", "ParenExpr", "MaterializeTemporaryExpr", "ExprWithCleanups")


class Tree:
    """The tree of one kernel, of which Clang has printed it as JSON."""

    def __init__(self, source: KernelSource, printed: str) -> None:
        self.source = source
        self.root: Node = json.loads(printed)
        self.parent: dict[int, Node] = {}
        self._unit = translation_unit(self.source).encode()
        self._parts = sorted(
            (start + len(marker), part)
            for part in ("header", "source")
            if (start := self._unit.find(marker := self._marker(part))) >= 0
        )
        self._note_files()

    def _marker(self, part: str) -> bytes:
        return f'#line 1 "{part_name(self.source, part)}"\n'.encode()

    def _note_files(self) -> None:
        """Writes into each location which file it is in."""
        current = ""
        work: list[Any] = [self.root]
        while work:
            one = work.pop()
            if isinstance(one, dict):
                if "offset" in one:
                    current = one.get("file", current)
                    one["in"] = current
                for child in one.get("inner", ()):
                    self.parent[id(child)] = one
                work += reversed(one.values())
            elif isinstance(one, list):
                work += reversed(one)

    def nodes(self) -> Iterator[Node]:
        """All nodes, in the order of the text. Where a template has become a function, both are
        here: the template's own expressions have no types yet."""
        work = [self.root]
        while work:
            node = work.pop()
            yield node
            work += reversed([one for one in node.get("inner", ()) if one])

    def offset(self, node: Node, end: bool = False) -> int | None:
        """Where in the translation unit a node begins (or its last word does)."""
        at = node.get("range", {}).get("end" if end else "begin", {})
        if "expansionLoc" not in at:
            return self._offset(at)
        offset = self._offset(at["expansionLoc"])
        if offset is None or not literals.is_name(self._unit, offset):
            return None  # it comes out of a macro of the user's
        return offset

    def _offset(self, at: Node) -> int | None:
        return at["offset"] if at.get("in") == _INPUT and "offset" in at else None

    def text(self, node: Node) -> str:
        """The text of a node, as the user wrote it."""
        start, last = self.offset(node), self.offset(node, end=True)
        if start is None or last is None:
            return ""
        at = node["range"]["end"]
        end = last + at.get("expansionLoc", at).get("tokLen", 0)
        return as_written(self._unit[start:end].decode(errors="replace"))

    def location(self, node: Node) -> Location | None:
        """Where a node begins, or the macro that it comes out of; None if that is not in the
        user's text. The column counts characters."""
        begin = node.get("range", {}).get("begin", {})
        offset = self._offset(begin.get("expansionLoc", begin))
        if offset is None:
            return None
        number = bisect.bisect_right(self._parts, (offset, "~")) - 1
        if number < 0:
            return None
        start, part = self._parts[number]
        line = self._unit.count(b"\n", start, offset) + 1
        before = self._unit[self._unit.rfind(b"\n", 0, offset) + 1 : offset]
        column = len(as_written(before.decode(errors="ignore"))) + 1
        return Location(part_name(self.source, part), line, column)


def stripped(node: Node) -> Node:
    """The expression under parentheses and conversions that the text does not show."""
    while node.get("kind") in _CONVERSIONS and node.get("inner"):
        node = node["inner"][0]
    return node


def type_of(node: Node) -> str:
    """The type of an expression, without const, references and names for it."""
    type_ = node.get("type", {})
    text = str(type_.get("desugaredQualType", type_.get("qualType", "")))
    return text.removeprefix("const ").removesuffix(" &").strip()
