"""The largest singular values: against LAPACK in double precision, for every kind of spectrum."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
import scipy.linalg
from numpy.typing import NDArray

from anymetal.errors import DtypeError
from anymetal.linalg.svd import svd_topk
from tests.pairwise import pairwise

Array = NDArray[Any]

ROUNDOFF = 2.0**-24


def with_spectrum(values: Array, rows: int, columns: int, seed: int = 0) -> Array:
    """A matrix with these singular values, to double precision, rounded to float32."""
    random = np.random.default_rng(seed)
    left, right = (
        np.linalg.qr(random.standard_normal((size, values.size)))[0] for size in (rows, columns)
    )
    return ((left * values) @ right.T).astype(np.float32)


def check(matrix: Array, k: int, tol: float = 1e-5, **options: Any) -> None:
    """Everything that is promised of a converged result."""
    results = svd_topk(mx.array(matrix), k, tol=tol, **options)
    assert all(x.dtype == mx.float32 for x in results)
    U, S, Vt = (np.array(x).astype(np.float64) for x in results)
    rows, columns = matrix.shape
    assert (U.shape, S.shape, Vt.shape) == ((rows, k), (k,), (k, columns))

    exact = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    scale, unit = exact[0], ROUNDOFF * (rows + columns) ** 0.5
    assert (np.diff(S) <= 0).all()
    assert (S >= 0).all()
    assert np.abs(S - exact[:k]).max() <= (tol + 2 * unit) * scale
    assert np.linalg.norm(matrix @ Vt.T - U * S, axis=0).max() <= 8 * unit * scale
    assert np.linalg.norm(matrix.T @ U - Vt.T * S, axis=0).max() <= (1.5 * tol + 8 * unit) * scale
    for factor in (U, Vt.T):
        assert np.abs(factor.T @ factor - np.eye(k)).max() <= 16 * unit
    largest = np.abs(U).argmax(axis=0)
    assert (U[largest, np.arange(k)] > 0).all()


# A product of matrices is compiled for each number of strips of 32 rows and of 8 columns: most
# tests share few shapes.
PATHS = ["lanczos", "subspace", "full"]
DECAY = 0.85 ** np.arange(120)


@pytest.mark.parametrize(
    ("shape", "k", "path"),
    pairwise(itertools.product([(300, 120), (120, 300), (120, 120)], [1, 20], PATHS)),
)
def test_decaying_spectrum(shape: tuple[int, int], k: int, path: str) -> None:
    check(with_spectrum(DECAY, *shape), k, path=path, oversample=4)


@pytest.mark.parametrize("path", ["lanczos", "subspace"])
@pytest.mark.parametrize(
    "values",
    [
        np.repeat([5.0, 3.0, 1.0, 0.1], 30),  # multiple values, one of them cut by k
        np.r_[1e4, np.full(5, 1.0), np.full(114, 1e-3)],
        np.logspace(0, -7, 120),
        np.r_[np.ones(6), np.zeros(114)],  # of rank 6
        1 / np.arange(1.0, 121.0),
    ],
    ids=["multiple", "outlier", "down to rounding", "low rank", "harmonic"],
)
def test_spectra(values: Array, path: str) -> None:
    check(with_spectrum(values, 300, 120), 12, path=path, max_steps=200)


@pytest.mark.parametrize("path", PATHS)
def test_every_k_of_a_small_matrix(path: str) -> None:
    matrix = with_spectrum(np.linspace(1, 0.1, 9), 14, 9)
    for k in range(1, 10):
        if path != "lanczos":
            check(matrix, k, path=path, max_steps=500)
        else:
            check(matrix, k)


@pytest.mark.parametrize("path", ["lanczos", "subspace"])
def test_rank_deficient_to_the_last_bit(path: str) -> None:
    random = np.random.default_rng(4)
    outer = np.outer(random.integers(1, 9, 300), random.integers(1, 9, 120)).astype(np.float32)
    check(outer, 12, path=path)
    check(np.eye(300, 120, dtype=np.float32), 12, path=path)
    check(np.diag(np.r_[np.ones(3), np.zeros(117)]).astype(np.float32), 12, path=path)


@pytest.mark.parametrize("path", PATHS)
def test_zero(path: str) -> None:
    U, S, Vt = (np.array(x) for x in svd_topk(mx.zeros((140, 130)), 3, path=path))
    np.testing.assert_array_equal(S, 0)
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(Vt @ Vt.T, np.eye(3), atol=1e-6)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_not_finite(path: str, bad: float) -> None:
    matrix = with_spectrum(DECAY, 140, 130)
    matrix[3, 4] = bad
    for x in svd_topk(mx.array(matrix), 3, path=path):
        assert np.isnan(np.array(x)).all()


@pytest.mark.parametrize("path", ["lanczos", "subspace"])
@pytest.mark.parametrize("scale", [1e36, 1e-30, 1e10])
def test_range_of_float32(path: str, scale: float) -> None:
    check(with_spectrum(DECAY * scale, 300, 120), 12, path=path)


@pytest.mark.parametrize("path", PATHS)
def test_batches(path: str) -> None:
    random = np.random.default_rng(8)
    A = random.standard_normal((2, 3, 40, 131)).astype(np.float32)
    options = {"path": path, "max_steps": 300} if path != "lanczos" else {"oversample": 4}
    U, S, Vt = svd_topk(mx.array(A), 3, **options)
    assert (U.shape, S.shape, Vt.shape) == ((2, 3, 40, 3), (2, 3, 3), (2, 3, 3, 131))
    exact = np.linalg.svd(A.astype(np.float64), compute_uv=False)[..., :3]
    np.testing.assert_allclose(np.array(S), exact, rtol=1e-4)
    product = (np.array(U) * np.array(S)[..., None, :]) @ np.array(Vt)
    one = svd_topk(mx.array(A[1, 2]), 3, **options)
    np.testing.assert_allclose(product[1, 2], np.array((one[0] * one[1]) @ one[2]), atol=1e-3)


def test_empty_batch() -> None:
    U, S, Vt = svd_topk(mx.zeros((0, 9, 5)), 2)
    assert (U.shape, S.shape, Vt.shape) == ((0, 9, 2), (0, 2), (0, 2, 5))


def test_options_change_the_work_only() -> None:
    matrix = with_spectrum(DECAY, 260, 120)
    for options in ({"banding": 1}, {"banding": 4}, {"oversample": 0}, {"oversample": 10}):
        check(matrix, 9, path="lanczos", **options)
    check(matrix, 9, path="lanczos", key=mx.random.key(5))
    check(matrix, 9, tol=1e-3)


def test_repeats() -> None:
    matrix = mx.array(with_spectrum(DECAY, 260, 120))
    first, second = (svd_topk(matrix, 5, path="lanczos") for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(np.array(a), np.array(b))


def test_stops_early_and_late(capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(9)
    hard = mx.array(random.standard_normal((300, 200)).astype(np.float32))
    exact = np.linalg.svd(np.array(hard).astype(np.float64), compute_uv=False)[:8]
    errors = []
    for steps in (1, 2, 4, 30):
        with nullcontext() if steps == 30 else pytest.warns(RuntimeWarning, match="Not converged"):
            S = np.array(svd_topk(hard, 8, path="lanczos", max_steps=steps)[1])
        errors.append(np.abs(S - exact).max())
        assert (exact * (1 + 1e-5) >= S).all()  # Ritz values come from below
    assert errors == sorted(errors, reverse=True)
    with pytest.warns(RuntimeWarning, match=r"after 2 steps: .* tol is 1\.0e-05"):
        svd_topk(hard, 8, path="lanczos", max_steps=2, explain=True)
    assert "2 steps" in (text := capsys.readouterr().err)
    assert "not converged" in text
    svd_topk(hard, 8, path="lanczos", tol=0.5, explain=True)
    assert "not converged" not in capsys.readouterr().err


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_short_floats(dtype: mx.Dtype) -> None:
    A = mx.array(with_spectrum(DECAY, 140, 130)).astype(dtype)
    exact = np.linalg.svd(np.array(A.astype(mx.float32)).astype(np.float64), compute_uv=False)
    np.testing.assert_allclose(np.array(svd_topk(A, 4)[1]), exact[:4], rtol=1e-5)


def test_residuals_at_the_level_of_lapack() -> None:
    matrix = with_spectrum(0.8 ** np.arange(100), 1000, 300)
    for k in (20, 80):
        lapack = scipy.linalg.svd(matrix, full_matrices=False)  # in float32; NumPy's is in double
        for ours, theirs in zip(
            residuals(matrix, *svd_topk(mx.array(matrix), k, tol=2e-6)),
            residuals(matrix, lapack[0][:, :k], lapack[1][:k], lapack[2][:k]),
            strict=True,
        ):
            assert ours <= 4 * theirs


def residuals(matrix: Array, *factors: Any) -> tuple[float, float, float]:
    U, S, Vt = (np.array(x).astype(np.float64) for x in factors)
    return (
        float(np.linalg.norm(matrix - (U * S) @ Vt)),
        float(np.linalg.norm(matrix @ Vt.T - U * S)),
        float(np.linalg.norm(matrix.T @ U - Vt.T * S)),
    )


def test_errors() -> None:
    A = mx.zeros((6, 5))
    for k in (0, 6, -1):
        with pytest.raises(ValueError, match=r"\[svd_topk\] k must be from 1 to min"):
            svd_topk(A, k)
    with pytest.raises(ValueError, match="tol must be positive, got 0"):
        svd_topk(A, 1, tol=0)
    with pytest.raises(ValueError, match="max_steps must be at least 1, got 0"):
        svd_topk(A, 1, max_steps=0)
    with pytest.raises(ValueError, match="banding must be at least 1"):
        svd_topk(A, 1, banding=0)
    with pytest.raises(ValueError, match="oversample must be at least 0"):
        svd_topk(A, 1, oversample=-1)
    with pytest.raises(ValueError, match="A matrix is needed"):
        svd_topk(mx.zeros((5,)), 1)
    with pytest.raises(DtypeError, match="int32"):
        svd_topk(A.astype(mx.int32), 1)
    with pytest.raises(ValueError, match="subspace, full"):
        svd_topk(A, 1, path="jacobi")
    with pytest.raises(ValueError, match=r"'lanczos'.*subspace, full"):
        svd_topk(A, 1, path="lanczos")
