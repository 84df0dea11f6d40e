"""Times of things that do the same, taken in turn so that one ratio holds for one moment.

A machine that is busy with something else slows all of them down alike: so the contenders of a
comparison run one after the other, many times, and a ratio is the median of the ratios of the
rounds, not the ratio of two times that were taken apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Timing:
    """The seconds that one contender took, in each round."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The usual time."""
        return median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The first and the third quartile: half of the rounds lie between them."""
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return low, high

    def over(self, other: Timing) -> float:
        """How many times as long as another contender of the same comparison this one took."""
        pairs = zip(self.seconds, other.seconds, strict=True)
        return median(mine / theirs for mine, theirs in pairs)


def interleaved(
    contenders: Mapping[str, Callable[[], object]], seconds: float, rounds: int = 3
) -> list[Timing]:
    """Run each contender once a round, for so many seconds and at least so many rounds.

    Each runs once before, unmeasured, so that nothing is compiled or allocated for the first time.
    """
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for run in contenders.values():
        run()
    names = list(contenders)
    end = time.perf_counter() + seconds
    while len(taken[names[0]]) < rounds or time.perf_counter() < end:
        for name in names:
            start = time.perf_counter()
            contenders[name]()
            taken[name].append(time.perf_counter() - start)
        names = names[1:] + names[:1]  # nobody always follows the same one
    return [Timing(name, tuple(times)) for name, times in taken.items()]


def duration(seconds: float) -> str:
    """A time for people, with three digits: `812 µs`, `20.4 ms`, `1.32 s`."""
    for scale, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * scale >= 1 or unit == "µs":
            break
    number = seconds * scale
    return f"{number:.{max(0, 2 - int(len(str(int(number))) - 1))}f} {unit}"
