"""docs/accuracy.md out of measurements: one table per type, the levels of CPU features beside."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anymetal.testing.math_samples import BFLOAT, FLOAT, FORMATS, Format
from anymetal.testing.math_table import FUNCTIONS, Function

_Key = tuple[str, str, str]  # function, namespace, type
_Table = Mapping[str, Mapping[_Key, "Measurement"]]

_INTRODUCTION = """\
# Accuracy

What the mathematical functions are off by at most, in units in the last place (ulp) of the exact \
result, beside what Metal's specification allows. Measured by

    {command}

on {machine}, {system}, {library}.

How it is measured:

- Every function runs in a kernel of `anymetal.metal_kernel`, 32 lanes at once, under each level \
of CPU features; `native` is everything this processor has.
- Arguments: for one-argument functions of half and bfloat all 65,536; else about {count} per \
function, over all exponents (subnormals, huge numbers), in the ranges where a function changes, \
at the neighbours of its branch points, zeros and poles (multiples of π/2 up to 10³⁷), all pairs \
of edge cases, and second arguments chosen to be difficult with the first.
- Exact values come from double arithmetic, wrong by 10⁻⁸ ulp of float at most; the number in the \
table is computed again with mpmath. 0 means that the result is always the exact one, 0.5 that it \
is always the nearest number (correctly rounded).
- float and bfloat: arithmetic flushes subnormals to zero, as on Apple's GPUs, so a subnormal may \
count as zero and a result below the smallest normal number as any such. half keeps its subnormals.
- A NaN where a number is due, or the reverse, would be an infinite error.

`metal::precise` holds the same functions as the plain names. `fast::` has a row of its own where \
it is another function{fast_log}.
"""

_FAST_LOG = """; where Metal's bound for it is tighter, that bound holds as well (`fast::log` and \
`fast::log2` are bounded by an absolute error between ½ and 2, and are measured outside)"""

_BFLOAT = """
Metal has no functions of bfloat: they compute in float and round once more, so the bound is half \
a unit and the float's error.
"""


@dataclass(frozen=True)
class Measurement:
    """The largest error found of one function."""

    function: str
    space: str
    kind: str
    bound: float
    error: float
    arguments: tuple[float, ...]
    result: float

    @property
    def label(self) -> str:
        return self.space + self.function

    @property
    def holds(self) -> bool:
        return self.error <= self.bound

    def __str__(self) -> str:
        given = ", ".join(f"{value:.9g}" for value in self.arguments)
        return (
            f"{self.kind} {self.label}({given}) = {self.result:.9g}: "
            f"{self.error:.4f} ulp, bound {self.bound:.4g}"
        )


def page(by_level: Mapping[str, Sequence[Measurement]], count: int) -> str:
    """The whole document."""
    table = {
        level: {(m.function, m.space, m.kind): m for m in found}
        for level, found in by_level.items()
    }
    parts = [
        _INTRODUCTION.format(
            command="python -m anymetal.testing.accuracy --write",
            machine=_processor(),
            system=f"{platform.system()} {platform.machine()}",
            library=" ".join(platform.libc_ver()) or "an unknown C library",
            count=f"{count:,}",
            fast_log=_FAST_LOG,
        )
    ]
    for kind in FORMATS:
        parts.append(f"## {kind.name}\n{_BFLOAT if kind is BFLOAT else ''}")
        parts.append(_type_table(table, kind))
    return "\n".join(parts)


def _type_table(table: _Table, kind: Format) -> str:
    head = ["function", "bound", *table]
    lines = [_row(head), _row(["---", "---:", *["---"] * len(table)])]
    for function in FUNCTIONS:
        for space in ("", "fast::"):
            if space and not _differs(table, function, kind):
                continue
            cells = [table[level][function.name, space, kind.name] for level in table]
            name = f"`{space}{function.name}`"
            lines.append(_row([name, _bound(kind, function, space), *map(_cell, cells)]))
    return "\n".join(lines) + "\n"


def _differs(table: _Table, function: Function, kind: Format) -> bool:
    """Whether fast:: has other errors than the plain name, or another bound."""
    if not function.variants:
        return False
    if kind is FLOAT and function.fast is not None:
        return True
    return any(
        found[function.name, "", kind.name].error != found[function.name, "fast::", kind.name].error
        for found in table.values()
    )


def _bound(kind: Format, function: Function, space: str) -> str:
    bound = kind.bound(function, space)
    return "none" if math.isinf(bound) else f"{_rounded_up(bound):g}"


def _cell(measurement: Measurement) -> str:
    if measurement.error == 0:
        return "0"
    if math.isinf(measurement.bound):
        return "unbounded"
    given = ", ".join(f"{value:.9g}" for value in measurement.arguments)
    return f"{_rounded_up(measurement.error):.4f} at {given}"


def _rounded_up(ulps: float) -> float:
    return math.ceil(ulps * 1e4 - 1e-3) / 1e4


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _processor() -> str:
    """The processor's name, as far as the system tells."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or f"a machine with {os.cpu_count()} processors"
