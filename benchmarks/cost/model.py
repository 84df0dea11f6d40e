"""The model: a routine takes the time of its work, of its messages and of their words.

    T = o + w/r + a·α + x·β

Along the longest chain of what waits for each other, w are floating-point operations, a messages
and x words (4 bytes). α, the time of a message, and β, that of a word, are those of the network, o
and r those of the routine: what a call takes with nothing to do, and how fast it computes.

Ranks that share a machine wait for its processors, too. Where p ranks have c processors and p > c,
they are p/c times oversubscribed: o and β, which on loopback are work of the processors, count p/c
times; the work of all ranks together, p·w, is done at the rate of the machine; and a message waits
until the receiver's turn comes, since the threads of MLX's ring look for messages in a loop and
give nothing back before their time slice ends: α + τ (p/c - 1), where τ is of the size of a slice.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anymetal.linalg.distributed.exchange import rounds
from benchmarks.cost.counting import Sent
from benchmarks.cost.routines import ROUTINES, Routine, Size, triangle

Array = NDArray[Any]


class Run(NamedTuple):
    """The best time of a routine, measured."""

    routine: str
    size: Size
    ranks: int
    seconds: float


class Fitted(NamedTuple):
    """The parameters."""

    alpha: float  #: seconds for a message
    beta: float  #: seconds for a word
    tau: float  #: seconds for which a message waits, for each rank that a processor has too many
    overhead: dict[str, float]  #: seconds for a call, by the routine
    rate: dict[str, float]  #: operations in a second, of the whole machine


def chain(sent: list[Sent], p: int) -> tuple[int, int]:
    """Messages that follow each other in collectives on a ring of p, and their words."""
    messages = words = 0
    for operation, count in sent:
        if operation == "all_gather":
            messages, words = messages + p - 1, words + (p - 1) * count
        else:
            steps = 2 * (p - 1)
            messages, words = messages + steps, words + steps * max(math.ceil(count / p), 1)
    return messages, words


def communication(routine: Routine, size: Size, p: int) -> tuple[int, int]:
    """Messages and words along the longest chain."""
    if p == 1:
        return 0, 0
    messages, words = chain(routine.sent(size, p), p)
    if routine.merges:
        messages, words = messages + rounds(p), words + rounds(p) * triangle(size["n"])
    return messages, words


def fit(runs: list[Run], processors: int) -> Fitted:
    """The parameters with the least errors in logarithms; those that are far off count less.

    A sum of squares of relative errors would rather have the model too low by any factor than too
    high by two.
    """
    import scipy.optimize

    names = list(dict.fromkeys(run.routine for run in runs))
    table = np.array([_row(run, names, processors) for run in runs])
    seconds = np.log([run.seconds for run in runs])
    # Times are about what calls, words and messages take on a machine of today.
    first = np.array([1e-4, 1e-9, 1e-3] + [1e-4] * len(names) + [1e-10] * len(names))

    def errors(logarithms: Array) -> Array:
        found: Array = np.log(table @ np.exp(logarithms)) - seconds
        return found

    solved = scipy.optimize.least_squares(errors, np.log(first), loss="soft_l1")
    alpha, beta, tau, *rest = map(float, np.exp(solved.x))
    overheads, inverse = rest[: len(names)], rest[len(names) :]
    return Fitted(
        alpha,
        beta,
        tau,
        dict(zip(names, overheads, strict=True)),
        {name: 1 / x for name, x in zip(names, inverse, strict=True)},
    )


def _row(run: Run, names: list[str], processors: int) -> list[float]:
    """What the time of a run has of each parameter: α, β, τ, overheads, times of an operation."""
    routine, crowd = ROUTINES[run.routine], max(1.0, run.ranks / processors)
    messages, words = communication(routine, run.size, run.ranks)
    mine = [float(name == run.routine) for name in names]
    work = run.ranks * routine.work(run.size, run.ranks)
    return [
        *(messages, crowd * words, (crowd - 1) * messages),
        *(crowd * each for each in mine),
        *(work * each for each in mine),
    ]


def on_one_machine(model: Fitted, run: Run, processors: int) -> float:
    """What the model says of a run that was measured."""
    names = list(model.overhead)
    parameters = [
        *(model.alpha, model.beta, model.tau),
        *model.overhead.values(),
        *(1 / model.rate[name] for name in names),
    ]
    row = _row(run, names, processors)
    return sum(a * b for a, b in zip(row, parameters, strict=True))


def factors(model: Fitted, runs: list[Run], processors: int) -> list[float]:
    """By how much measured times and those of the model differ, the best first; none is below 1."""
    ratios = (run.seconds / on_one_machine(model, run, processors) for run in runs)
    return sorted(max(ratio, 1 / ratio) for ratio in ratios)


class Cluster(NamedTuple):
    """A ring of machines."""

    gigabits: float  #: in a second
    latency: float  #: seconds for a message
    faster: float = 1.0  #: how many times as fast as the machine that was measured

    @property
    def beta(self) -> float:
        """Seconds for a word."""
        return 32 / (self.gigabits * 1e9)


def on_a_cluster(model: Fitted, name: str, size: Size, p: int, cluster: Cluster) -> float:
    """Seconds with a machine for each rank."""
    routine = ROUTINES[name]
    messages, words = communication(routine, size, p)
    return (
        model.overhead[name]
        + routine.work(size, p) / (model.rate[name] * cluster.faster)
        + messages * cluster.latency
        + words * cluster.beta
    )
