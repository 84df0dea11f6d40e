"""The gradient of svd_topk: against central differences of LAPACK's factors in double precision."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
import scipy.linalg
from numpy.typing import NDArray

from anymetal.linalg import svd_topk

Array = NDArray[Any]
Loss = Callable[[Array], float]


def factors(A: Array, k: int) -> tuple[Array, Array, Array]:
    U, S, Vt = scipy.linalg.svd(A, full_matrices=False)
    U, S, Vt = U[:, :k], S[:k], Vt[:k]
    sign = np.sign(U[np.abs(U).argmax(axis=0), range(k)])
    return U * sign, S, Vt * sign[:, None]


def weights(shape: tuple[int, int], k: int, seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    return [random.standard_normal(s) for s in ((shape[0], k), (k,), (k, shape[1]))]


def slope(A: Array, direction: Array, w: list[Array]) -> float:
    """Of the sum of weights times factors, in a direction."""

    def loss(A: Array) -> float:
        return float(sum((a * b).sum() for a, b in zip(w, factors(A, len(w[1])), strict=True)))

    step = 1e-6 * np.abs(A).max()
    return (loss(A + step * direction) - loss(A - step * direction)) / (2 * step)


def gradient(A: Array, w: list[Array], **options: Any) -> Array:
    def loss(x: mx.array) -> mx.array:
        found = svd_topk(x, len(w[1]), tol=1e-6, **options)
        return sum(((mx.array(a.astype("f4")) * b).sum() for a, b in zip(w, found, strict=True)))

    return np.array(mx.grad(loss)(mx.array(A.astype("f4"))), float)


def graded(shape: tuple[int, int], decay: float, seed: int = 0) -> Array:
    """With singular values that differ by that factor."""
    random = np.random.default_rng(seed)
    k = min(shape)
    left, right = (np.linalg.qr(random.standard_normal((s, k)))[0] for s in shape)
    return ((left * decay ** np.arange(k)) @ right.T).astype("f4").astype(float)


@pytest.mark.parametrize("path", ["full", "subspace"])
@pytest.mark.parametrize(
    ("shape", "k"), [((13, 7), 3), ((7, 13), 3), ((6, 6), 6), ((9, 5), 5), ((5, 9), 5), ((8, 3), 1)]
)
def test_every_element(shape: tuple[int, int], k: int, path: str) -> None:
    A, w = graded(shape, 0.8), weights(shape, k, seed=k)
    directions = np.eye(A.size).reshape(-1, *shape)
    expected = np.array([slope(A, each, w) for each in directions]).reshape(shape)
    np.testing.assert_allclose(
        gradient(A, w, path=path), expected, atol=2e-5 * np.abs(expected).max()
    )


@pytest.mark.parametrize("path", ["full", "subspace", "lanczos"])
@pytest.mark.parametrize("shape", [(300, 90), (90, 300)])
@pytest.mark.parametrize("scale", [1.0, 1e-25, 1e25])
def test_larger_matrices(shape: tuple[int, int], path: str, scale: float) -> None:
    A, w = scale * graded(shape, 0.9), weights(shape, 5, seed=3)
    w[1] /= scale  # so that values and vectors count as much
    got = gradient(A, w, path=path)
    for seed in range(3):
        direction = np.random.default_rng(seed).standard_normal(shape)
        size = scale * np.linalg.norm(got) * np.linalg.norm(direction) / np.sqrt(A.size)
        difference = slope(A, direction, w) - (got * direction).sum()
        assert abs(difference) * scale <= 1e-3 * size


def test_batches_and_narrow_floats() -> None:
    A = np.stack([graded((12, 8), 0.7, seed) for seed in range(3)])
    w = weights((12, 8), 2, seed=1)
    expected = np.stack([gradient(each, w) for each in A])
    np.testing.assert_allclose(gradient(A, w), expected, atol=1e-6)
    half = mx.grad(lambda x: svd_topk(x, 2)[1].sum())(mx.array(A).astype(mx.float16))
    assert half.dtype == mx.float16
    U, _, Vt = svd_topk(mx.array(A.astype("f2")), 2)
    np.testing.assert_allclose(half, U @ Vt, atol=2e-3)


def test_equal_values() -> None:
    """S and what does not depend on the choice of vectors have gradients all the same."""
    A = mx.diag(mx.array([3.0, 3.0, 1.0, 0.5]))
    np.testing.assert_allclose(
        mx.grad(lambda x: svd_topk(x, 2)[1].sum())(A), np.diag([1.0, 1, 0, 0]), atol=1e-6
    )
    vectors = mx.grad(lambda x: svd_topk(x, 2)[0][0, 0])(A)
    assert not np.isfinite(np.array(vectors)).all()


def test_zero_values() -> None:
    A = mx.zeros((6, 4))
    assert np.isfinite(np.array(mx.grad(lambda x: svd_topk(x, 2)[1].sum())(A))).all()


def test_hardly_separated_values() -> None:
    A = graded((60, 40), 0.9)
    U, S, Vt = scipy.linalg.svd(A, full_matrices=False)
    S[3] = S[2] * (1 - 1e-6)
    A = (U * S) @ Vt
    w = weights((60, 40), 3, seed=0)
    with pytest.warns(RuntimeWarning, match="hardly above the one that follows"):
        gradient(A, w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient(A, weights((60, 40), 2, seed=0))
