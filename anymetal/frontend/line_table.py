"""Places in the user's text, from Clang's line table."""

from __future__ import annotations

import re

from anymetal.errors import AnyMetalError, MetalCompileError
from anymetal.frontend.edits import Position
from anymetal.frontend.forbidden import Finding
from anymetal.frontend.metal_tokens import offset_of
from anymetal.frontend.unit import part_name
from anymetal.source import KernelSource


class Places:
    """Line table entries of the IR as places in the user's text."""

    def __init__(self, source: KernelSource, ir: str) -> None:
        self._source = source
        self._ir = ir

    def error(self, entry: str, text: str) -> AnyMetalError:
        """A MetalCompileError at this place."""
        from anymetal.frontend.diagnostics import error_at

        found = self.position(entry)
        if found is None:
            return MetalCompileError(self._source.name, f"error: {text}")
        return error_at(self._source, [Finding(*found, text)])

    def name(self, entry: str) -> str:
        """`k: header:3:12: `, or nothing if the place is not known."""
        found = self.find(entry)
        if found is None:
            return ""
        part, line, column = found
        return f"{part_name(self._source, part)}:{line}:{column}: "

    def position(self, entry: str) -> Position | None:
        """Part and offset; None if it is not in the user's text."""
        found = self.find(entry)
        if found is None:
            return None
        part, line, column = found
        return Position(part, offset_of(self._source.parts[part], line, column))

    def find(self, entry: str) -> tuple[str, int, int] | None:
        """Part, line and column; None if it is not in the user's text."""
        location = re.search(r"line: (\d+)(?:, column: (\d+))?", self._metadata(entry))
        file = re.search(r'filename: "((?:[^"\\]|\\.)*)"', self._metadata(self._file(entry)))
        if location is None or file is None:
            return None
        for part, text in self._source.parts.items():
            if file[1] == part_name(self._source, part):
                line, column = int(location[1]), int(location[2] or 1)
                lines = text.split("\n")
                if line <= len(lines):  # Clang counts bytes
                    before = lines[line - 1].encode()[: column - 1]
                    return part, line, len(before.decode(errors="ignore")) + 1
        return None

    def _file(self, entry: str) -> str:
        """The file entry of a location: scopes name it, or the scope around them does."""
        while entry:
            text = self._metadata(entry)
            if file := re.search(r"file: (!\d+)", text):
                return file[1]
            scope = re.search(r"scope: (!\d+)", text)
            entry = scope[1] if scope else ""
        return ""

    def _metadata(self, entry: str) -> str:
        found = re.search(rf"^{entry} = (.*)$", self._ir, re.M) if entry else None
        return found[1] if found else ""
