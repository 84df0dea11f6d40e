"""What was done, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from scripts.arm.parts import PARTS
from scripts.arm.progress import LOST, outcomes

_HEAD = "| machine | part | passed | failed | lost | skipped |\n|---|---|---|---|---|---|"
_COLUMNS = ("passed", "failed", LOST, "skipped")


def file_of(state: Path, machine: str, part: str) -> Path:
    """Where it stands what was done of a part."""
    return state / "progress" / f"{machine}.{part}"


def is_good(found: Mapping[str, str]) -> bool:
    """Whether nothing failed."""
    return {"failed", LOST}.isdisjoint(found.values())


def counted(found: Mapping[str, str]) -> str:
    """How many tests came out how, in words."""
    counts = Counter(found.values())
    return ", ".join(f"{counts[name]} {name}" for name in _COLUMNS if counts[name]) or "no tests"


def table(state: Path) -> str:
    """A row for each machine and part; then what failed."""
    rows, wrong = [_HEAD], []
    for file in sorted((state / "progress").glob("*.*")):
        machine, _, name = file.name.partition(".")
        found = outcomes(file)
        counts = Counter(found.values())
        figures = " | ".join(str(counts[column]) for column in _COLUMNS)
        rows.append(f"| {machine} | {PARTS[name].what} | {figures} |")
        wrong += [
            f"{machine}: {outcome}: {test}"
            for test, outcome in found.items()
            if outcome in ("failed", LOST)
        ]
    return "\n".join([*rows, *([""] if wrong else []), *wrong])
