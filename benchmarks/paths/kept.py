"""What was measured, as a JSON file beside each picture: so it can be drawn and read anew."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

#: Where pages find their pictures.
FOLDER = Path(__file__).parents[2] / "docs" / "paths"
#: Written by all of them together: the gain of the path that the switch takes.
OVERVIEW = "autoswitch"


@dataclass(frozen=True)
class Times:
    """A diagram's seconds: for each line its time by size."""

    title: str
    axis: str
    lines: dict[str, dict[int, float]]


@dataclass(frozen=True)
class Picture:
    """The diagrams of a subject, and the circumstances in which they were measured."""

    name: str
    panels: list[Times]
    device: str
    conditions: dict[str, str]
    date: str


def save(picture: Picture) -> None:
    """Keep a picture's numbers, to three digits."""
    FOLDER.mkdir(exist_ok=True)
    kept = asdict(picture)
    for panel in kept["panels"]:
        for line in panel["lines"].values():
            line.update((size, float(f"{seconds:.3g}")) for size, seconds in line.items())
    text = json.dumps(kept, ensure_ascii=False, indent=1)
    (FOLDER / f"{picture.name}.json").write_text(text + "\n", encoding="utf-8")


def load(name: str) -> Picture | None:
    """What is kept under a name."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))
    panels = [
        Times(
            panel["title"],
            panel["axis"],
            {
                line: {int(size): seconds for size, seconds in times.items()}
                for line, times in panel["lines"].items()
            },
        )
        for panel in kept["panels"]
    ]
    return Picture(kept["name"], panels, kept["device"], kept["conditions"], kept["date"])
