"""The launches behind the rows, for programs that do not run them here."""

from __future__ import annotations

import importlib

from anymetal import targets
from anymetal.targets.base import Launch
from anymetal.testing.gpu_suite.pack import Notes, Stopped
from benchmarks import rivals
from benchmarks.harness import Race, Row

_GROUPS = (
    "elementwise reductions compute matmul matrices transformer irregular scans sampling"
).split()


def kernel_rows() -> list[Row]:
    """All rows that are kernels. Their C++ is not built, as it is for this machine."""
    rivals.native = lambda *_, **__: lambda: None
    groups = (importlib.import_module(f"benchmarks.rows.{group}") for group in _GROUPS)
    return [row for group in groups for row in group.ROWS]


def launch_of(race: Race) -> Launch:
    """The first launch of our contender, which does not happen."""
    notes = Notes()
    targets.select(notes)
    try:
        race.ours()
    except Stopped:
        pass
    finally:
        targets.select(None)
    return notes.launches[0][0]
