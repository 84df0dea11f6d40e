"""Results on disk: one JSON file a row, so that rows measured alone can stand in one table.

They can if machine, tools, threads and AnyMetal's own code are the same; others are left out.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anymetal
from anymetal.cli.doctor import findings
from anymetal.runtime.disk_cache import digest
from anymetal.timing import Timing
from benchmarks import rivals
from benchmarks.harness import Result

FOLDER = Path(__file__).parent / "results"
_PACKAGES = ("mlx", "torch", "numpy")


@dataclass(frozen=True)
class Measured:
    """A result and the circumstances in which it was taken."""

    result: Result
    conditions: dict[str, str]  #: the same for all rows of a table
    date: str
    load: str


def conditions(threads: int) -> dict[str, str]:
    """Machine and versions: without them no figure means anything."""
    machine = {
        finding.name: finding.value
        for finding in findings()
        if finding.section in ("machine", "tools") and finding.state == "good"
        if finding.name != "helper processes"  # a path
    }
    return {
        **machine,
        "C++ rivals": rivals.compiler(),
        "threads used": str(threads),
        "Python": platform.python_version(),
        "packages": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        "AnyMetal": f"{anymetal.__version__}, sources {_sources()}",
    }


def now() -> tuple[str, str]:
    """The date, and how busy the machine is: its load over 1, 5 and 15 minutes."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return time.strftime("%Y-%m-%d %H:%M"), load


def save(measured: Measured) -> None:
    """Keep a row, in the place of an older result of the same."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{measured.result.name}.json"
    path.write_text(json.dumps(asdict(measured), ensure_ascii=False))


def load(names: Sequence[str], wanted: dict[str, str]) -> Iterator[Measured]:
    """Of these rows what was measured under such conditions, in their order."""
    for name in names:
        path = FOLDER / f"{name}.json"
        if path.exists():
            kept = json.loads(path.read_text())
            if kept["conditions"] == wanted:
                result = kept.pop("result")
                timings = [Timing(t["name"], tuple(t["seconds"])) for t in result.pop("timings")]
                yield Measured(Result(**result, timings=timings), **kept)


def save_table(name: str, table: Sequence[object], taken: dict[str, str]) -> None:
    """Keep a finished table that is no row, such as that of the latencies."""
    FOLDER.mkdir(exist_ok=True)
    kept = {"conditions": taken, "table": table}
    (FOLDER / f"{name}.json").write_text(json.dumps(kept, ensure_ascii=False))


def load_table(name: str, wanted: dict[str, str]) -> Any:
    """Such a table, if it was made under these conditions, else None."""
    path = FOLDER / f"{name}.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    return kept["table"] if kept.get("conditions") == wanted else None


def _sources() -> str:
    """A short digest of AnyMetal's code."""
    package = Path(anymetal.__file__).parent
    files = sorted(p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return digest(*(part for p in files for part in (p.name, p.read_bytes())))[:12]
