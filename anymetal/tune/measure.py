"""Measuring one case: every path is checked, then all that are right run in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import mlx.core as mx

from anymetal.timing import Timing
from anymetal.tune import switch
from anymetal.tune.device import kind_of_device
from anymetal.tune.operations import Case, Operation
from anymetal.tune.tables import Entry

Clock = Callable[[], float]

_FEW = 3  #: rounds of those who are slow
_LEAST, _MANY = 7, 500  #: rounds of the others
_SLOW = 4.0  #: who takes so many times as long as the fastest needs no more rounds
_OVER = 8.0  #: times the budget, after which few rounds must do


def measure(
    operation: Operation,
    case: Case,
    seconds: float,
    rough: bool = False,
    clock: Clock = time.perf_counter,
) -> Entry:
    """Check and time all paths that can serve a case; wrong ones are not timed.

    Args:
        operation: The routine, and how its results are checked.
        case: Its arguments.
        seconds: The time that all paths together may take, beyond a few rounds.
        rough: To be noted in the entry.
        clock: Seconds since whenever.
    """
    arguments = case.arguments()
    mx.eval(arguments)
    question, _ = switch.question_of(operation.run, *arguments)
    wrong: dict[str, str] = {}
    right: dict[str, Callable[[], object]] = {}
    for path in question.among:
        if problem := _problem(operation, arguments, path):
            wrong[path] = problem
        else:
            right[path] = _contender(operation, arguments, path)
    settle = kind_of_device() != "cpu"
    times = relative_times(race(right, seconds, clock, settle)) if right else {}
    return Entry(
        operation.name, case.name, question.sizes, question.dtype, times, wrong, rough=rough
    )


def race(
    contenders: Mapping[str, Callable[[], object]],
    seconds: float,
    clock: Clock,
    settle: bool = False,
) -> list[Timing]:
    """Run the contenders in turn, for so many seconds and at least some rounds.

    All have run before, so nothing is compiled or allocated for the first time. Whoever is much
    slower than the fastest stays out after a few rounds, or as soon as it has had all the seconds;
    not after one short round, since another program may have held that up. `settle`: each runs once
    more before it is timed. What a path on the CPU has touched comes back to a GPU only then.
    """
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    names, begin = list(contenders), clock()
    for number in range(1, _MANY + 1):
        for name in names:
            if settle:
                contenders[name]()
            start = clock()
            contenders[name]()
            taken[name].append(clock() - start)
        most = _SLOW * min(median(times) for times in taken.values())
        names = [
            name
            for name in names
            if median(taken[name]) <= most or (number < _FEW and sum(taken[name]) < seconds)
        ]
        names = names[1:] + names[:1]  # nobody always follows the same one
        spent = clock() - begin
        if spent >= seconds and (number >= _LEAST or spent >= _OVER * seconds):
            break
    return [Timing(name, tuple(times)) for name, times in taken.items()]


def relative_times(timings: list[Timing]) -> dict[str, float]:
    """Seconds by name: the median time of the one with most rounds, and ratios to it.

    A ratio is the median over the rounds that both took part in: other work on the machine slows
    down a whole round.
    """
    reference = max(timings, key=lambda timing: len(timing.seconds))
    times = {}
    for timing in timings:
        pairs = zip(timing.seconds, reference.seconds, strict=False)
        ratio = median(mine / theirs for mine, theirs in pairs)
        times[timing.name] = ratio * reference.median
    return times


def _problem(operation: Operation, arguments: tuple[Any, ...], path: str) -> str:
    """What is wrong with the result of a path; empty if nothing is."""
    try:
        result = _contender(operation, arguments, path)()
        return operation.check(arguments, result)
    except Exception as error:  # whatever a path does, the others are measured
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _contender(operation: Operation, arguments: tuple[Any, ...], path: str) -> Callable[[], Any]:
    def run() -> Any:
        with switch.forcing(operation.name, path):
            result = operation.run(*arguments)
            mx.eval(result)
        return result

    return run
