"""The kernels of tests/kernels as the compiler sees them: their sources and launches."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import mlx.core as mx

from anymetal import targets
from anymetal.source import KernelSource
from anymetal.targets import Launch, Target
from anymetal.targets.cpu.variant import Variant, variant_for
from anymetal.testing.metal_case import MetalCase, parse, run

_FOLDER = Path(__file__).parents[1] / "kernels"


class CorpusCase(NamedTuple):
    """One file, run for one dtype."""

    name: str
    case: MetalCase
    dtype: str

    def run(self) -> None:
        """Runs it on the target in use; raises AssertionError if the result is wrong."""
        run(self.case, self.dtype)

    def launch(self) -> Launch:
        """What its call hands to a target."""
        recorder = _Recorder()
        targets.select(recorder)
        try:
            self.run()
        except _Recorded as recorded:
            return recorded.launch
        finally:
            targets.select(None)
        raise AssertionError(f"{self.name} launches nothing")

    def source(self) -> tuple[KernelSource, Variant]:
        """Its source, and the class of its launch."""
        launch = self.launch()
        x, y, z = map(min, launch.threadgroup, launch.grid)
        return launch.source, variant_for(launch.grid, (x, y, z))


class _Recorded(BaseException):
    """Ends a call, past anybody who expects errors of the kernel."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch


class _Recorder(Target):
    name = "recorder"

    def run(self, launch: Launch) -> list[mx.array]:
        raise _Recorded(launch)


@functools.cache
def corpus() -> Sequence[CorpusCase]:
    """Every case that launches a kernel which compiles."""
    cases = [parse(path) for path in sorted(_FOLDER.rglob("*.metal"))]
    return [
        CorpusCase(" ".join([str(case.path.relative_to(_FOLDER)), dtype]).strip(), case, dtype)
        for case in cases
        for dtype in case.dtypes
        if not case.all("error")
    ]
