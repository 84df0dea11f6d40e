"""The pairs of refused.txt, and the table of them in docs/differences-from-mlx.md.

python -m tests.frontend.refused --write    the table, after a change of the pairs
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "differences-from-mlx.md"
BEGIN, END = "<!-- pairs of tests/frontend/refused.txt -->\n", "<!-- end of the pairs -->\n"
_PARTS = {"h": "header", "l": "file", " ": "source"}
_KINDS = {"?": "error", "~": "warning"}


@dataclass
class Pair:
    """A rule with a text that breaks it and one that keeps it, by parts."""

    rule: str
    bad: dict[str, str] = field(default_factory=dict)
    good: dict[str, str] = field(default_factory=dict)
    kind: str = ""  #: "error" or "warning"
    says: str = ""


def pairs() -> list[Pair]:
    """All pairs."""
    found: list[Pair] = []
    for line in Path(__file__).with_name("refused.txt").read_text().splitlines():
        kind, part, text = line[:1], line[1:2], line[2:].strip()
        if kind == "=":
            found.append(Pair(text))
        elif kind in _KINDS:
            found[-1].kind, found[-1].says = _KINDS[kind], text
        elif kind in ("-", "+"):
            texts = found[-1].bad if kind == "-" else found[-1].good
            name = _PARTS[part]
            texts[name] = texts.get(name, "") + text + "\n"
    return found


def table() -> str:
    """The pairs as a table."""
    rows = [f"| {p.rule} | {_cell(p.bad)} | {_cell(p.good)} | {p.kind} |\n" for p in pairs()]
    return "| rule | Metal refuses | near to it and right | here |\n|---|---|---|---|\n" + "".join(
        rows
    )


def _cell(texts: dict[str, str]) -> str:
    text = " ".join("".join(texts.values()).replace("§", "").split())
    return f"`{text}`".replace("|", "\\|")


def page_with(rows: str) -> str:
    """The page with these rows in the place of its own."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}{rows}{END}{rest.partition(END)[2]}"


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(page_with(table()))
