"""`anymetal spot --write`: what was printed, into a page."""

from __future__ import annotations

import time
from pathlib import Path

BEGIN, END = "<!-- begin: written by anymetal spot --write -->", "<!-- end -->"


def problem(page: Path) -> str:
    """Why a page cannot be written to; empty if it can."""
    if not page.is_file():
        return "there is no such file"
    _, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    return "" if begin and END in rest else f"it has no lines {BEGIN} and {END}"


def write(page: Path, command: str, printed: str) -> None:
    """Put a command and what it printed between the two marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [f"$ {command}", *(line.rstrip() for line in printed.splitlines())]
    block = "\n".join([BEGIN, "```", *lines, "```", "", f"({time.strftime('%Y-%m-%d')})", END])
    page.write_text(before + block + after, encoding="utf-8")
