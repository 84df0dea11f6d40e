"""docs/mlx-kernels.md, out of what the runs have left in their folder."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any

import anymetal
from anymetal.frontend import toolchain
from anymetal.testing.mlx_kernels.state import Log
from anymetal.testing.mlx_kernels.units import UNITS

PAGE = Path(anymetal.__file__).parent.parent / "docs" / "mlx-kernels.md"

_INTRODUCTION = """\
# The kernels of MLX's own Metal back end

Kernels that MLX's `.metal` files instantiate are compiled, with MLX's own headers and no others, \
to machine code for this processor. Then they run, with arguments, grids and threadgroups as MLX's \
host code would choose them for their names, and NumPy's results in double precision, or those of \
MLX's CPU operations, are what they are compared with. Written by

    make mlx-kernels MLX_SRC=checkout-of-mlx

which needs a checkout of MLX {checkout} and fetches nothing. What is done stands in the folder \
`MLX_STATE`, so that the same command goes on where the one before has stopped.

**Of {kernels} kernels in {units} of MLX's {all_units} units, {tried} were tried so far: {made} of \
these compile. {ran} ran, {right} of them right.**{rest}

Function constants of `bool` are true, and those of "align" false, so that the code for edges is \
there; in units for matrix units (`nax`), where that doubles the time, they are true, too. Kernels \
that run get what fits their arguments.

"""
_SOME = " The others were not tried: the command was stopped, or told to take a sample."
_TABLE = """\
| unit | kernels | tried | compile | processor time each | machine code each | run | right | \
worst error, float32 | 16 bits |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
_LEGEND = """
A kernel is tried if it was compiled ahead of time or for a launch. Processor time is that of all \
processes, Clang's included, and machine code the size of the shared library, both for those that \
were compiled ahead of time. Errors are relative to the value wanted, or to 1 if that is less, and \
for sums to the sum of the absolute values; integers and booleans must be equal. What is allowed \
are a few times the distance of 1 to the next number of the type: 2 or 3 for most operations of 16 \
bits, 16 to 32 for those of float32, more by the root of their number where numbers are added up \
or multiplied. \
`-`: no such kernel was run.
"""
_FOUND = """
## What was found in MLX's kernels

Where MLX's own kernels go wrong on any machine, so that the checks leave it out or allow for it:

* layer_norm, `layer_norm` and `vjp_layer_norm`: threads that lie behind the end of their row (its \
length is not within 8 below a multiple of 256) write `mean` to places in front of the private \
array `thread_x`, as the index begins with `n`, which is negative.
* steel_conv, `channel_l_filter_l` with flipped filters and padding: \
`Conv2DInputBlockLoaderLargeFilter` begins to read at the other end of the filter, but asks \
whether the place at this end is inside of the input, so that it reads outside of it, and takes \
zeros for what is inside.
* steel_gemm_fused, `complex64`: what is added to a product, and the factors, are floats, so that \
the imaginary parts of a matrix that is added get lost.
* gemv_masked: where the outputs are no multiple of what a thread makes, the last thread may \
take factors of the block next to its own.
* steel_attention, `float32` with 192 and 256 numbers a head: needs more threadgroup memory than \
Metal has, and `force_fused=True` reaches it.
* unary, `Expm1`: leaves out the low half of log(2), so that 80 times the distance of 1 to the \
next number is allowed.
* unary, `Sqrt` of `complex64`: the smaller part of a root is what the absolute value leaves of \
the real part (or of its negative), and has few right bits where that is little. `ArcSin` and \
`ArcCos` are computed with it.
* unary, `FromFP8`: NaN (the bits 0x7F) becomes 480; MLX's CPU operation gives NaN.
"""
#: 95 % of a normal distribution lie within so many standard deviations.
_DEVIATIONS = NormalDist().inv_cdf(0.975)
_VERSION = re.compile(r"^#define MLX_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", re.M)
_SIXTEEN_BITS = re.compile(r"b?float16|complex32")

Record = dict[str, Any]
Kernel = tuple[str, str]  #: a unit and a name


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
    counts = {one["unit"]: one["kernels"] for one in Log(state / "units.jsonl")}
    compiled = _by_unit(Log(state / "compiled.jsonl"))
    checked = _by_unit(Log(state / "checked.jsonl"))
    units = [
        _Unit(one.short, counts[one.name], compiled.get(one.name, []), checked.get(one.name, []))
        for one in UNITS
        if one.name in counts
    ]
    whole = _Unit("all", sum(counts.values()), _together(compiled), _together(checked))
    return "".join(
        [
            _INTRODUCTION.format(
                checkout=checkout,
                kernels=f"{whole.kernels:,}",
                units=len(units),
                all_units=len(UNITS),
                tried=f"{len(whole.tried):,}",
                made=f"{len(whole.made):,}",
                ran=f"{len(whole.ran):,}",
                right=f"{len(whole.right):,}",
                rest=_SOME if len(whole.tried) < whole.kernels else "",
            ),
            _TABLE,
            *(one.row() for one in (*units, whole)),
            _LEGEND,
            *(_sampled(state, whole) if len(whole.tried) < whole.kernels else _cost(whole)),
            *_runs(state),
            _FOUND,
            *_listed("Kernels that are not compiled", whole.compiled, ("failed",)),
            *_listed("Kernels that need more memory than Metal has", whole.records, ("limit",)),
            *_listed("Kernels whose results are wrong", whole.checked, ("wrong",)),
            *_listed("Kernels that gave no result", whole.checked, ("failed",)),
            *_listed("Kernels that MLX never launches", whole.checked, ("unused",)),
        ]
    )


def _by_unit(records: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for one in records:
        found.setdefault(one["unit"], []).append(one)
    return found


def _together(units: dict[str, list[Record]]) -> list[Record]:
    return [one for records in units.values() for one in records]


@dataclass(frozen=True)
class _Unit:
    """What is known of the kernels of a file, or of all."""

    name: str
    kernels: int
    compiled: Sequence[Record]  #: what was tried to be
    checked: Sequence[Record]

    @property
    def records(self) -> list[Record]:
        return [*self.compiled, *self.checked]

    @property
    def ran(self) -> list[Record]:
        """What has given a result, right or wrong."""
        return [one for one in self.checked if one["outcome"] in ("right", "wrong")]

    @property
    def right(self) -> list[Record]:
        return [one for one in self.checked if one["outcome"] == "right"]

    @property
    def tried(self) -> set[Kernel]:
        return _names(one for one in self.records if one["outcome"] != "unused")

    @property
    def made(self) -> set[Kernel]:
        """Kernels that compile, as they were compiled or have run."""
        return _names([*self._ahead, *self.ran])

    @property
    def _ahead(self) -> list[Record]:
        return [one for one in self.compiled if one["outcome"] == "compiled"]

    def row(self) -> str:
        """Of the table."""
        ahead = self._ahead
        cells = [
            self.name,
            str(self.kernels),
            str(len(self.tried)),
            str(len(self.made)),
            f"{sum(one['seconds'] for one in ahead) / len(ahead):.1f} s" if ahead else "-",
            f"{sum(one['size'] for one in ahead) / len(ahead) / 1e3:.0f} kB" if ahead else "-",
            str(len(self.ran)),
            str(len(self.right)),
            _worst(one for one in self.right if not _SIXTEEN_BITS.search(one["kernel"])),
            _worst(one for one in self.right if _SIXTEEN_BITS.search(one["kernel"])),
        ]
        return "| " + " | ".join(cells) + " |\n"


def _names(records: Iterable[Record]) -> set[Kernel]:
    return {(one["unit"], one["kernel"]) for one in records}


def _worst(records: Iterable[Record]) -> str:
    errors = [one["error"] for one in records]
    return f"{max(errors):.1e}" if errors else "-"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"


def _sampled(state: Path, whole: _Unit) -> Iterator[str]:
    """What a random sample tells of all kernels; nothing without one."""
    drawn = list(Log(state / "drawn.jsonl"))
    names = _names(one for one in drawn if one["seed"] == drawn[-1]["seed"])
    tried = [one for one in whole.compiled if (one["unit"], one["kernel"]) in names]
    if not tried:
        return
    made = sum(one["outcome"] == "compiled" for one in tried)
    limit = sum(one["outcome"] == "limit" for one in tried)
    low, high = wilson(made, len(tried))
    seconds = [one["seconds"] for one in tried]
    hours = whole.kernels * fmean(seconds) / 3600
    off = whole.kernels * _DEVIATIONS * stdev(seconds) / len(seconds) ** 0.5 / 3600
    yield (
        "\n## What a sample tells of all\n\n"
        f"{len(tried):,} kernels were drawn at random from all of these units (seed "
        f"{drawn[-1]['seed']}) and compiled ahead of time. {made:,} of them compile, which is "
        f"{made / len(tried):.2%}; {limit} need more threadgroup memory than Metal has. So "
        f"{low:.2%} to {high:.2%} of all kernels compile (Wilson's interval of 95 % confidence). "
        f"Compiling all takes an estimated {hours:.1f} ± {off:.1f} hours of one processor (mean of "
        "the sample and 1.96 standard errors), in processes of up to "
        f"{max(one['peak'] for one in tried)} MiB.\n"
    )


def _cost(whole: _Unit) -> Iterator[str]:
    """Of compiling all kernels, once that is done."""
    hours = sum(one["seconds"] for one in whole.compiled) / 3600
    yield (
        f"\nCompiling {len(whole.compiled):,} kernels ahead of time took {hours:.1f} hours of one "
        f"processor, in processes of up to {max(one['peak'] for one in whole.compiled)} MiB.\n"
    )


def wilson(good: int, count: int) -> tuple[float, float]:
    """The interval in which a proportion lies with 95 % confidence (Wilson, 1927, "Probable
    inference, the law of succession, and statistical inference")."""
    z, rate = _DEVIATIONS, good / count
    middle = (rate + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * (rate * (1 - rate) / count + z * z / (4 * count**2)) ** 0.5
    return middle - half, min(1.0, middle + half)


def _runs(state: Path) -> Iterator[str]:
    """Those with the same circumstances are one."""
    yield "\n## Runs\n\n"
    together: dict[tuple[Any, ...], list[Record]] = {}
    for one in Log(state / "runs.jsonl"):
        key = tuple(one[name] for name in ("phase", "jobs", "processor", "versions"))
        together.setdefault(key, []).append(one)
    for (phase, jobs, processor, versions), runs in together.items():
        seconds = sum(one["seconds"] for one in runs)
        yield (
            f"* {sum(one['kernels'] for one in runs)} kernels {phase} in {_duration(seconds)} on "
            f"the clock, by {jobs} process{'es' if jobs > 1 else ''} of at most "
            f"{max(one['peak'] for one in runs)} MiB (the tools that it starts likewise), beside "
            f"whatever else the machine had to do. {processor}. {versions}.\n"
        )


def _listed(title: str, records: Sequence[Record], outcomes: Sequence[str]) -> Iterator[str]:
    """Kernels by the reason that they have in common."""
    reasons: dict[str, dict[str, None]] = {}
    for one in records:
        if one["outcome"] in outcomes:
            reason = one["reason"].strip().rpartition("\n")[2]
            reasons.setdefault(f"{_short(one['unit'])}: {reason}", {})[one["kernel"]] = None
    if reasons:
        yield f"\n## {title}\n\n"
    for reason, kernels in reasons.items():
        more = f" and {len(kernels) - 4} more" if len(kernels) > 4 else ""
        yield f"* {reason}: {', '.join(f'`{name}`' for name in list(kernels)[:4])}{more}\n"


def _short(unit: str) -> str:
    return unit.rpartition("/")[2]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
