"""The page with the table."""

from __future__ import annotations

import datetime
import math
import subprocess
from collections.abc import Sequence
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
    return _PAGE.format(
        table="\n".join(lines),
        bound=BOUND,
        within=sum(one.ratio <= BOUND for one in found),
        count=len(found),
        date=datetime.date.today(),
        model=" ".join(model.split("version")[1].split()[:1]),
        clang=clang.stdout.split("version")[1].split()[0],
        notes=_NOTES,
    )


def _cells(one: Measured) -> str:
    ratio = f"{one.ratio:.2f}" if one.ratio <= BOUND else f"**{one.ratio:.2f}**"
    spills = f"{one.ours.spills} / {one.theirs.spills}"
    return f"{one.ours.cycles:.3f} | {ratio} | {spills} | {one.ours.lanes} / {one.theirs.lanes}"


_PAGE = """\
# Inner loops on Arm, by a static model

`python -m benchmarks.arm --write` made this page on {date}: nothing in it was measured. Our kernels, with the sizes of their launches compiled in as in the benchmark, and the C++ of the same rows ([rivals](rivals)) are compiled for four cores by Clang {clang}; the loops that do the work are cut out of both, and `llvm-mca` of LLVM {model} says how many cycles an iteration takes among many if all memory is in the first-level cache and no branch is mispredicted.

Each core has four columns: cycles of an element of ours (of a fused multiply-add in products of matrices, of a step of a pixel in `mandelbrot`), these in cycles of the C++, instructions that spill registers (ours / C++), and lanes of vectors that are moved by themselves (ours / C++). Above {bound}, ratios are bold: {within} of {count} are within.

{table}

{notes}"""

_NOTES = """\
"""
