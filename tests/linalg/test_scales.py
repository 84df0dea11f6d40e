"""Every routine with matrices of any scale that float32 has, and of several scales at once."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from anymetal import linalg
from anymetal.linalg.cholesky import PATHS as CHOLESKY_PATHS
from anymetal.linalg.jacobi import jacobi_svd
from anymetal.linalg.qr import PATHS as QR_PATHS
from anymetal.linalg.svd import PATHS as SVD_PATHS
from anymetal.nn import grid_sample

Array = np.ndarray[Any, Any]

SCALES = ("1e-43", "1e-40", "1e-38", "1e-30", "1e-19", "1", "1e18", "1e28", "1e36")
#: Powers of ten from row to row, from column to column, or both.
MIXED = ("rows", "columns", "both")
#: The least magnitude that is not subnormal, and the step between those that are.
NORMAL, STEP = 2.0**-126, 2.0**-149


def matrix(m: int, n: int, scale: str, decades: float = 36) -> Array:
    """Normal numbers at that scale, with rounding to subnormal ones where it is so small."""
    random = np.random.default_rng((m, n, len(scale)))
    a = random.standard_normal((m, n))
    decades /= 2 if scale == "both" else 1
    if scale in ("rows", "both"):
        a *= 10.0 ** random.uniform(-decades / 2, decades / 2, (m, 1))
    if scale in ("columns", "both"):
        a *= 10.0 ** random.uniform(-decades / 2, decades / 2, (1, n))
    if scale not in MIXED:
        a *= float(scale)
    return a.astype(np.float32)


def definite(n: int, scale: str) -> Array:
    """A positive definite matrix; "both" scales row and column i by the same power."""
    random = np.random.default_rng(n)
    half = random.standard_normal((n, 2 * n))
    a = half @ half.T / n
    if scale == "both":
        powers = 10.0 ** random.uniform(-19, 18, n)
        return (a * powers * powers[:, None]).astype(np.float32)
    return (a * float(scale)).astype(np.float32)


def loss(q: Array) -> float:
    """|QᵀQ - I|, in double precision and Frobenius' norm."""
    q = q.astype(np.float64)
    return float(np.linalg.norm(q.T @ q - np.eye(q.shape[1])))


@pytest.mark.parametrize("path", QR_PATHS)
@pytest.mark.parametrize("scale", (*SCALES, *MIXED))
def test_qr(path: str, scale: str) -> None:
    for m, n in ((8, 5), (5, 8)) if path == "thread" else ((60, 10), (33, 33)):
        a = matrix(m, n, scale, decades=72)
        q, r = (np.array(x).astype(np.float64) for x in linalg.qr(mx.array(a), path=path))
        assert loss(q) <= 1e-6 * np.sqrt(n)
        # Column by column, lest large ones hide what became of small ones.
        norms = np.linalg.norm(a.astype(np.float64), axis=0)
        error = np.linalg.norm(q @ r - a, axis=0)
        assert (error <= 1e-6 * norms + n * STEP).all(), (m, n)


@pytest.mark.parametrize("path", QR_PATHS)
@pytest.mark.parametrize("bad", (np.nan, np.inf, -np.inf))
def test_qr_of_what_is_not_finite(path: str, bad: float) -> None:
    a = matrix(8, 5, "1")
    a[5, 2] = bad
    q, r = map(np.array, linalg.qr(mx.array(a), path=path))
    assert np.isnan(q[:, 2:]).all() and np.isnan(r[2, 2])


@pytest.mark.parametrize("scale", ("1e-40", "1e-19", "1e28", *MIXED))
def test_orthonormal_rows(scale: str) -> None:
    a = matrix(12, 40, scale, decades=72)
    left, q = (np.array(x).astype(np.float64) for x in linalg.orthonormal_rows(mx.array(a)))
    assert loss(q.T) <= 4e-6
    error = np.linalg.norm(left @ q - a, axis=1)
    assert (error <= 1e-6 * np.linalg.norm(a.astype(np.float64), axis=1) + 40 * STEP).all()


# LAPACK, which path "mlx" is, does not scale.
@pytest.mark.parametrize("path", sorted(CHOLESKY_PATHS.keys() - {"mlx"}))
@pytest.mark.parametrize("upper", (False, True))
@pytest.mark.parametrize("scale", (*SCALES[1:], "both"))
def test_cholesky(path: str, upper: bool, scale: str) -> None:
    for n in {"thread": (1, 7), "simdgroup": (20, 32), "threadgroup": (70,)}.get(path, (300,)):
        a = definite(n, scale)
        factor = np.array(linalg.cholesky(mx.array(a), upper, path=path)).astype(np.float64)
        lower = factor.T if upper else factor
        roots = np.sqrt(np.diagonal(a).astype(np.float64))
        error = np.abs(lower @ lower.T - a) / np.outer(roots, roots)
        assert error.max() <= 3e-7 * np.sqrt(n), n


@pytest.mark.parametrize("n", (7, 20, 70, 300))
def test_tiny_matrices_that_are_not_definite(n: int) -> None:
    a = definite(n, "1e-35")
    a[n // 2, n // 2] *= -1
    assert np.isnan(np.array(linalg.cholesky(mx.array(a)))[np.tril_indices(n)]).all()
    with pytest.raises(ValueError, match=rf"pivot {n // 2} is not above zero"):
        linalg.cholesky(mx.array(a), check=True)


@pytest.mark.parametrize("n", (7, 20, 70, 300))
def test_a_guard_is_about_pivots_as_they_are(n: int) -> None:
    a = definite(n, "1")
    a[-1, :] = a[:, -1] = 0
    a[-1, -1] = 1e-25
    factor = np.array(linalg.cholesky(mx.array(a), guard=1e-10))
    assert factor[-1, -1] == pytest.approx(1e-5)


@pytest.mark.parametrize("path", SVD_PATHS)
@pytest.mark.parametrize("scale", ("1e-43", "1e-38", "1e-19", "1e28", "1e36", *MIXED))
def test_svd_topk(path: str, scale: str) -> None:
    a = matrix(140, 130, scale, decades=30)
    a[:, 0] *= 8  # a value that stands apart
    u, s, vt = (np.array(x).astype(np.float64) for x in linalg.svd_topk(mx.array(a), 1, path=path))
    exact = np.linalg.svd(a.astype(np.float64), compute_uv=False)[0]
    assert abs(s[0] - exact) <= 1e-4 * exact + 140 * STEP
    assert loss(u) <= 1e-5 and loss(vt.T) <= 1e-5


@pytest.mark.parametrize("scale", ("1e-14", "1", "1e14"))
def test_jacobi_within_its_range(scale: str) -> None:
    a = matrix(12, 20, scale)
    s = np.array(jacobi_svd(mx.array(a))[1])
    exact = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    assert np.abs(s - exact).max() <= 1e-6 * exact[0]


@pytest.mark.parametrize("scale", (*SCALES, *MIXED))
def test_products(scale: str) -> None:
    a, v = matrix(50, 40, scale), matrix(40, 3, "1")
    bound = np.abs(a).astype(np.float64) @ np.abs(v)
    got = np.array(linalg.matmul_av(mx.array(a), mx.array(v)))
    # Kernels may flush what is subnormal: each of 40 products, or what they are made of.
    flushed = NORMAL * (40 + np.abs(v).sum(axis=0))
    assert (np.abs(got - a.astype(np.float64) @ v) <= 3e-6 * bound + flushed).all()
    got = np.array(linalg.matmul_atb(mx.array(np.ascontiguousarray(a.T)), mx.array(v)))
    assert (np.abs(got - a.astype(np.float64) @ v) <= 3e-6 * bound + flushed).all()


@pytest.mark.parametrize("scale", ("1e-43", "1e-38", "1e-19", "1", "1e18", "1e36", "columns"))
@pytest.mark.parametrize("accumulate", ("auto", "limb", "exact"))
def test_norms(scale: str, accumulate: Any) -> None:
    a = matrix(5, 700, scale)
    got = np.array(linalg.norm(mx.array(a), accumulate=accumulate))
    exact = np.linalg.norm(a.astype(np.float64), axis=1)
    assert (np.abs(got - exact) <= 1e-6 * exact + STEP).all()


@pytest.mark.parametrize("scale", ("1e-19", "1e18"))
@pytest.mark.parametrize("accumulate", ("auto", "exact"))
def test_dots_grams_and_projections(scale: str, accumulate: Any) -> None:
    a, b = matrix(300, 4, scale), matrix(300, 3, scale)
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    x, y = mx.array(a), mx.array(b)
    for got, exact in (
        (linalg.project(x, y, accumulate=accumulate), a64.T @ b64),
        (linalg.gram(x, accumulate=accumulate), a64.T @ a64),
        (linalg.dot(x[:, :3].T, y.T, accumulate=accumulate), (a64[:, :3] * b64).sum(axis=0)),
    ):
        assert (np.abs(np.array(got) - exact) <= 1e-6 * np.abs(exact) + STEP).all()


@pytest.mark.parametrize("scale", (1e-30, 1e30, 1e37))
def test_grid_sample(scale: float) -> None:
    """Weights add up to one, so samples have the scale of the image."""
    random = np.random.default_rng(3)
    image = random.standard_normal((1, 9, 7, 5)).astype(np.float32)
    grid = random.uniform(-1.1, 1.1, (1, 6, 8, 2)).astype(np.float32)
    one = np.array(grid_sample(mx.array(image), mx.array(grid))).astype(np.float64)
    many = np.array(grid_sample(mx.array(image * np.float32(scale)), mx.array(grid)))
    assert np.abs(many / scale - one).max() <= 1e-6
