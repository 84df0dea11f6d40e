"""How long kernels take to compile: `python -m benchmarks.compile_time [FILE.metal …]`.

By default the largest test case and one of the usual size. Each is launched once, which checks the
result; then the pipeline runs again, with warm tools and no caches, and the fastest of several
turns is split into its stages, and behind them into the passes that the stages "passes" and
"vectorizer" are made of. On a busy machine look at the processor time: it counts what this
process and Clang computed, not how long they waited.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from anymetal.source import KernelSource
    from anymetal.targets.cpu.variant import Variant

_CASES = Path(__file__).parents[1] / "tests" / "kernels" / "large"
_TURNS = 5


def main() -> None:
    """Compile the cases that the command line names and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.compile_time")
    parser.add_argument("files", nargs="*", type=Path, default=sorted(_CASES.glob("*.metal")))
    parser.add_argument("--turns", type=int, default=_TURNS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="anymetal-") as folder:
        os.environ["ANYMETAL_CACHE_DIR"] = folder
        for file in options.files:
            _show(file, _fastest(file, options.turns))


class Turn(NamedTuple):
    """One compilation."""

    stages: dict[str, float]  #: seconds
    passes: dict[str, float]  #: likewise: parts of stages
    processor: float  #: seconds of all processors

    @property
    def seconds(self) -> float:
        return sum(self.stages.values())


def _fastest(file: Path, turns: int) -> list[tuple[str, Turn]]:
    """Every variant that the case needs, and its fastest turn."""
    from anymetal.targets.cpu.library import follow
    from anymetal.testing.metal_case import parse, run

    kernels = follow()
    case = parse(file)
    run(case, case.dtypes[0])
    found = []
    for source, variant in kernels:
        made = [_turn(source, variant) for _ in range(turns)]
        found.append((variant.text, min(made, key=lambda turn: turn.seconds)))
    return found


def _turn(source: KernelSource, variant: Variant) -> Turn:
    from anymetal.runtime import zig
    from anymetal.targets.cpu.compiler import compile_kernel
    from anymetal.targets.cpu.stages import GangStages

    stages, before = GangStages(), os.times()
    code = compile_kernel(source, variant, stages)
    with stages.stage("link"):
        zig.link_shared(code)
    return Turn(stages.times, stages.passes, sum(os.times()[:4]) - sum(before[:4]))


def _show(file: Path, found: list[tuple[str, Turn]]) -> None:
    """A table of stages and one of passes for each variant, in the order in which they run."""
    lines = len(file.read_text().splitlines())
    for variant, turn in found:
        print(
            f"{file.name} ({lines} lines), {variant}: {turn.seconds:.3f} s, "
            f"{turn.processor:.3f} s of processor time"
        )
        for stage, seconds in turn.stages.items():
            print(f"  {stage:16} {seconds:7.3f} s  {100 * seconds / turn.seconds:3.0f} %")
        for name, seconds in turn.passes.items():
            print(f"    {name:26} {1000 * seconds:7.1f} ms {100 * seconds / turn.seconds:5.1f} %")


if __name__ == "__main__":
    main()
