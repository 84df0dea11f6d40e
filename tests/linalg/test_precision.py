"""Sums in float and two floats, and what all ways of adding have in common."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from anymetal.errors import DtypeError
from anymetal.linalg.precision import dot, gram, norm, project
from tests.linalg.exact import (
    ROUNDOFF,
    absolute_dot,
    condition_of,
    exact_dot,
    ill_conditioned,
)

Array = NDArray[Any]

WAYS = ["float32", "compensated", "limb", "exact", "auto"]


def additions(count: int) -> int:
    """How many a product takes part in, at most."""
    return -(-min(count, 2**14) // 32) + -(-count // 2**19) + 10


@pytest.mark.parametrize("count", [1, 2, 5, 31, 32, 33, 1000, 16384, 16385, 300_000])
def test_bounds(count: int) -> None:
    random = np.random.default_rng(count)
    x, y = random.standard_normal((2, count)).astype(np.float32)
    exact, magnitudes = exact_dot(x, y), absolute_dot(x, y)
    steps = additions(count) * ROUNDOFF
    bounds = {
        "float32": 2 * steps * magnitudes,
        "compensated": ROUNDOFF * abs(exact) + 3 * steps**2 * magnitudes,
    }
    for way, bound in bounds.items():
        result = dot(mx.array(x), mx.array(y), accumulate=way).item()
        assert abs(Fraction(result) - exact) <= bound


@pytest.mark.parametrize("condition", [1e8, 1e10, 1e12, 1e14, 1e18, 1e24, 1e30])
@pytest.mark.parametrize("count", [20, 300])
def test_compensated_on_ill_conditioned(condition: float, count: int) -> None:
    for seed in range(10):
        x, y = ill_conditioned(count, condition, np.random.default_rng(seed))
        exact, magnitudes = exact_dot(x, y), absolute_dot(x, y)
        result = dot(mx.array(x), mx.array(y), accumulate="compensated").item()
        bound = ROUNDOFF * abs(exact) + 3 * (additions(count) * ROUNDOFF) ** 2 * magnitudes
        assert abs(Fraction(result) - exact) <= bound


def test_compensated_repairs_what_float_loses() -> None:
    x, y = ill_conditioned(200, 1e9, np.random.default_rng(0))
    assert condition_of(x, y) > 1e7
    exact = float(exact_dot(x, y))
    plain, compensated = (dot(mx.array(x), mx.array(y), accumulate=way).item() for way in WAYS[:2])
    assert abs(compensated - exact) < 1e-4 * abs(exact)
    assert abs(plain - exact) > 1e-3 * abs(exact)


def test_many_small_dots_at_once() -> None:
    random = np.random.default_rng(1)
    x, y = random.standard_normal((2, 1000, 5)).astype(np.float32)
    expected = (x.astype(np.float64) * y).sum(-1)
    for way in WAYS:
        result = np.array(dot(mx.array(x), mx.array(y), accumulate=way))
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("count", [3, 40_000])
def test_infinite_and_undefined(way: str, value: float, count: int) -> None:
    x = np.ones(count, np.float32)
    x[1] = value
    with np.errstate(over="ignore"):
        expected = np.float32(value) * np.float32(abs(value))
    result = np.array(dot(mx.array(x), mx.abs(mx.array(x)), accumulate=way))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("way", WAYS)
def test_shapes_broadcast(way: str) -> None:
    random = np.random.default_rng(2)
    x, y = random.standard_normal((3, 1, 6)), random.standard_normal((4, 6))
    result = dot(mx.array(x.astype(np.float32)), mx.array(y.astype(np.float32)), accumulate=way)
    np.testing.assert_allclose(np.array(result), (x * y).sum(-1), rtol=1e-4, atol=1e-5)

    Q, V = random.standard_normal((2, 1, 9, 3)), random.standard_normal((5, 9, 4))
    result = project(mx.array(Q.astype(np.float32)), mx.array(V.astype(np.float32)), accumulate=way)
    np.testing.assert_allclose(np.array(result), Q.swapaxes(-1, -2) @ V, rtol=1e-4, atol=1e-5)

    result = gram(mx.array(Q.astype(np.float32)), accumulate=way)
    np.testing.assert_allclose(np.array(result), Q.swapaxes(-1, -2) @ Q, rtol=1e-4, atol=1e-5)

    result = norm(mx.array(Q.astype(np.float32)), accumulate=way)
    np.testing.assert_allclose(np.array(result), np.linalg.norm(Q, axis=-1), rtol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_strided_inputs(way: str) -> None:
    random = np.random.default_rng(4)
    x = mx.array(random.standard_normal((50, 7)).astype(np.float32))
    expected = (np.array(x).astype(np.float64) ** 2).sum(0)
    np.testing.assert_allclose(np.array(dot(x.T, x.T, accumulate=way)), expected, rtol=1e-5)
    np.testing.assert_allclose(
        np.array(norm(x.T[::2], accumulate=way)), np.sqrt(expected[::2]), rtol=1e-5
    )


@pytest.mark.parametrize("way", WAYS)
def test_empty(way: str) -> None:
    assert dot(mx.zeros((0,)), mx.zeros((0,)), accumulate=way).item() == 0
    assert dot(mx.zeros((3, 0)), mx.zeros((0,)), accumulate=way).tolist() == [0, 0, 0]
    assert dot(mx.zeros((0, 3)), mx.zeros((3,)), accumulate=way).shape == (0,)
    assert norm(mx.zeros((2, 0)), accumulate=way).tolist() == [0, 0]
    assert project(mx.zeros((0, 2)), mx.zeros((0, 1)), accumulate=way).tolist() == [[0], [0]]
    assert project(mx.zeros((4, 0)), mx.zeros((4, 2)), accumulate=way).shape == (0, 2)
    assert gram(mx.zeros((0, 5, 2)), accumulate=way).shape == (0, 2, 2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_short_floats_are_read_exactly(way: str, dtype: mx.Dtype) -> None:
    x = mx.random.normal((64,), key=mx.random.key(0)).astype(dtype)
    wide = np.array(x.astype(mx.float32)).astype(np.float64)
    result = dot(x, x, accumulate=way)
    assert result.dtype == mx.float32
    assert result.item() == pytest.approx((wide**2).sum(), rel=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_gradients(way: str) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(6)
    x, y, Q, V = (
        random.standard_normal(shape).astype(np.float32)
        for shape in ((3, 1, 6), (4, 6), (2, 9, 3), (9, 4))
    )
    cases: list[tuple[Callable[..., Any], Callable[..., Any], list[Array]]] = [
        (lambda a, b: dot(a, b, accumulate=way), lambda a, b: (a * b).sum(-1), [x, y]),
        (lambda a: norm(a, accumulate=way), lambda a: a.norm(dim=-1), [x]),
        (lambda a, b: project(a, b, accumulate=way), lambda a, b: a.mT @ b, [Q, V]),
        (lambda a: gram(a, accumulate=way), lambda a: a.mT @ a, [Q]),
    ]
    for ours, theirs, inputs in cases:
        tensors = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in inputs]
        expected = theirs(*tensors)
        weights = random.standard_normal(expected.shape)
        (expected * torch.tensor(weights)).sum().backward()
        weighted = lambda *a, f=ours, w=weights: (f(*a) * mx.array(w.astype(np.float32))).sum()  # noqa: E731
        gradients = mx.grad(weighted, tuple(range(len(inputs))))(*map(mx.array, inputs))
        if len(inputs) == 1:
            gradients = [gradients]  # MLX makes no tuple of one
        for gradient, tensor in zip(gradients, tensors, strict=True):
            assert tensor.grad is not None
            np.testing.assert_allclose(np.array(gradient), tensor.grad, rtol=1e-4, atol=1e-5)


def test_gradient_of_the_norm_of_zero_is_zero() -> None:
    gradient = mx.grad(lambda x: norm(x).sum())(mx.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_allclose(np.array(gradient), [[0, 0], [0.6, 0.8]], rtol=1e-6)


def test_errors() -> None:
    x = mx.zeros((3, 4))
    with pytest.raises(ValueError, match=r"\[dot\] The last axes must be equally long.*\(3, 4\)"):
        dot(x, mx.zeros((3,)))
    with pytest.raises(ValueError, match=r"\[project\].*same number of rows"):
        project(x, mx.zeros((4, 3)))
    with pytest.raises(ValueError, match=r"\[norm\] accumulate must be one of .*'limb'.*'double'"):
        norm(x, accumulate="double")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\[gram\] At least 2 axes"):
        gram(mx.zeros((3,)))
    with pytest.raises(DtypeError, match=r"\[dot\].*float32.*int32"):
        dot(x.astype(mx.int32), x.astype(mx.int32))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_norms_over_any_axis(axis: int) -> None:
    x = np.random.default_rng(2).normal(size=(3, 5, 40)).astype(np.float32)
    right = np.linalg.norm(x.astype(float), axis=axis)
    assert np.allclose(np.array(norm(mx.array(x), axis)), right, rtol=1e-6)


def test_projections_of_one_vector() -> None:
    random = np.random.default_rng(2)
    Q, v = random.normal(size=(2, 40, 3)), random.normal(size=40)
    for way in (None, "float32", "limb"):
        found = project(mx.array(Q, mx.float32), mx.array(v, mx.float32), accumulate=way)
        assert np.allclose(np.array(found), np.einsum("bmk,m->bk", Q, v), rtol=1e-5, atol=1e-5)


def test_names_and_axes_that_there_are_not() -> None:
    with pytest.raises(ValueError, match=r"\[norm\] There is no axis 2 in shape \(3, 4\)"):
        norm(mx.zeros((3, 4)), 2)
    with pytest.raises(ValueError, match=r"got 'HPC16x8'\. What others call HPC16x8 is \"limb\""):
        dot(mx.ones(3), mx.ones(3), accumulate="HPC16x8")
