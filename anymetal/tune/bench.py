"""`do_bench`: the time of a call, beside the time that its memory traffic needs at least."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from anymetal.profiling.bandwidth import copy_of
from anymetal.timing import Timing, duration, interleaved

_FEWEST = 7  #: rounds


@dataclass(frozen=True)
class Bench:
    """What `do_bench` measured.

    `str()` of it is a line for people: `812 µs (798 to 830 µs, 612 rounds), 0.91 of the floor`.
    """

    times: Timing  #: of the call, in seconds, round by round
    floor: Timing | None = None  #: of a copy of as many bytes, in the same rounds

    @property
    def seconds(self) -> float:
        """The median."""
        return self.times.median

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and the third quartile, in seconds: half of the rounds lie between them."""
        return self.times.spread

    @property
    def share_of_floor(self) -> float | None:
        """How much of the time the memory traffic alone would take: 1.0 is as fast as can be."""
        return None if self.floor is None else self.floor.over(self.times)

    def __str__(self) -> str:
        low, high = map(duration, self.quartiles)
        text = f"{duration(self.seconds)} ({low} to {high}, {len(self.times.seconds)} rounds)"
        share = self.share_of_floor
        return text if share is None else f"{text}, {share:.2f} of the floor"


def do_bench(
    call: Callable[[], Any], *, seconds: float = 0.5, warmup: float = 0.05, bytes_moved: int = 0
) -> Bench:
    """Measure how long a call takes, with the evaluation of what it returns.

    Args:
        call: A function without arguments. Arrays that it returns, in trees of lists, tuples and
            dictionaries too, are evaluated within the time.
        seconds: How long to measure; there are at least 7 rounds.
        warmup: Seconds of calls before, unmeasured: at least one, which compiles kernels.
        bytes_moved: What the call reads and writes at least, for a floor: a copy that moves as many
            bytes takes part in each round. 0: without a floor.

    Returns:
        Median, quartiles and all single times; the share of the floor, if `bytes_moved` was given.

    Raises:
        ValueError: An argument is negative. What the call raises, too.

    Example:
        >>> import anymetal, mlx.core as mx
        >>> x = mx.random.normal((1 << 16,))
        >>> bench = anymetal.do_bench(lambda: mx.exp(x), seconds=0.01, bytes_moved=2 * x.nbytes)
        >>> 0 < bench.quartiles[0] <= bench.seconds
        True
    """
    for name, value in {"seconds": seconds, "warmup": warmup, "bytes_moved": bytes_moved}.items():
        if value < 0:
            raise ValueError(f"[do_bench] {name} must not be negative, but is {value}.")

    def run() -> None:
        mx.eval(call())

    run()
    end = time.perf_counter() + warmup
    while time.perf_counter() < end:
        run()
    contenders: dict[str, Callable[[], object]] = {"call": run}
    if bytes_moved:
        contenders["floor"] = copying(bytes_moved)
    times, *floor = interleaved(contenders, seconds, _FEWEST)
    return Bench(times, *floor)


def copying(bytes_moved: int) -> Callable[[], object]:
    """A copy on the active target that moves so many bytes in all: half are read, half written."""
    source = mx.zeros((max(1, bytes_moved // 8),), dtype=mx.float32)
    mx.eval(source)

    return lambda: mx.eval(copy_of(source))
