"""What is done, in a folder: JSON lines that one call after the other adds to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Log:
    """A file of records, one a line; what was cut off in the middle of a line is forgotten."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        if path.exists() and (text := path.read_bytes()) and not text.endswith(b"\n"):
            path.write_bytes(text[: text.rfind(b"\n") + 1])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if self._path.exists():
            with self._path.open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def add(self, record: dict[str, Any]) -> None:
        """Writes a record, so that the end of this process does not lose it."""
        with self._path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(record) + "\n")
