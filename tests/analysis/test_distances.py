"""How far addresses lie apart."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.analysis.distances import Distance, Distances
from anymetal.analysis.induction import inductions
from anymetal.ir.model import Program, Value
from tests.compiling import known_of
from tests.ir.programs import program
from tests.ir.short import llvm

_STEPS = {"__am_gang": 1, "__am_thread_x": 32}
LAUNCH = LaunchFacts(linear=True, aligned=True, flat=True, whole=True)
_PLACE = "l = thread_x()\ng = gang()\nlane = lane()\nn = shape[0]\np = grid_x()\n"
_ARGS = "ptr %shape, ptr %out"


def read(body: str) -> Program:
    return program(llvm(f"{_PLACE}{body}\nret void", {"shape": "i32"}), _ARGS)


def distances(first: str, second: str) -> tuple[Distances, list[Value]]:
    """Of a program that stores at two places of `out`, and the addresses."""
    kernel = read(f"out[{first}] = 1\nout[{second}] = 2")
    stores = [i for i in kernel.instructions() if i.op == "store"]
    return Distances(known_of(kernel, LAUNCH), _STEPS), [store.operands[1] for store in stores]


def factors(distance: Distance | None) -> dict[int, int] | None:
    """The factors of products of so many values."""
    return distance if distance is None else {len(p): factor for p, factor in distance.items()}


@pytest.mark.parametrize(
    ("first", "second", "want"),
    [
        ("l", "l + 8", {0: 32}),
        ("l * 4", "l * 4 + n", {1: 4}),
        ("g * n + lane", "(g + 3) * n + lane + 1", {1: 12, 0: 4}),
        ("g * n * p + lane", "(g + 2) * n * p + lane", {2: 8}),
        ("lane", "lane * 2", None),  # differs from lane to lane
        ("lane", "lane ^ n", None),
    ],
)
def test_between_accesses(first: str, second: str, want: dict[int, int] | None) -> None:
    which, (a, b) = distances(first, second)
    assert factors(which.between(a, b)) == want


@pytest.mark.parametrize(
    ("index", "want"),
    [
        ("l", {0: 128}),
        ("g * n + lane", {1: 4}),
        ("g * 7 + lane + n", {0: 28}),
        ("lane + n", {}),
        ("g * g + lane", None),
        ("(g ^ 1) * 32 + lane", None),
    ],
)
def test_from_simdgroup_to_simdgroup(index: str, want: dict[int, int] | None) -> None:
    which, (_, pointer) = distances("0", index)
    assert factors(which.to_next(pointer)) == want


_LOOP = """
br label %before
before:
br label %loop
loop:
%k = phi i32 [ 0, %before ], [ %next, %loop ]
%m = phi i32 [ 1, %before ], [ %product, %loop ]
out[{}] = 1
next = k + 3
product = m * 3
more = next < p
br i1 %more, label %loop, label %end
end:
"""


@pytest.mark.parametrize(
    ("index", "want"),
    [
        ("k + lane", {0: 12}),
        ("k * n + lane", {1: 12}),
        ("k * n + (k + 1) * n + lane", {1: 24}),
        ("g * n + lane", {}),
        ("k * k + lane", None),
        ("(k ^ 1) * 4 + lane", None),
        ("m + lane", None),  # it grows, but not evenly
    ],
)
def test_from_iteration_to_iteration(index: str, want: dict[int, int] | None) -> None:
    known = known_of(read(_LOOP.format(index)), LAUNCH)
    ((loop, variables),) = known(inductions).items()
    (store,) = (i for i in known.program.instructions() if i.op == "store")
    growths = dict.fromkeys(loop.header.phis, 0) | {one.phi: one.growth for one in variables}
    which = Distances(known, {}, growths)
    assert factors(which.to_next(store.operands[1])) == want


@pytest.mark.parametrize(
    ("index", "factor", "times"), [("k * 8 + lane", 32, 1), ("k * n + lane", 4, 2)]
)
def test_steps_that_are_known_as_the_kernel_runs(index: str, factor: int, times: int) -> None:
    kernel = read(_LOOP.format(index).replace("next = k + 3", "next = k + n"))
    known = known_of(kernel, LAUNCH)
    ((_, (counter,)),) = known(inductions).items()
    (store,) = (i for i in kernel.instructions() if i.op == "store")
    which = Distances(known, {}, {counter.phi: counter.step})
    assert which.to_next(store.operands[1]) == {(counter.step,) * times: factor}
