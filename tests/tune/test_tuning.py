"""Measuring: checks before timings, fair rounds, and runs that stop and continue."""

from __future__ import annotations

import mlx.core as mx
import pytest

from anymetal.tune import measure as measuring
from anymetal.tune import switch, tables
from anymetal.tune.checks import of_cholesky, of_product, of_qr, of_reference
from anymetal.tune.device import Device
from anymetal.tune.measure import measure, race, relative_times
from anymetal.tune.names import MEASURED
from anymetal.tune.operations import Case, Operation, operations
from anymetal.tune.switch import choose
from anymetal.tune.tables import Entry
from anymetal.tune.tuning import Tuning

HERE = Device("cpu", "a processor", "cpu-0123")


class Clock:
    """Time passes when somebody works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def worker(self, seconds):
        def work():
            self.now += seconds

        return work


def double(clock, paths):
    """An operation on numbers with these paths: name to (factor, seconds)."""

    def run(x):
        choice = choose(
            "dot", sizes=(x.size,), dtype=x.dtype, among=tuple(paths), default=next(iter(paths))
        )
        factor, seconds = paths[choice.path]
        if factor is None:
            raise RuntimeError("out of\n memory")
        clock.now += seconds
        return factor * x

    def check(arguments, result):
        return "" if mx.array_equal(result, 2 * arguments[0]).item() else "is not twice as much"

    cases = [
        Case("small", lambda: (mx.ones(4),), quick=True),
        Case("large", lambda: (mx.ones(64),)),
    ]
    return Operation("dot", run, check, cases)


def test_measure():
    clock = Clock()
    paths = {"slow": (2, 3.0), "fast": (2, 1.0), "wrong": (3, 0.1), "broken": (None, 0.1)}
    operation = double(clock, paths)
    entry = measure(operation, operation.cases[1], 20.0, clock=clock)
    assert entry == Entry(
        "dot",
        "large",
        (64,),
        "float32",
        {"slow": 3.0, "fast": 1.0},
        {"wrong": "is not twice as much", "broken": "RuntimeError: out of memory"},
    )


def test_measure_where_all_are_wrong():
    operation = double(Clock(), {"a": (1, 1.0)})
    entry = measure(operation, operation.cases[0], 1.0, rough=True)
    assert (entry.seconds, list(entry.wrong), entry.rough) == ({}, ["a"], True)


def test_a_routine_without_choice():
    operation = Operation("dot", lambda x: x, lambda *_: "", [])
    with pytest.raises(ValueError, match="no choice"):
        measure(operation, Case("c", lambda: (mx.ones(1),)), 1.0)


def test_who_is_slow_leaves_after_a_few_rounds():
    clock = Clock()
    workers = {"a": clock.worker(1.0), "b": clock.worker(2.0), "c": clock.worker(6.0)}
    rounds = {t.name: len(t.seconds) for t in race(workers, 100.0, clock)}
    assert rounds["c"] == 3
    assert rounds["a"] == rounds["b"] > 20


def test_who_is_very_slow_leaves_at_once():
    clock = Clock()
    workers = {"a": clock.worker(1.0), "b": clock.worker(9.0)}
    rounds = {t.name: len(t.seconds) for t in race(workers, 5.0, clock)}
    assert rounds == {"a": 7, "b": 1}


def test_one_short_round_says_little():
    """Something else may have held it up."""
    clock = Clock()
    held_up = iter([5.0])

    def sometimes():
        clock.now += next(held_up, 1.0)

    timings = race({"a": clock.worker(1.5), "b": sometimes}, 20.0, clock)
    assert {t.name: len(t.seconds) > 5 for t in timings} == {"a": True, "b": True}
    assert relative_times(timings)["b"] == pytest.approx(1.0)


def test_what_is_right_is_found_once_for_a_case():
    found = []

    def exact(A, B):
        found.append(A)
        return A @ B

    check = of_product(exact)
    first, second = [(mx.full((2, 2), value), mx.eye(2)) for value in (1.0, 2.0)]
    for arguments in (first, first, second):
        assert check(arguments, arguments[0]) == ""
    assert len(found) == 4  # the products and those of magnitudes


def test_few_rounds_at_least_and_not_endlessly_many(monkeypatch):
    clock = Clock()
    assert len(race({"a": clock.worker(1.0)}, 1.0, clock)[0].seconds) == 7
    assert len(race({"a": clock.worker(1.0)}, 0.5, clock)[0].seconds) == 4
    monkeypatch.setattr(measuring, "_MANY", 10)
    assert len(race({"a": clock.worker(1e-9)}, 1.0, clock)[0].seconds) == 10


def test_a_busy_round_counts_for_all():
    """Times triple in half of the rounds; ratios do not."""
    clock = Clock()
    calls = {"a": 0, "b": 0}

    def worker(name, seconds):
        def work():
            calls[name] += 1
            clock.now += seconds * (3 if calls[name] % 2 else 1)

        return work

    times = relative_times(race({"a": worker("a", 1.0), "b": worker("b", 1.5)}, 60.0, clock))
    assert times["b"] / times["a"] == pytest.approx(1.5)


def fake_measure(done, stop_at=None):
    def measure(operation, case, seconds, rough):
        if len(done) == stop_at:
            raise KeyboardInterrupt
        done.append((case.name, rough))
        return Entry(operation.name, case.name, (len(done),), "float32", {"a": 1.0}, rough=rough)

    return measure


@pytest.fixture
def operation(monkeypatch, tmp_path):
    monkeypatch.setenv("ANYMETAL_CACHE_DIR", str(tmp_path))
    return double(Clock(), {"a": (2, 1.0)})


def go(tuning):
    for step in tuning.left:
        tuning.measure(step)


def test_an_interrupted_run_continues(operation):
    done = []
    with pytest.raises(KeyboardInterrupt):
        go(Tuning(HERE, [operation], measure=fake_measure(done, stop_at=1)))
    assert done == [("small", False)]
    go(Tuning(HERE, [operation], measure=fake_measure(done)))
    assert done == [("small", False), ("large", False)]
    assert not Tuning(HERE, [operation]).left
    assert [entry.case for entry in tables.read(HERE).of("dot")] == ["small", "large"]


def test_quick_measures_few_cases_and_a_full_run_all_again(operation):
    done = []
    go(Tuning(HERE, [operation], quick=True, measure=fake_measure(done)))
    assert done == [("small", True)]
    assert not Tuning(HERE, [operation], quick=True).left
    go(Tuning(HERE, [operation], measure=fake_measure(done)))
    assert done[1:] == [("small", False), ("large", False)]
    assert not Tuning(HERE, [operation], quick=True).left


def test_fresh_forgets_the_operations_of_the_run_only(operation):
    go(Tuning(HERE, [operation], measure=fake_measure([])))
    other = Operation("svd", operation.run, operation.check, operation.cases[:1])
    go(Tuning(HERE, [other], fresh=True, measure=fake_measure([])))
    assert tables.read(HERE).operations() == ["dot", "svd"]
    assert len(Tuning(HERE, [operation, other], fresh=True).left) == 3


def test_cases_that_are_gone_are_forgotten(operation):
    go(Tuning(HERE, [operation], measure=fake_measure([])))
    fewer = Operation("dot", operation.run, operation.check, operation.cases[:1])
    assert [entry.case for entry in Tuning(HERE, [fewer]).table.of("dot")] == ["small"]


def test_the_list_of_operations():
    known = operations()
    assert [operation.name for operation in known] == list(MEASURED)
    for operation in known:
        names = [case.name for case in operation.cases]
        assert len(set(names)) == len(names)
        assert any(case.quick for case in operation.cases)


def test_checks_of_products():
    check = of_product(lambda A, B: A @ B)
    A, B = mx.random.normal((20, 30)), mx.random.normal((30, 5))
    assert check((A, B), A @ B) == ""
    assert "relative error is" in check((A, B), (A @ B) * 1.001)
    assert "relative error is nan" in check((A, B), (A @ B) * mx.nan)
    assert check((A, B), A) == "the shape is (20, 30) instead of (20, 5)"
    half = [A.astype(mx.float16), B.astype(mx.float16)]
    assert check(half, half[0] @ half[1]) == ""


def test_checks_by_reference():
    check = of_reference(lambda x: [x + 1, x * 2], 1e-6)
    x = mx.random.normal((20,))
    assert check((x,), [x + 1, x * 2]) == ""
    assert "relative error" in check((x,), [x + 1, x * 2.01])


def test_checks_of_factors():
    X = mx.random.normal((2, 6, 6), key=mx.random.key(1))
    A = X @ X.swapaxes(-1, -2) + mx.eye(6)
    L = mx.linalg.cholesky(A, stream=mx.cpu)
    assert of_cholesky((A,), L) == ""
    assert of_cholesky((A,), L.swapaxes(-1, -2)) == "the upper triangle is not zero"
    assert "relative error" in of_cholesky((A,), 1.01 * L)
    Q, R = mx.linalg.qr(X, stream=mx.cpu)
    assert of_qr((X,), (Q, R)) == ""
    assert of_qr((X,), (Q, R + 1)) == "R is not upper triangular"
    assert of_qr((X,), (1.01 * Q, R)).startswith("Q is not orthonormal")
    assert "relative error" in of_qr((X,), (Q, 1.01 * R))


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_each_operation_takes_right_results_and_refuses_others(operation):
    """Of MLX's own path; that of kernels is tested where they are, and by every real run."""
    case = next(case for case in operation.cases if case.quick)
    arguments = case.arguments()
    with switch.forcing(operation.name, "full" if operation.name == "svd_topk" else "mlx"):
        result = operation.run(*arguments)
    assert operation.check(arguments, result) == ""
    if isinstance(result, mx.array):
        assert "relative error" in operation.check(arguments, 1.01 * result)
    for place in range(len(result) if isinstance(result, (list, tuple)) else 0):
        spoiled = list(result)
        spoiled[place] = 1.01 * spoiled[place]
        assert "relative error" in operation.check(arguments, spoiled)
