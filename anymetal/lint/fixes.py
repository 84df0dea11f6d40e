"""Repairs that are safe to make without a person: replacements of a few characters in a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from anymetal.ir.model import Location
from anymetal.lint.kernels import Kernel
from anymetal.lint.source_files import read
from anymetal.lint.text import File


class Edit(NamedTuple):
    """Put `new` in the place of `old`, which stands in the file from `start` on."""

    start: int
    old: str
    new: str

    @classmethod
    def insertion(
        cls, kernel: Kernel, part: str, location: Location, old: str, new: str
    ) -> Edit | None:
        """An edit at a place in a kernel's text, if the file has these characters as they are: not
        made by an escape, or by joining strings."""
        text = kernel.text(part)
        lines = text.value.split("\n")
        start = sum(len(line) + 1 for line in lines[: location.line - 1]) + location.column - 1
        return cls.at(kernel, part, start, old, new)

    @classmethod
    def at(cls, kernel: Kernel, part: str, start: int, old: str, new: str) -> Edit | None:
        """The same at an offset in the text."""
        text = kernel.text(part)
        found = text.range_in_file(start, start + len(old))
        if found is None or kernel.file.text[found[0] : found[1]] != old:
            return None
        return cls(found[0], old, new)


def apply(file: File, edits: Iterable[Edit]) -> int:
    """Writes the file with these edits; how many were made. Raises OSError.

    If the file is not what was checked, nothing is changed.
    """
    path = Path(file.name)
    now, encoding = read(path)
    if now != file.text:
        return 0
    made, end = 0, len(now)
    for edit in sorted(set(edits), reverse=True):
        stop = edit.start + len(edit.old)
        if stop > end or now[edit.start : stop] != edit.old:
            continue
        now = now[: edit.start] + edit.new + now[stop:]
        made, end = made + 1, edit.start
    if made:
        _replace(path, now.encode(encoding))
    return made


def _replace(path: Path, content: bytes) -> None:
    """Writes a file as a whole or not at all; it keeps its permissions."""
    path = path.resolve()
    mode = path.stat().st_mode
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "wb") as new:
            new.write(content)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
