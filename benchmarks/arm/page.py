"""The page with the table."""

from __future__ import annotations

import datetime
import math
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from anymetal.runtime import zig
from benchmarks.arm.loops import analyser

#: What our loops may cost, in those of the C++.
BOUND = 1.3


class Cost(NamedTuple):
    """Of a row's work, on one core."""

    cycles: float  #: of an element
    spills: int
    lanes: int


class Measured(NamedTuple):
    """A row of the table."""

    row: str
    core: str
    ours: Cost
    theirs: Cost

    @property
    def ratio(self) -> float:
        """Our cycles in those of the C++."""
        return self.ours.cycles / self.theirs.cycles


def mean(found: Sequence[Measured]) -> float:
    """The geometric mean of the ratios."""
    return math.exp(sum(math.log(one.ratio) for one in found) / len(found))


def written(found: Sequence[Measured]) -> str:
    """The page."""
    cores = list(dict.fromkeys(one.core for one in found))
    head = "| row | " + " | ".join(f"{core} | ÷ C++ | spills | lanes" for core in cores) + " |"
    lines = [head, "|---" * (1 + 4 * len(cores)) + "|"]
    for row in dict.fromkeys(one.row for one in found):
        cells = [_cells(one) for one in found if one.row == row]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    means = [f"| {mean([one for one in found if one.core == core]):.2f} | |" for core in cores]
    lines.append(f"| geometric mean | {' | '.join(means)} |")
    model = subprocess.run([analyser(), "--version"], capture_output=True, text=True).stdout
    clang = subprocess.run([zig.zig_path(), "clang", "--version"], capture_output=True, text=True)
    return (
        (Path(__file__).parent / "page.md")
        .read_text()
        .format(
            table="\n".join(lines),
            bound=BOUND,
            within=sum(one.ratio <= BOUND for one in found),
            count=len(found),
            date=datetime.date.today(),
            model=" ".join(model.split("version")[1].split()[:1]),
            clang=clang.stdout.split("version")[1].split()[0],
        )
    )


def _cells(one: Measured) -> str:
    ratio = f"{one.ratio:.2f}" if one.ratio <= BOUND else f"**{one.ratio:.2f}**"
    spills = f"{one.ours.spills} / {one.theirs.spills}"
    return f"{one.ours.cycles:.3f} | {ratio} | {spills} | {one.ours.lanes} / {one.theirs.lanes}"
