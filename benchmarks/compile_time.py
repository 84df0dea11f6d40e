"""How long kernels take to compile: `python -m benchmarks.compile_time [FILE.metal …]`.

By default the largest test case and one of the usual size. Each is launched once, which checks the
result; then the pipeline runs again, with warm tools and no caches, and the fastest of several
rounds is split into its stages, and behind them into the passes that the stages "passes" and
"vectorizer" are made of. On a busy machine look at the processor time: it counts what this
process and Clang computed, not how long they waited.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from anymetal.source import KernelSource
    from anymetal.targets.cpu.variant import Variant

_CASES = Path(__file__).parents[1] / "tests" / "kernels" / "large"
_ROUNDS = 5


def main() -> None:
    """Compile the cases that the command line names and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.compile_time")
    parser.add_argument("files", nargs="*", type=Path, default=sorted(_CASES.glob("*.metal")))
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="anymetal-") as folder:
        os.environ["ANYMETAL_CACHE_DIR"] = folder
        for file in options.files:
            _show(file, _fastest(file, options.rounds))


class Timing(NamedTuple):
    """One compilation."""

    stages: dict[str, float]  #: seconds
    passes: dict[str, float]  #: likewise: parts of stages
    processor: float  #: seconds of all processors

    @property
    def seconds(self) -> float:
        return sum(self.stages.values())


def _fastest(file: Path, rounds: int) -> list[tuple[str, Timing]]:
    """Every variant that the case needs, and its fastest round."""
    from anymetal.targets.cpu.code_lookup import follow
    from anymetal.testing.metal_case import parse, run

    kernels = follow()
    case = parse(file)
    run(case, case.dtypes[0])
    found = []
    for source, variant in kernels:
        made = [_timed(source, variant) for _ in range(rounds)]
        found.append((variant.text, min(made, key=lambda timing: timing.seconds)))
    return found


def _timed(source: KernelSource, variant: Variant) -> Timing:
    from anymetal.targets.cpu.compiler import compile_kernel
    from anymetal.targets.cpu.reporting import GangStages

    gc.collect()
    gc.disable()  # as in a helper (runtime/helper_main.py)
    stages, before = GangStages(), os.times()
    compile_kernel(source, variant, stages)
    processor = sum(os.times()[:4]) - sum(before[:4])
    gc.enable()
    return Timing(stages.times, stages.passes, processor)


def _show(file: Path, found: list[tuple[str, Timing]]) -> None:
    """A table of stages and one of passes for each variant, in the order in which they run."""
    lines = len(file.read_text().splitlines())
    for variant, timing in found:
        print(
            f"{file.name} ({lines} lines), {variant}: {timing.seconds:.3f} s, "
            f"{timing.processor:.3f} s of processor time"
        )
        for stage, seconds in timing.stages.items():
            print(f"  {stage:16} {seconds:7.3f} s  {100 * seconds / timing.seconds:3.0f} %")
        for name, seconds in timing.passes.items():
            print(f"    {name:26} {1000 * seconds:7.1f} ms {100 * seconds / timing.seconds:5.1f} %")


if __name__ == "__main__":
    main()
