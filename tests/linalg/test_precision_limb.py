"""Limbs: sums are what the documented window holds, to the last bit, in any order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from anymetal.linalg import row_dots
from anymetal.linalg.precision import dot, gram, norm, project
from tests.linalg.exact import (
    ROUNDOFF,
    condition_of,
    exact_dot,
    ill_conditioned,
    limb_dot,
    nearest,
    nearest_root,
    window_bottom,
)

Array = NDArray[Any]


def limb(x: Array, y: Array) -> Array:
    return np.array(dot(mx.array(x), mx.array(y), accumulate="limb"))


def random_floats(
    random: np.random.Generator, shape: tuple[int, ...], lowest: int, highest: int
) -> Array:
    """Any significand, exponent fields from `lowest` to `highest`; field 0: subnormal or zero."""
    bits = random.integers(0, 2**23, shape, dtype=np.uint32)
    bits |= random.integers(lowest, highest + 1, shape, dtype=np.uint32) << np.uint32(23)
    bits |= random.integers(0, 2, shape, dtype=np.uint32) << np.uint32(31)
    return bits.view(np.float32)


# 10,000 dot products: lengths, and how far exponents spread, from none to all there are.
BATCHES = [
    (count, cases, middle - spread, middle + spread)
    for middle, spread in ((127, 0), (127, 10), (127, 30), (127, 63), (64, 20), (190, 30))
    for count, cases in ((1, 100), (2, 250), (7, 250), (31, 250), (33, 250), (100, 200))
] + [
    (count, cases, lowest, highest)
    for lowest, highest in ((0, 254), (0, 0), (0, 3))
    for count, cases in ((3, 300), (32, 300), (80, 134))
]


def test_ten_thousand_cases_are_planned() -> None:
    assert sum(cases for _, cases, *_ in BATCHES) >= 10_000


@pytest.mark.parametrize(("count", "cases", "lowest", "highest"), BATCHES)
def test_bound_and_rounding(count: int, cases: int, lowest: int, highest: int) -> None:
    random = np.random.default_rng([count, cases, lowest, highest])
    x = random_floats(random, (cases, count), lowest, highest)
    y = random_floats(random, (cases, count), lowest, highest)
    x[random.random(x.shape) < 0.02] = 0
    for a, b, result in zip(x, y, limb(x, y), strict=True):
        exact, kept = exact_dot(a, b), limb_dot(a, b)
        assert result.view(np.uint32) == nearest(kept).view(np.uint32)
        if exact == kept:
            continue
        lost = count * Fraction(2) ** window_bottom(a, b)
        assert abs(exact - kept) < lost
        if np.isfinite(result):
            rounding = ROUNDOFF * (abs(exact) + lost) + Fraction(1, 2**150)
            assert abs(Fraction(float(result)) - exact) <= lost + rounding


def test_fits_the_window_means_exact() -> None:
    random = np.random.default_rng(1)
    # Exponents of factors differ by at most 35, those of products by 70; the window takes 79 - 7.
    x, y = (random_floats(random, (500, 128), 100, 135) for _ in range(2))
    for a, b, result in zip(x, y, limb(x, y), strict=True):
        assert result == nearest(exact_dot(a, b))


@pytest.mark.parametrize("condition", [1e8, 1e12, 1e16, 1e20])
@pytest.mark.parametrize("count", [20, 100, 1001])
def test_ill_conditioned_is_rounded_correctly(count: int, condition: float) -> None:
    x, y = ill_conditioned(count, condition, np.random.default_rng(count))
    assert condition_of(x, y) > condition / 1000
    assert limb(x, y) == nearest(exact_dot(x, y))


@pytest.mark.parametrize("condition", [1e24, 1e27, 1e30])
def test_worse_than_the_window_obeys_the_bound(condition: float) -> None:
    for seed in range(20):
        x, y = ill_conditioned(100, condition, np.random.default_rng(seed))
        exact, result = exact_dot(x, y), Fraction(float(limb(x, y)))
        lost = 100 * Fraction(2) ** window_bottom(x, y)
        assert abs(result - exact) <= lost + ROUNDOFF * (abs(exact) + lost)


@pytest.mark.parametrize("count", [16384, 16385, 100_000, 1_000_000])
def test_long_sums(count: int) -> None:
    random = np.random.default_rng(count)
    x, y = (random_floats(random, (count,), 110, 130) for _ in range(2))
    assert limb(x, y) == nearest(exact_dot(x, y))
    check_full(count)


def check_full(count: int) -> None:
    """The largest words that limbs can meet: all bits set, all of one sign."""
    largest = 2 - 2.0**-23
    x = np.full(count, np.float32(largest))
    exact = count * Fraction(largest) ** 2
    assert limb(x, x) == nearest(exact)
    assert limb(x, -x) == nearest(-exact)


def test_order_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    x, y = (random_floats(random, (50_000,), 60, 190) for _ in range(2))
    expected = limb(x, y).view(np.uint32)
    for _ in range(3):
        order = random.permutation(x.size)
        assert limb(x[order], y[order]).view(np.uint32) == expected
    for block in (97, 1024, 2**19):  # the last one: 2^14 additions per lane, the most there may be
        monkeypatch.setattr(row_dots, "BLOCK", block)
        assert limb(x, y).view(np.uint32) == expected
    check_full(2**19)


def test_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_dots, "BLOCK", 32)
    check_full(200_000)


def test_subnormal_numbers_count() -> None:
    tiny = np.float32(2.0**-149)
    assert limb(np.array([tiny, 0, 1], np.float32), np.array([1, 5, 0], np.float32)) == tiny
    x, y = np.full(3, tiny), np.array([2.0**100, 3.0, -(2.0**100)], np.float32)
    assert limb(x, y) == 3 * tiny
    # Below half of the least subnormal number, exactly half, and more than that.
    half = np.float32(2.0**-75)
    assert limb(half[None], half[None]) == 0
    assert limb(np.array([half, half], np.float32), np.array([half, tiny], np.float32)) == tiny
    assert limb(-half[None], half[None] * np.float32(1.5)) == -tiny


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([np.nan, 1], [1, 1], np.nan),
        ([np.inf, 1], [1, 1], np.inf),
        ([np.inf, 1], [-1, 1], -np.inf),
        ([np.inf, np.inf], [1, -1], np.nan),
        ([np.inf, 1], [0, 1], np.nan),
        ([np.inf, 3e38], [np.inf, -3e38], np.inf),
        ([3e38, 3e38], [1, 1], np.inf),
        ([3e38, 3e38, -3e38], [1, 1, 1], 3e38),
        ([3e38, -3e38], [3e38, 3e38], 0),
        ([1e-45, np.inf], [1e-45, -1e-45], -np.inf),
    ],
)
@pytest.mark.parametrize("padding", [0, 40, 20_000])
def test_infinite_and_undefined(
    x: list[float], y: list[float], expected: float, padding: int
) -> None:
    ones, zeros = np.ones(padding), np.zeros(padding)
    result = limb(
        np.concatenate([zeros, x]).astype(np.float32), np.concatenate([ones, y]).astype(np.float32)
    )
    np.testing.assert_array_equal(result, np.float32(expected))


def test_half_way_cases_go_to_even() -> None:
    for last, tail, expected in (
        (2**23, [2.0**-1], 2**23),
        (2**23 + 1, [2.0**-1], 2**23 + 2),
        (2**23, [2.0**-1, 2.0**-40], 2**23 + 1),
        (2**23 + 1, [2.0**-1, -(2.0**-40)], 2**23 + 1),
        (2**24 - 1, [2.0**-1], 2**24),
    ):
        x = np.array([last, *tail], np.float32)
        for sign in (1, -1):
            assert limb(sign * x, np.ones_like(x)) == sign * expected


def test_norm() -> None:
    random = np.random.default_rng(5)
    x = random_floats(random, (600, 9), 0, 254)
    x[:200] = random_floats(random, (200, 9), 120, 130)
    x[200] = 0
    x[201:210] = random_floats(random, (9, 9), 0, 0)
    for a, result in zip(x, np.array(norm(mx.array(x), accumulate="limb")), strict=True):
        assert result.view(np.uint32) == nearest_root(limb_dot(a, a)).view(np.uint32)


def test_norm_beyond_the_range_of_squares() -> None:
    x = np.array([[3e38, 0], [3e-42, 4e-42], [3e20, 4e20], [np.inf, 1], [3.4e38, 3.4e38]])
    x = x.astype(np.float32)
    with np.errstate(over="ignore"):
        expected = np.sqrt((x.astype(np.float64) ** 2).sum(axis=1)).astype(np.float32)
    np.testing.assert_array_equal(np.array(norm(mx.array(x), accumulate="limb")), expected)


@pytest.mark.parametrize("rows", [40, 17_000])
def test_project_and_gram(rows: int) -> None:
    random = np.random.default_rng(rows)
    Q, V = (random_floats(random, (rows, k), 117, 137) for k in (3, 4))
    projected = np.array(project(mx.array(Q), mx.array(V), accumulate="limb"))
    squares = np.array(gram(mx.array(V), accumulate="limb"))
    for j in range(4):
        for i in range(3):
            assert projected[i, j] == nearest(exact_dot(Q[:, i], V[:, j]))
        for i in range(4):
            assert squares[i, j] == nearest(exact_dot(V[:, i], V[:, j]))
