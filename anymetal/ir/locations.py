"""Where in the user's text instructions come from, according to LLVM's debug metadata."""

from __future__ import annotations

import re

from anymetal.ir.model import Location


class Locations:
    """The metadata nodes of a module."""

    def __init__(self) -> None:
        self.nodes: dict[str, str] = {}  #: "!12" -> text of the node
        self.known: dict[str, Location | None] = {}
        self.files: dict[str, str] = {}  #: by scope

    def add(self, line: str) -> None:
        """Takes in a line that defines a node."""
        key, _, text = line.partition(" = ")
        self.nodes[key] = text

    def of(self, line: str) -> Location | None:
        """The place of an instruction in the user's text."""
        found = re.search(r"!dbg (!\d+)", line)
        if not found:
            return None
        key = found.group(1)
        return self.known[key] if key in self.known else self._resolve(key)

    def _resolve(self, key: str) -> Location | None:
        """The innermost place in the user's text: inlined header code counts as its caller. Line 0
        is LLVM's sign for instructions that stand for several lines."""
        seen: list[str] = []
        found: Location | None = None
        while key and key not in self.known:
            seen.append(key)
            place = _fields(self.nodes.get(key, ""))
            where, line = self._file_of(place.get("scope", "")), int(place.get("line", 0))
            if line and _is_users(where):
                found = Location(where, line, int(place.get("column", 0)))
                break
            key = place.get("inlinedAt", "")
        else:
            found = self.known.get(key)
        self.known.update(dict.fromkeys(seen, found))
        return found

    def _file_of(self, scope: str) -> str:
        """The file of a scope: its own, or that of the scope around it."""
        seen: list[str] = []
        file = ""
        while scope and scope not in self.files:
            self.files[scope] = ""  # in case scopes form a circle
            seen.append(scope)
            fields = _fields(self.nodes.get(scope, ""))
            if "file" in fields:
                file = _fields(self.nodes.get(fields["file"], "")).get("filename", "")
                break
            scope = fields.get("scope", "")
        else:
            file = self.files.get(scope, "")
        self.files.update(dict.fromkeys(seen, file))
        return file


def _is_users(where: str) -> bool:
    """Whether a file is the user's: a part of a kernel, a Metal file, or one that it includes.

    Our headers have paths from the root, or from where Clang is. `signature` and `wrapper` are
    parts of a kernel's text that we write, and `<stdin>` is what stands in front of all parts.
    """
    ours = where.startswith(("/", "./", "<")) or where.endswith((": signature", ": wrapper"))
    return bool(where) and not ours


def _fields(text: str) -> dict[str, str]:
    """Fields of a metadata node such as !DILocation(line: 1, column: 3, scope: !20)."""
    return {k: v.strip('"') for k, v in re.findall(r'(\w+): ("[^"]*"|[^,()]+)', text)}
