"""One case in all builds, against the oracle: bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from anymetal.testing.lockstep.arrays import Arrays
from anymetal.testing.lockstep.builds import Build, Compiler, launch
from anymetal.testing.lockstep.case import Case, Data
from anymetal.testing.lockstep.fired import Fired
from anymetal.testing.lockstep.oracle import Oracle

#: `oracle`: the oracle does not compile or run it, a defect of ours.
Status = Literal["ok", "differs", "error", "damage", "slow", "crash", "hang", "oracle"]

#: Seconds of processors that a build may take to compile where a campaign of random kernels asks.
SLOW = 10.0
_SHOWN = 6


@dataclass(frozen=True)
class Verdict:
    """What became of a case; `key` tells one failure from another."""

    status: Status
    detail: str = ""
    key: str = ""
    fired: frozenset[str] = frozenset()
    seconds: dict[str, float] = field(default_factory=dict)  #: processor time of each build

    @property
    def failed(self) -> bool:
        return self.status != "ok"


def expected_of(case: Case, oracle: Oracle) -> list[Data]:
    """The outputs as the oracle computes them."""
    arrays = Arrays(case)
    oracle.run(case, arrays)
    assert not arrays.damage(), f"{case.name}: {arrays.damage()} by the oracle"
    return arrays.outputs


def check(
    case: Case,
    expected: list[Data],
    builds: Sequence[Build],
    folder: Path,
    begins: Callable[[], None] = lambda: None,
    slow: float = math.inf,
) -> Verdict:
    """Compiles and runs the case in each build; `begins` is told of each. A build fails that takes
    more than `slow` seconds of processors to compile."""
    seconds: dict[str, float] = {}
    with Fired() as fired:

        def verdict(status: Status, build: Build, detail: str, key: str = "") -> Verdict:
            text = f"{build.name}: {detail}"
            return Verdict(status, text, f"{build.name} {key}", frozenset(fired.names), seconds)

        compile_ = None
        for build in builds:
            begins()
            try:
                compile_ = compile_ or Compiler(case, folder)
                code = compile_(build, fired)
                arrays = Arrays(case)
                launch(case, code, arrays)
            except Exception as error:
                name = type(error).__name__
                return verdict("error", build, f"{name}: {str(error)[:1500]}", name)
            seconds[build.name] = compile_.seconds
            if compile_.seconds > slow:
                return verdict("slow", build, f"{compile_.seconds:.1f} s to compile")
            for output, want, got in zip(case.outputs, expected, arrays.outputs, strict=True):
                if wrong := difference(output.element, want, got):
                    return verdict("differs", build, f"{output.name}: {wrong}")
            if damage := arrays.damage():
                return verdict("damage", build, damage)
    return Verdict("ok", fired=frozenset(fired.names), seconds=seconds)


def difference(element: str, want: Data, got: Data) -> str:
    """Where two outputs differ, in words; empty if nowhere. All NaNs are alike, and so are both
    zeros: which of them a minimum or a sum returns is open."""
    if element == "bfloat":
        want, got = _widened(want), _widened(got)
    different = want != got
    if want.dtype.kind == "f":
        different &= ~(np.isnan(want) & np.isnan(got))
    elif want.dtype.kind == "b":  # any byte but 0 and 1 is wrong
        different = want.view(np.uint8) != got.view(np.uint8)
    places = np.flatnonzero(different)
    if not places.size:
        return ""
    shown = "; ".join(f"[{i}] is {got[i]!s}, not {want[i]!s}" for i in places[:_SHOWN])
    return f"{places.size} of {want.size} differ: {shown}"


def _widened(words: Data) -> Data:
    return (words.astype(np.uint32) << 16).view(np.float32)
