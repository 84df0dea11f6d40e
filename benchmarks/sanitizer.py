"""What the sanitizer costs: `python -m benchmarks.sanitizer [ROW or GROUP …]`.

Runs the rows of the benchmark with and without it, neither PyTorch nor the C++ beside them (they
need not be there), and prints for each how many times as long a launch takes and how much memory
it touches beside its arrays. Plain launches use all processors, sanitized ones use one; the time is
that of launches alone, the fastest of several. Results are not checked here.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import MagicMock

if TYPE_CHECKING:
    from anymetal.targets.cpu.plan import LaunchState, Plan
    from benchmarks.harness import Row

_FEWEST, _MOST = 4, 20  #: rounds
#: Rows whose expected results PyTorch makes.
_NEEDS_TORCH = ("grid_sample_vjp",)
_TORCH = ("torch", "torch.nn", "torch.nn.functional", "torch.utils", "torch.utils.dlpack")


def main() -> None:
    """Measure the rows that the command line names and print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.sanitizer")
    parser.add_argument("names", nargs="*", metavar="ROW or GROUP", help="by default all")
    parser.add_argument("--seconds", type=float, default=0.25, help="for each row and build")
    options = parser.parse_args()
    print(f"{_processor()}, mlx {version('mlx')}")
    print(f"{'row':28} {'plain':>10} {'sanitized':>10} {'time':>8} {'processor':>9} {'memory':>7}")
    costs = []
    # A process for each row: what memory one has left behind is none of the next one's.
    for name in _wanted(options.names):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            cost = process.submit(_cost, name, options.seconds).result()
        costs.append(cost)
        print(
            f"{name:28} {cost.plain.wall * 1e3:7.2f} ms {cost.sanitized.wall * 1e3:7.2f} ms "
            f"{cost.time:6.1f} x {cost.processor:7.1f} x {cost.memory:5.1f} x",
            flush=True,
        )
    if costs:
        time_, processor, memory = (
            median(getattr(cost, name) for cost in costs)
            for name in ("time", "processor", "memory")
        )
        print(f"{'median':50} {time_:6.1f} x {processor:7.1f} x {memory:5.1f} x")


class Spent(NamedTuple):
    """Seconds in launches."""

    wall: float
    processor: float


class Cost(NamedTuple):
    """A row with the sanitizer and without it."""

    plain: Spent
    sanitized: Spent
    memory: float  #: all that a sanitized launch has touched, in times of its arrays

    @property
    def time(self) -> float:
        return self.sanitized.wall / self.plain.wall

    @property
    def processor(self) -> float:
        return self.sanitized.processor / self.plain.processor


class _Meter:
    """Counts what plans of either kind spend in launches."""

    def __init__(self) -> None:
        self.wall = self.processor = 0.0
        self.bytes = 0  #: of the arrays of the largest launch
        self.plans: list[Any] = []

    def watching(self, kind: type[Plan]) -> type[Plan]:
        """Plans of this kind, whose launches are counted."""
        meter = self

        class Watched(kind):  # type: ignore[misc, valid-type]
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                meter.plans.append(self)

            def _launch(self, state: LaunchState, bound: list[Any]) -> None:
                wall, processor = time.perf_counter(), time.process_time()
                super()._launch(state, bound)
                meter.processor += time.process_time() - processor
                meter.wall += time.perf_counter() - wall
                meter.bytes = max(meter.bytes, sum(one.nbytes for one in bound))

        return Watched

    def fastest(self, run: Callable[[], Any], seconds: float) -> Spent:
        """The fastest of several rounds, behind one that does not count."""
        import mlx.core as mx

        rounds: list[Spent] = []
        end = time.time() + seconds
        while len(rounds) < _FEWEST or (len(rounds) < _MOST and time.time() < end):
            self.wall = self.processor = 0.0
            mx.eval(run())
            rounds.append(Spent(self.wall, self.processor))
            for plan in self.plans:
                if plan.sanitized:
                    plan.take()
        return Spent(*(min(values) for values in zip(*rounds[1:], strict=True)))


def _groups() -> dict[str, list[Row]]:
    """The rows, whose rivals cannot run."""
    for name in _TORCH:
        sys.modules.setdefault(name, MagicMock())
    import benchmarks.rivals

    benchmarks.rivals.native = MagicMock()
    from benchmarks.rows import all_rows

    return all_rows()


def _wanted(names: list[str]) -> list[str]:
    groups = _groups()
    known = {*groups, *(row.name for rows in groups.values() for row in rows)}
    if unknown := sorted(set(names) - known):
        raise SystemExit(f"no row or group is called {', '.join(unknown)}")
    return [
        row.name
        for group, rows in groups.items()
        for row in rows
        if row.name not in _NEEDS_TORCH
        and (
            not {row.name, group}.isdisjoint(names)
            or not (names or row.on_request or group.startswith("library"))
        )
    ]


def _cost(name: str, seconds: float) -> Cost:
    import numpy as np

    from anymetal import targets
    from anymetal.runtime.bridge import loader
    from anymetal.targets.cpu import launch
    from anymetal.targets.cpu.plan import Plan
    from anymetal.targets.cpu.sanitized import SanitizedPlan

    loader.native = lambda: None  # launches go through plans
    row = next(row for rows in _groups().values() for row in rows if row.name == name)
    run = row.prepare(np.random.default_rng(7)).ours
    spent, resident = [], []
    for kind in (Plan, SanitizedPlan):
        meter = _Meter()
        launch.Plan = meter.watching(kind)  # type: ignore[attr-defined]
        targets.active()._plans = launch._BySource()  # type: ignore[attr-defined]
        spent.append(meter.fastest(run, seconds))
        resident.append(_resident())
    return Cost(spent[0], spent[1], 1 + (resident[1] - resident[0]) / meter.bytes)


def _resident() -> int:
    """Bytes of memory that this process has."""
    fields = Path("/proc/self/status").read_text().split("VmRSS:")
    return int(fields[1].split()[0]) << 10


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(": ")[1] for line in lines if line.startswith("model name"))


if __name__ == "__main__":
    main()
