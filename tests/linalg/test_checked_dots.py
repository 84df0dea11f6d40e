"""Sums within a tolerance: the promise holds for every condition, and cheap ways are kept."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from anymetal.linalg import dot, gram, norm, project
from anymetal.linalg.checked_dots import Sums, checked_dots
from anymetal.tune import switch
from tests.linalg.exact import exact_dot, ill_conditioned, nearest, nearest_root

Array = NDArray[Any]


def is_within(result: float, exact: Fraction, tolerance: float) -> bool:
    return abs(Fraction(float(result)) - exact) <= Fraction(tolerance) * abs(exact)


def rungs_of(sums: Sums) -> dict[str, int]:
    """How many sums each rung settled."""
    counts, before = {}, sums.values.size
    for rung in sums.rungs:
        after = int(mx.logical_not(rung.met).sum().item())
        counts[rung.name] = before - after
        before = after
    assert before == 0, "the last rung settles all"
    return counts


def climbed(x: Array, y: Array, tolerance: float = 1e-6, **options: Any) -> dict[str, int]:
    rows = [mx.array(value.reshape(-1, 1, value.shape[-1])) for value in (x, y)]
    return rungs_of(checked_dots(*rows, tolerance, **options))


CONDITIONS = [10.0**power for power in range(0, 31, 2)]


@functools.cache
def of_every_condition(count: int) -> tuple[Array, Array, list[Fraction]]:
    """Pairs of vectors, and the sums of their products."""
    pairs = [
        ill_conditioned(count, condition, np.random.default_rng([count, seed, int(condition)]))
        for condition in CONDITIONS
        for seed in range(4)
    ]
    x, y = (np.stack(side) for side in zip(*pairs, strict=True))
    return x, y, [exact_dot(*pair) for pair in pairs]


@pytest.mark.parametrize("tolerance", [2.0**-22, 1e-6, 1e-4, 0.01, 0.5])
@pytest.mark.parametrize("count", [6, 100, 513])
def test_the_promise_for_every_condition(count: int, tolerance: float) -> None:
    x, y, exact = of_every_condition(count)
    results = np.array(dot(mx.array(x), mx.array(y), tol=tolerance))
    for result, sum_ in zip(results, exact, strict=True):
        assert is_within(result, sum_, tolerance)


@pytest.mark.parametrize("condition", [1.0, 1e6, 1e14, 1e22, 1e30])
def test_the_promise_for_long_sums(condition: float) -> None:
    for count in (16_385, 40_000):
        x, y = ill_conditioned(count, condition, np.random.default_rng(count))
        assert is_within(dot(mx.array(x), mx.array(y)).item(), exact_dot(x, y), 1e-6)


def test_each_sum_gets_what_it_needs() -> None:
    random = np.random.default_rng(1)
    easy = random.uniform(0.5, 1, (5, 2, 64)).astype(np.float32)
    hard = [ill_conditioned(64, condition, random) for condition in (1e5, 1e16, 1e17, 1e30)]
    x, y = (
        np.stack([*easy[:, side], *(pair[side] for pair in hard)]).astype(np.float32)
        for side in (0, 1)
    )
    assert climbed(x, y) == {"compensated": 6, "limb": 2, "exact": 1}
    assert climbed(x, y, 1e-4) == {"float32": 5, "compensated": 1, "limb": 2, "exact": 1}


def test_long_sums_climb_too() -> None:
    random = np.random.default_rng(2)
    x = np.ones(40_000, np.float32)
    assert climbed(x, x) == {"compensated": 1, "limb": 0, "exact": 0}
    x, y = ill_conditioned(40_000, 1e16, random)
    assert climbed(x, y) == {"compensated": 0, "limb": 1, "exact": 0}
    x, y = ill_conditioned(40_000, 1e32, random)
    assert climbed(x, y) == {"compensated": 0, "limb": 0, "exact": 1}


@pytest.mark.parametrize("padding", [0, 20_000])
def test_a_sum_that_is_zero(padding: int) -> None:
    """No relative tolerance but an exact sum can tell that."""
    x = np.concatenate([np.zeros(padding), [3e30, 1, 1e-30, -3e30, -1, -1e-30]])
    x = x.astype(np.float32)
    y = np.ones_like(x)
    assert dot(mx.array(x), mx.array(y)).item() == 0
    assert climbed(x, y)["exact"] == 1
    x[2] = np.float32(2e-30)
    assert dot(mx.array(x), mx.array(y)).item() == nearest(exact_dot(x, y)) != 0


def test_what_arithmetic_would_flush_or_lose() -> None:
    tiny, huge = np.float32(2.0**-140), np.float32(3e38)
    for x, y in (
        ([tiny, tiny], [1, 1]),
        ([tiny, 1], [huge, 1e-10]),  # a subnormal factor matters beside numbers of usual size
        ([2.0**-100, 1e-20], [2.0**-40, 1e-20]),
        ([huge, huge, -huge, 1], [1, 1, 1, 1]),
        ([huge, -huge, 7], [huge, huge, 1]),
    ):
        a, b = np.array(x, np.float32), np.array(y, np.float32)
        assert dot(mx.array(a), mx.array(b), tol=0.5).item() == nearest(exact_dot(a, b))


def test_norms_have_no_hard_cases_but_those_beyond_the_range() -> None:
    random = np.random.default_rng(3)
    x = random.standard_normal((40, 100)).astype(np.float32)
    x[0] = 0
    x[1:4] *= np.float32(1e-25)
    x[4:8] *= np.float32(1e30)
    for a, result in zip(x, np.array(norm(mx.array(x))), strict=True):
        root = nearest_root(exact_dot(a, a))
        assert abs(float(result) - float(root)) <= 1e-6 * float(root)
    options = {"symmetric": True, "root": True}
    assert climbed(x, x, **options) == {"compensated": 32, "limb": 8, "exact": 0}
    assert climbed(x[8:], x[8:], 1e-4, **options)["float32"] == 32


@functools.cache
def two_matrices(rows: int) -> tuple[Array, Array, dict[tuple[int, int], Fraction]]:
    """Columns of which two pairs are nearly orthogonal, and the sums of their products."""
    random = np.random.default_rng(rows)
    Q = random.uniform(0.5, 1, (rows, 3)).astype(np.float32)
    V = random.uniform(0.5, 1, (rows, 4)).astype(np.float32)
    for k, condition in ((2, 1e8), (3, 1e25)):
        _, V[:, k] = pair = ill_conditioned(rows, condition, random)
        Q[:, k - 1] = pair[0]
    return Q, V, {(i, j): exact_dot(Q[:, i], V[:, j]) for i in range(3) for j in range(4)}


@pytest.mark.parametrize("tolerance", [1e-6, 1e-4])
@pytest.mark.parametrize("rows", [60, 17_000])
def test_project_and_gram(rows: int, tolerance: float, capfd: Any) -> None:
    Q, V, sums = two_matrices(rows)
    options: dict[str, Any] = {"tol": tolerance, "explain": True}
    projected = np.array(project(mx.array(Q), mx.array(V), **options))
    told = capfd.readouterr().err
    assert ("float32" in told.splitlines()[1]) == (rows == 60 and tolerance == 1e-4)
    A = np.concatenate([Q, V], axis=1)
    squares = np.array(gram(mx.array(A), **options))
    np.testing.assert_array_equal(squares, squares.T)
    for (i, j), exact in sums.items():
        assert is_within(projected[i, j], exact, tolerance)
        assert is_within(squares[i, 3 + j], exact, tolerance)


def test_products_in_float_are_kept_where_they_do(capfd: Any) -> None:
    Q = mx.random.uniform(0.5, 1, (100, 8), key=mx.random.key(0))
    project(Q, Q, tol=1e-4, explain=True)
    assert "project: sums by 64 float32\n" in capfd.readouterr().err
    np.testing.assert_array_equal(
        np.array(project(Q, Q, tol=1e-4)), np.array(project(Q, Q, accumulate="float32"))
    )
    gram(Q, tol=1e-6, explain=True)
    assert "gram: sums by 64 compensated\n" in capfd.readouterr().err
    gram(Q, explain=True)
    assert capfd.readouterr().err.startswith("gram 64×100 float32: float32 (a product of matrices")


@pytest.fixture
def environment() -> Iterator[pytest.MonkeyPatch]:
    """Variables that the switch reads anew, before and afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch
    switch.forget()


def test_explain_and_the_environment(environment: pytest.MonkeyPatch, capfd: Any) -> None:
    x, y = mx.array([1e20, 1e6, 3.0, -1e20, -1e6]), mx.ones(5)
    assert dot(x, y, explain=True).item() == 3
    assert capfd.readouterr().err.splitlines() == [
        "dot 1×5 float32: auto (each sum as precise as its tolerance needs)",
        "dot: sums by 1 limb",
    ]
    environment.setenv("ANYMETAL_SWITCH", "dot=float32,norm=limb")
    switch.forget()
    assert dot(x, y, explain=True).item() == 0
    assert capfd.readouterr().err == "dot 1×5 float32: float32 (ANYMETAL_SWITCH)\n"
    assert dot(x, y, accumulate="exact", explain=True).item() == 3
    assert capfd.readouterr().err == "dot 1×5 float32: exact (asked for by the caller)\n"
    environment.setenv("ANYMETAL_SWITCH", "dot=mlx")
    switch.forget()
    with pytest.raises(ValueError, match="ANYMETAL_SWITCH asks for 'mlx'"):
        dot(x, x)


def test_transformations() -> None:
    x, y = ill_conditioned(200, 1e14, np.random.default_rng(5))
    a, b = mx.array(x), mx.array(y)
    expected = dot(a, b).item()
    assert mx.compile(lambda a, b: dot(a, b, explain=True))(a, b).item() == expected
    gradients = mx.grad(dot, argnums=(0, 1))(a, b)
    for gradient, wanted in zip(gradients, (y, x), strict=True):
        np.testing.assert_array_equal(np.array(gradient), wanted)
    Q = mx.random.normal((40, 3), key=mx.random.key(1))
    for tolerance in (1e-6, 1e-3):  # without and with products in float32
        step = mx.compile(mx.grad(lambda Q, t=tolerance: gram(Q, tol=t).sum()))
        by_rows = np.array(Q) @ np.full((3, 3), 2, np.float32)
        np.testing.assert_allclose(np.array(step(Q)), by_rows, rtol=1e-4, atol=1e-5)
        step = mx.compile(mx.grad(lambda Q, t=tolerance: project(Q, Q, tol=t).sum()))
        np.testing.assert_allclose(np.array(step(Q)), by_rows, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("tolerance", [0, 1e-8, 0.6, float("nan")])
def test_a_tolerance_out_of_range(tolerance: float) -> None:
    with pytest.raises(ValueError, match=r"\[dot\] tol must be from 2⁻²² to 0.5; got"):
        dot(mx.ones(3), mx.ones(3), tol=tolerance)
