"""Runs the rows of the benchmark: contenders in turn, each checked before any is timed."""

from __future__ import annotations

import ctypes
import gc
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import mlx.core as mx
import numpy as np
import torch
from numpy.typing import NDArray

from anymetal.timing import Timing
from benchmarks import floor

#: The contender that all others are compared with.
OURS = "AnyMetal"
CXX, TORCH, MLX, NUMPY = "C++", "PyTorch", "MLX", "NumPy"
#: Where PyTorch has no such operation: several of its operations.
COMPOSED = "PyTorch, composed"
LIBRARY = "library"  #: AnyMetal's own routine for the same
#: What geometric means are taken of. A contender of another name is there for comparison only.
RIVALS = (CXX, TORCH, MLX, NUMPY)
FLOORS = ("floor: memory", "floor: arithmetic")

_PLACES = 3  #: in memory
_FEW, _MANY = 5, 2000  #: rounds in each place
#: Seconds after which nobody's threads wait in a loop for more work any more (threads.py): ours do
#: for 0.1 ms, those of the C++ for about as long.
_REST = 0.0003
_SLOW = 8  #: times as long as ours: no need of many rounds to see that

Array = NDArray[Any]


@dataclass(frozen=True)
class Rival:
    """Somebody who does the same job."""

    who: str  #: one of RIVALS, or a text of its own
    what: str  #: what runs, for readers
    run: Callable[[], Any]  #: returns the results, arrays of any library
    #: Results that are right but not the same numbers (random ones) are checked by this instead.
    check: Callable[[Sequence[Array]], None] | None = None


@dataclass(frozen=True)
class Race:
    """The contenders of a row, ready to run, and what each of them must return."""

    ours: Callable[[], Any]
    rivals: Sequence[Rival]
    expected: Sequence[Array]  #: by the oracle, in double precision where the results are floats
    relative: float = 1e-5
    absolute: float = 1e-5
    outliers: float = 0  #: the share of elements that may differ, where rounding decides branches
    bytes: int = 0  #: that must at least be moved
    flops: int = 0  #: that must at least be done


@dataclass(frozen=True)
class Row:
    """One comparison; `prepare` makes its arrays and kernels and is given a random generator."""

    name: str
    title: str
    prepare: Callable[[np.random.Generator], Race]
    on_request: bool = False  #: takes minutes, so it runs only if it is named
    note: str = ""  #: what to know about its figures, such as why we are behind
    moves: bool = False  #: it only moves memory


@dataclass(frozen=True)
class Result:
    """What came of a row."""

    name: str
    title: str
    whats: dict[str, str]  #: what runs, by contender
    timings: list[Timing] = field(default_factory=list)
    bytes: int = 0
    flops: int = 0

    @property
    def ours(self) -> Timing:
        """The timing of AnyMetal."""
        return self.timings[0]

    def ratio(self, who: str) -> float | None:
        """How many times as long as ours this contender took; None if it does not take part."""
        theirs = next((t.seconds for t in self.timings if t.name == who), None)
        if theirs is None:
            return None
        # Who is slow takes part in the first rounds only.
        return median(t / o for t, o in zip(theirs, self.ours.seconds, strict=False))


def keep_memory() -> None:
    """Let nobody pay for fresh pages: freed memory stays with the process, touched as it is.

    MLX keeps what it frees up to a limit. glibc gives large blocks back to the system unless it is
    told otherwise; PyTorch and NumPy allocate with it.
    """
    mx.set_cache_limit(2 << 30)
    mmap_max, trim_threshold = -4, -1
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(mmap_max, 0)
        libc.mallopt(trim_threshold, 2**31 - 1)


def run(row: Row, seconds: float) -> Result:
    """Make, check and time a row, in several places of memory.

    How fast memory is depends on where arrays lie in it and beside each other, and they stay where
    they are. So nobody's figure is to depend on one place: everything is made anew, with other
    random numbers, while the arrays of before still hold theirs.
    """
    races: list[Race] = []
    timings: list[Timing] = []
    for place in range(_PLACES):
        races.append(row.prepare(np.random.default_rng(7 + place)))
        contenders = _checked(row, races[-1])
        if timings:  # rounds are pairs, so who has left in one place cannot come back in the next
            left = {t.name for t in timings if len(t.seconds) < len(timings[0].seconds)}
            contenders = {name: run for name, run in contenders.items() if name not in left}
        timings = _joined(timings, _timed(contenders, seconds / _PLACES))
    race = races[0]
    whats = {OURS: "Metal kernel", **{rival.who: rival.what for rival in race.rivals}}
    result = Result(row.name, row.title, whats, timings, race.bytes, race.flops)
    del race, races, contenders
    gc.collect()
    mx.clear_cache()
    return result


def _checked(row: Row, race: Race) -> dict[str, Callable[[], Any]]:
    """Everybody in a race, ours first, after a look at what each returns; and the floors."""
    everyone = [Rival(OURS, "Metal kernel", partial(_evaluated, race.ours)), *race.rivals]
    for contender in everyone:
        _check(row, race, contender)
    floors = zip(FLOORS, floor.contenders(race.bytes, race.flops), strict=True)
    return {c.who: c.run for c in everyone} | {name: run for name, run in floors if run}


def _joined(before: Sequence[Timing], now: Sequence[Timing]) -> list[Timing]:
    """The rounds of one place after those of another; who has left stays with fewer rounds."""
    more = {timing.name: timing.seconds for timing in now}
    names = [timing.name for timing in before or now]
    earlier = {timing.name: timing.seconds for timing in before}
    return [Timing(name, earlier.get(name, ()) + more.get(name, ())) for name in names]


def _evaluated(run: Callable[[], Any]) -> Any:
    """The results of kernels, which are nodes of MLX's graph until somebody looks."""
    results = run()
    mx.eval(results)
    return results


def shared(*arrays: Array) -> Any:
    """Inputs for everybody: MLX arrays and, in the same memory, NumPy and PyTorch arrays.

    A triple for one array; for several, three tuples.
    """
    on_mlx = tuple(mx.array(array) for array in arrays)
    mx.eval(on_mlx)
    # MLX says "unsigned long long" where NumPy and PyTorch say "unsigned long".
    on_numpy = tuple(
        np.asarray(one).view(array.dtype) for one, array in zip(on_mlx, arrays, strict=True)
    )
    on_torch = tuple(torch.from_numpy(array) for array in on_numpy)
    if len(arrays) == 1:
        return on_mlx[0], on_numpy[0], on_torch[0]
    return on_mlx, on_numpy, on_torch


def launched(kernel: Callable[..., list[mx.array]], **call: Any) -> Callable[[], list[mx.array]]:
    """The contender of a row that is one launch, with the arguments of a kernel's call."""

    def run() -> list[mx.array]:
        outputs = kernel(**call)
        mx.eval(outputs)
        return outputs

    return run


def evaluated(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """A contender of MLX's operations: they are lazy."""

    def call() -> Any:
        out = function(*arguments)
        mx.eval(out)
        return out

    return call


def _timed(contenders: Mapping[str, Callable[[], object]], seconds: float) -> list[Timing]:
    """Run the contenders in turn for so many seconds, each round in another order: who comes behind
    one that read the same arrays finds them in caches, so nobody may always follow the same one.

    Who takes much longer than the first one leaves after a few rounds: the others need many.
    """
    first = {name: _warm(run) for name, run in contenders.items()}
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    names, rounds, end = list(contenders), 0, 0.0
    patience = _SLOW * first[names[0]]
    chance = random.Random(7)
    while rounds < _FEW or (time.perf_counter() < end and rounds < _MANY):
        for name in names:
            if rounds < _FEW or first[name] <= patience:
                taken[name].append(_seconds(contenders[name]))
        chance.shuffle(names)
        rounds += 1
        if rounds == _FEW:
            end = time.perf_counter() + seconds
    return [Timing(name, tuple(times)) for name, times in taken.items()]


def _warm(run: Callable[[], object]) -> float:
    """Seconds of a run after some others, in which allocators settle; slow ones settle enough."""
    for _ in range(_FEW):
        if (taken := _seconds(run)) > 0.2:
            break
    return taken


def _seconds(run: Callable[[], object]) -> float:
    rested = time.perf_counter() + _REST
    while time.perf_counter() < rested:  # asleep, this thread would have to be woken
        pass
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _check(row: Row, race: Race, contender: Rival) -> None:
    returned = contender.run()
    results = returned if isinstance(returned, (list, tuple)) else [returned]
    arrays = [_as_numpy(result) for result in results]
    if contender.check:
        contender.check(arrays)
        return
    for number, (got, right) in enumerate(zip(arrays, race.expected, strict=True)):
        if got.shape != right.shape:
            raise AssertionError(
                f"row {row.name}: result {number} of {contender.who} has shape {got.shape}, "
                f"expected {right.shape}"
            )
        off = wrong(got, right, race.relative, race.absolute)
        if off.mean() > race.outliers:
            first = np.unravel_index(off.argmax(), off.shape)
            raise AssertionError(
                f"row {row.name}: {off.sum()} of {off.size} elements of result {number} of "
                f"{contender.who} are wrong; {[int(i) for i in first]} is {got[first]}, "
                f"expected {right[first]}"
            )


def wrong(got: Array, right: Array, relative: float, absolute: float) -> NDArray[np.bool_]:
    """Which elements differ: integers at all, floats beyond the tolerances."""
    if right.dtype.kind in "iub":
        return np.asarray(got != right)
    return ~np.isclose(got, right, rtol=relative, atol=absolute)


def _as_numpy(result: Any) -> Array:
    if isinstance(result, torch.Tensor):
        return np.asarray(result.detach().numpy())
    return np.asarray(result)
