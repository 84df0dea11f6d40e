"""docs/mlx-kernels.md, out of what the runs have left in their folder."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anymetal
from anymetal.frontend import toolchain
from anymetal.testing.mlx_kernels.families import CHECKS
from anymetal.testing.mlx_kernels.state import Log
from anymetal.testing.mlx_kernels.units import UNITS

PAGE = Path(anymetal.__file__).parent.parent / "docs" / "mlx-kernels.md"

_INTRODUCTION = """\
# The kernels of MLX's own Metal back end

Every kernel that MLX's `.metal` files instantiate is compiled, with MLX's own headers and no \
others, to machine code for this processor. Then kernels run, with arguments, grids and \
threadgroups as MLX's host code would choose them for their names, and NumPy's results in double \
precision, or those of MLX's CPU operations, are what they are compared with. Written by

    make mlx-kernels MLX_SRC=checkout-of-mlx

which needs a checkout of MLX {checkout} and fetches nothing. What is done stands in the folder \
`MLX_STATE`, so that the same command goes on where the one before has stopped.

Function constants of `bool` are true, and those of "align" false, so that the code for edges is \
there; in units for matrix units (`nax`), where that doubles the time, they are true, too.

"""
_TABLE = """\
| unit | kernels | compiled | processor time | machine code | checked | right | worst error, \
float32 | 16 bits |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
_LEGEND = """
Processor time is that of all processes, Clang's included; machine code is the size of the shared \
libraries. Errors are relative to the value wanted, or to 1 if that is less, and for sums to the \
sum of the absolute values; integers and booleans must be equal. What is allowed are a few times \
the distance of 1 to the next number of the type: 2 for operations of 16 bits, 16 to 32 for those \
of float32, more by the root of their number where numbers are added up. `-`: no such kernel was \
run.
"""
_VERSION = re.compile(r"^#define MLX_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", re.M)
_SIXTEEN_BITS = re.compile(r"b?float16")

Record = dict[str, Any]


def circumstances() -> dict[str, str]:
    """Where kernels are compiled and run, and with what."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} threads",
        "versions": f"AnyMetal {anymetal.__version__}, MLX {version('mlx')}, "
        f"Clang {toolchain.clang_version()}, LLVM {toolchain.llvm_version()}, "
        f"NumPy {version('numpy')}, Python {platform.python_version()}",
    }


def write(state: Path, source: Path) -> None:
    """Writes the page for a checkout of MLX.

    Raises OSError if one of the two folders is not what it should be.
    """
    numbers = _VERSION.findall((source / "mlx" / "version.h").read_text(encoding="utf-8"))
    PAGE.write_text(text(state, ".".join(numbers)), encoding="utf-8")


def text(state: Path, checkout: str) -> str:
    """The whole page. `checkout`: the version of MLX."""
    compiled = _by_unit(Log(state / "compiled.jsonl"))
    checked = _by_unit(Log(state / "checked.jsonl"))
    units = [unit for unit in UNITS if unit.name in compiled or unit.name in checked]
    rows = [_row(one.short, compiled.get(one.name, []), checked.get(one.name, [])) for one in units]
    rows.append(_row("all", _together(compiled), _together(checked)))
    return "".join(
        [
            _INTRODUCTION.format(checkout=checkout),
            _TABLE,
            *rows,
            _LEGEND,
            *_runs(state),
            *_listed("Kernels that are not compiled", _together(compiled), ("failed", "limit")),
            *_listed("Kernels whose results are wrong", _together(checked), ("wrong",)),
            *_listed("Kernels that gave no result", _together(checked), ("failed",)),
            *_listed("Kernels that MLX never launches", _together(checked), ("unused",)),
            *_unchecked(list(compiled)),
        ]
    )


def _by_unit(records: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for one in records:
        found.setdefault(one["unit"], []).append(one)
    return found


def _together(units: dict[str, list[Record]]) -> list[Record]:
    return [one for records in units.values() for one in records]


def _row(name: str, compiled: Sequence[Record], checked: Sequence[Record]) -> str:
    made = [one for one in compiled if one["outcome"] == "compiled"]
    ran = [one for one in checked if one["outcome"] != "unused"]
    right = [one for one in ran if one["outcome"] == "right"]
    cells = [
        name,
        str(len(compiled)),
        str(len(made)),
        _duration(sum(one["seconds"] for one in compiled)),
        f"{sum(one['size'] for one in made) / 1e6:.1f} MB",
        str(len(ran)) if checked else "-",
        str(len(right)) if checked else "-",
        _worst(one for one in right if not _SIXTEEN_BITS.search(one["kernel"])),
        _worst(one for one in right if _SIXTEEN_BITS.search(one["kernel"])),
    ]
    return "| " + " | ".join(cells) + " |\n"


def _worst(records: Iterable[Record]) -> str:
    errors = [one["error"] for one in records]
    return f"{max(errors):.1e}" if errors else "-"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"


def _runs(state: Path) -> Iterator[str]:
    yield "\n## Runs\n\n"
    for one in Log(state / "runs.jsonl"):
        yield (
            f"* {one['kernels']} kernels {one['phase']} in {_duration(one['seconds'])}, by "
            f"{one['jobs']} processes, each of at most {one['peak']} MiB (the tools that it "
            f"starts likewise). {one['processor']}. {one['versions']}.\n"
        )


def _listed(title: str, records: Sequence[Record], outcomes: Sequence[str]) -> Iterator[str]:
    """Kernels by the reason that they have in common."""
    reasons: dict[str, list[str]] = {}
    for one in records:
        if one["outcome"] in outcomes:
            reason = one["reason"].strip().rpartition("\n")[2]
            reasons.setdefault(f"{_short(one['unit'])}: {reason}", []).append(one["kernel"])
    if reasons:
        yield f"\n## {title}\n\n"
    for reason, kernels in reasons.items():
        more = f" and {len(kernels) - 4} more" if len(kernels) > 4 else ""
        yield f"* {reason}: {', '.join(f'`{name}`' for name in kernels[:4])}{more}\n"


def _unchecked(units: Sequence[str]) -> Iterator[str]:
    names = [_short(name) for name in units if _short(name) not in CHECKS]
    if names:
        yield f"\n## Not checked\n\nCompiled only: {', '.join(names)}.\n"


def _short(unit: str) -> str:
    return unit.rpartition("/")[2]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
