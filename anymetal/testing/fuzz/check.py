"""One case against the oracle, and a process that does so and may die of it.

A miscompiled kernel can crash or never end, so cases run in a child process. The parent starts it
again after a crash, and the verdict on that case is the crash.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from anymetal.testing.child import Child
from anymetal.testing.fuzz import oracle
from anymetal.testing.fuzz.execute import difference, execute
from anymetal.testing.fuzz.generate import generate
from anymetal.testing.fuzz.launch import LANES
from anymetal.testing.fuzz.numerics import Undefined
from anymetal.testing.fuzz.tree import Case, uses_cross_lane
from anymetal.testing.passes_off import off_for

Status = Literal["ok", "mismatch", "error", "crash", "hang", "undefined"]

#: Seconds for one case, compilation included; a kernel of this size runs for microseconds.
TIME_LIMIT = 30.0
#: The same while shrinking a case that hangs: most candidates take all of it.
SHORT_TIME_LIMIT = 6.0
_SHOWN = 8


@dataclass(frozen=True)
class Verdict:
    """What became of a case; `detail` is for people, `key` tells one failure from another."""

    status: Status
    detail: str = ""
    key: str = ""

    @property
    def failed(self) -> bool:
        return self.status not in ("ok", "undefined")


def check(case: Case, widths: tuple[int, ...]) -> Verdict:
    """Runs the case in each build and compares with the oracle, bit for bit."""
    try:
        expected = oracle.run(case)
    except Undefined as reason:
        return Verdict("undefined", str(reason))
    for width in widths:
        if width != LANES and uses_cross_lane(case):
            continue  # a SIMD-group is one gang of 32 lanes
        try:
            actual = execute(case, width)
        except Exception as error:
            text = f"gang width {width}: {type(error).__name__}: {error}"
            return Verdict("error", text, f"{width} {type(error).__name__}")
        for name, values in expected.items():
            wrong = difference(values, actual[name])
            if wrong.size:
                detail = [f"gang width {width}: {wrong.size} of {values.size} values of {name}"]
                for index in wrong[:_SHOWN]:
                    got, want = actual[name][index], values[index]
                    detail.append(f"  {name}[{index}] is {got!s}, expected {want!s}")
                return Verdict("mismatch", "\n".join(detail), str(width))
    return Verdict("ok")


def case_of(seed: int, draw: bool) -> Case:
    """The case of a seed; with `draw`, without some passes."""
    return replace(generate(seed), off=off_for(seed, draw))


def _serve(pipe: Connection, widths: tuple[int, ...], cache: str, draw: bool) -> None:
    """The child: verdicts for the cases and seeds that arrive, until None does. With `draw`, cases
    that come as seeds do without some passes."""
    os.environ["ANYMETAL_CACHE_DIR"] = cache
    os.environ["ANYMETAL_BRIDGE"] = "0"  # cases are small, and a fresh cache has none
    os.environ["ANYMETAL_CHECK"] = "1"
    while (work := pipe.recv()) is not None:
        pipe.send(check(case_of(work, draw) if isinstance(work, int) else work, widths))


class Checker:
    """Gives verdicts from a child process that it restarts when needed."""

    def __init__(
        self, widths: tuple[int, ...], time_limit: float = TIME_LIMIT, draw: bool = False
    ) -> None:
        self.time_limit = time_limit
        self.cache = tempfile.TemporaryDirectory(prefix="anymetal-fuzz-")
        self._child = Child(_serve, widths, self.cache.name, draw)

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, *exception: object) -> None:
        self._child.stop()
        self.cache.cleanup()

    def submit(self, work: int | Case) -> None:
        """Hands a case, or the seed of one, to the child."""
        self._child.submit(work)

    @property
    def pipe(self) -> Connection:
        """Readable as soon as the verdict is there, or the child is gone."""
        return self._child.pipe

    def result(self, wait: bool = True) -> Verdict:
        """The verdict on what was submitted; without `wait`, a hang if there is none yet."""
        if not self.pipe.poll(self.time_limit if wait else 0):
            self._child.stop()
            return Verdict("hang", f"no result after {self.time_limit:g} s")
        try:
            verdict = self._child.receive()
        except EOFError:
            code = self._child.exit_code()
            self._child.stop()
            return Verdict("crash", f"the process ended with exit code {code}", str(code))
        assert isinstance(verdict, Verdict)
        return verdict

    def __call__(self, work: int | Case) -> Verdict:
        self.submit(work)
        return self.result()

    def forget_compiled(self) -> None:
        """Empties the kernel cache, which else grows with every case."""
        for path in Path(self.cache.name).rglob("*.so"):
            path.unlink(missing_ok=True)
