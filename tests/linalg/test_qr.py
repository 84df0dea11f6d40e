"""QR factorisations beside LAPACK's, of matrices of all kinds, and gradients beside PyTorch's."""

from __future__ import annotations

import functools
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
import scipy.linalg

from anymetal import targets
from anymetal.errors import DtypeError
from anymetal.linalg.qr import PATHS, qr
from anymetal.tune import policies, switch

Array = np.ndarray[Any, Any]

# A kernel is compiled for each shape up to 8 × 8, and above that for each number of strips of 32
# columns: what other tests take, too, is compiled already.
SIZES = (1, 3, 31, 32, 33, 100, 257)


def normal(*shape: int) -> Array:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def prescribed(m: int, n: int, condition: float) -> Array:
    """A matrix with singular values in geometric progression."""
    random = np.random.default_rng((m, n))
    k = min(m, n)
    left = np.linalg.qr(random.standard_normal((m, k)))[0]
    right = np.linalg.qr(random.standard_normal((n, k)))[0]
    return ((left * np.geomspace(1, 1 / condition, k)) @ right.T).astype(np.float32)


def lauchli(n: int, small: float) -> Array:
    return np.vstack([np.ones((1, n)), small * np.eye(n)]).astype(np.float32)


def factors(a: Array, path: str | None = None) -> tuple[Array, Array]:
    q, r = qr(mx.array(a), path=path)
    return np.array(q), np.array(r)


def loss(q: Array) -> float:
    """|QᵀQ - I|, in double precision and Frobenius' norm."""
    q = q.astype(np.float64)
    return float(np.linalg.norm(q.T @ q - np.eye(q.shape[1])))


def residual(a: Array, q: Array, r: Array) -> float:
    return float(np.linalg.norm(q.astype(np.float64) @ r - a))


def check(a: Array, q: Array, r: Array) -> None:
    m, n = a.shape
    k = min(m, n)
    assert q.shape == (m, k) and r.shape == (k, n)
    assert loss(q) <= 1e-6 * np.sqrt(n)
    lapack = residual(a, *scipy.linalg.qr(a, mode="economic"))
    assert residual(a, q, r) <= max(4 * lapack, 1e-7 * float(np.linalg.norm(a)))
    assert np.array_equal(r, np.triu(r))
    assert (np.diagonal(r) >= 0).all()


def paths(m: int, n: int) -> list[str]:
    """Those of ours that can do it; the reference takes its time."""
    return [
        *(["thread"] if max(m, n) <= 8 else []),
        "householder",
        *(["cholesky"] if n <= min(m, 256) else []),
        *(["mgs"] if m * n <= 40_000 else []),
    ]


@pytest.mark.parametrize("n", SIZES)
def test_square(n: int) -> None:
    a = normal(n, n)
    for path in paths(n, n):
        check(a, *factors(a, path))


@pytest.mark.parametrize("shape", ((1, 5), (8, 5), (4, 7), (40, 33), (33, 99), (31, 32), (300, 9)))
def test_tall_and_wide(shape: tuple[int, int]) -> None:
    a = normal(*shape)
    for path in (*paths(*shape), "mlx"):
        check(a, *factors(a, path))


@pytest.mark.parametrize("shape", ((2000, 3), (512, 512), (100, 700), (3000, 40)))
def test_large(shape: tuple[int, int]) -> None:
    a = normal(*shape)
    check(a, *factors(a))


@pytest.mark.slow
@pytest.mark.parametrize("shape", ((1024, 1024), (100_000, 33), (2100, 600)))
def test_very_large(shape: tuple[int, int]) -> None:
    a = normal(*shape)
    check(a, *factors(a))


@pytest.mark.parametrize("path", sorted(PATHS.keys() - {"thread"}))
def test_factors_are_those_of_double_precision(path: str) -> None:
    a = prescribed(60, 40, 10)
    q, r = factors(a, path)
    exact_q, exact_r = scipy.linalg.qr(a.astype(np.float64), mode="economic")
    sign = np.sign(np.diagonal(exact_r))
    assert np.abs(q - exact_q * sign).max() <= 1e-5
    assert np.abs(r - exact_r * sign[:, None]).max() <= 1e-5


@pytest.mark.parametrize("condition", (1e2, 1e5, 1e7))
@pytest.mark.parametrize("shape", ((8, 8), (100, 40), (40, 100), (100, 100), (1000, 30)))
def test_prescribed_condition(shape: tuple[int, int], condition: float) -> None:
    a = prescribed(*shape, condition)
    for path in paths(*shape):
        check(a, *factors(a, path))


@pytest.mark.parametrize(
    "a",
    (
        scipy.linalg.hilbert(12).astype(np.float32),
        scipy.linalg.hilbert(100)[:, :30].astype(np.float32),
        lauchli(50, 1e-4),
        lauchli(50, 1e-7),
        np.vander(np.linspace(0, 1, 50), 20).astype(np.float32),
    ),
    ids=("hilbert", "tall hilbert", "läuchli 1e-4", "läuchli 1e-7", "vandermonde"),
)
def test_ill_conditioned(a: Array) -> None:
    for path in ("householder", "cholesky", "mgs"):
        check(a, *factors(a, path))


@pytest.mark.parametrize("path", ("householder", "cholesky", "mgs"))
def test_dependent_columns(path: str) -> None:
    a = normal(50, 12)
    a[:, 3] = 0
    a[:, 7] = a[:, 6]
    a[:, 9] = a[:, 0] - 2 * a[:, 1]
    q, r = factors(a, path)
    check(a, q, r)
    assert (np.diagonal(r)[[3, 7, 9]] <= 1e-5).all()
    assert r[3, 3] == 0


@pytest.mark.parametrize("shape", ((5, 3, 3), (70, 8, 5), (5, 4, 7), (5, 1, 5)))
def test_small_matrices(shape: tuple[int, int, int]) -> None:
    a = normal(*shape)
    a[1] = 0
    a[2, :, 0] = 0
    a[3, -1] = a[3, 0]
    a[4] = prescribed(*shape[1:], 1e7)
    for matrix, q, r in zip(a, *factors(a), strict=True):
        check(matrix, q, r)


@pytest.mark.skipif(targets.active().on_gpu, reason="which path is the fastest is known of CPUs")
def test_tall_matrices_go_by_cholesky(capsys: pytest.CaptureFixture[str]) -> None:
    a = mx.array(normal(17_000, 5))
    q, _ = qr(a, explain=True)
    assert ": cholesky (" in capsys.readouterr().err
    assert loss(np.array(q)) <= 1e-6 * np.sqrt(5)
    mx.grad(lambda a: qr(a, explain=True)[1].sum())(a)
    assert ": householder (" in capsys.readouterr().err


@pytest.mark.parametrize("path", PATHS)
def test_zeros(path: str) -> None:
    a = np.zeros((8, 5), np.float32)
    q, r = factors(a, path)
    check(a, q, r)
    assert not r.any()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("small", [1e-5, 1e-7, 1e-9])
def test_what_rounding_leaves_of_parallel_columns(path: str, small: float) -> None:
    """Each step leaves rounding errors of the one before, until their squares underflow."""
    n = 8 if path == "thread" else 40
    a = np.outer(normal(n), np.r_[1.0, np.full(n - 1, small)]).astype(np.float32)
    a += np.float32(small * 1e-7) * np.outer(normal(n + 1)[1:], np.ones(n)).astype(np.float32)
    check(a, *factors(a, path))


@pytest.mark.parametrize("path", ("householder", "cholesky", "mgs"))
def test_scale(path: str) -> None:
    a = normal(20, 20)
    for scale in (2.0**-50, 2.0**50):
        check(scale * a, *factors(scale * a, path))


@pytest.mark.parametrize("path", sorted(PATHS.keys() - {"thread"}))
def test_batches(path: str) -> None:
    a = normal(2, 3, 37, 20)
    q, r = factors(a, path)
    assert q.shape == (2, 3, 37, 20) and r.shape == (2, 3, 20, 20)
    for i in np.ndindex(2, 3):
        check(a[i], q[i], r[i])


@pytest.mark.parametrize("path", ("householder", "cholesky", "mgs"))
def test_inputs_that_are_not_contiguous(path: str) -> None:
    a = normal(30, 20)
    for got, want in zip(qr(mx.array(a.T).T, path=path), factors(a, path), strict=True):
        np.testing.assert_array_equal(np.array(got), want)


@pytest.mark.parametrize("path", sorted(PATHS.keys() - {"mlx"}))
def test_nan_stays(path: str) -> None:
    a = normal(8, 5)
    a[5, 2] = np.nan
    q, r = factors(a, path)
    assert np.isnan(q[:, 2:]).all() and np.isnan(r[2, 2])


@pytest.mark.parametrize("shape", ((0, 3), (3, 0), (0, 0), (2, 0, 3), (0, 4, 3)))
def test_empty(shape: tuple[int, ...]) -> None:
    *batch, m, n = shape
    q, r = qr(mx.zeros(shape))
    assert q.shape == (*batch, m, min(m, n))
    assert r.shape == (*batch, min(m, n), n)


# Gradients


def torch_gradient(a: Array, on_q: Array, on_r: Array) -> Array:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(a, dtype=torch.float64, requires_grad=True)
    q, r = torch.linalg.qr(tensor)
    sign = torch.sign(torch.diagonal(r, dim1=-2, dim2=-1)).detach()
    q, r = q * sign[..., None, :], r * sign[..., None]
    ((q * torch.tensor(on_q)).sum() + (r * torch.tensor(on_r)).sum()).backward()
    assert tensor.grad is not None
    return tensor.grad.numpy()


@pytest.mark.parametrize("shape", ((1, 1), (3, 3), (9, 4), (3, 12, 7), (70, 40)))
@pytest.mark.parametrize("which", ("q", "r", "both"))
def test_gradient_beside_torch(shape: tuple[int, ...], which: str) -> None:
    *batch, m, n = shape
    random = np.random.default_rng(1)
    a = np.stack([prescribed(m, n, 5) for _ in range(int(np.prod(batch)))]).reshape(shape)
    on_q = random.standard_normal(shape) * (which != "r")
    on_r = random.standard_normal((*batch, n, n)) * (which != "q")
    weights = [mx.array(on_q.astype(np.float32)), mx.array(on_r.astype(np.float32))]

    def value(a: mx.array) -> mx.array:
        return sum((x * y).sum() for x, y in zip(qr(a), weights, strict=True))

    gradient = np.array(mx.grad(value)(mx.array(a)))
    want = torch_gradient(a, on_q, on_r)
    assert np.abs(gradient - want).max() <= 1e-4 * max(np.abs(want).max(), 1)


def test_gradient_of_wide_matrices_beside_finite_differences() -> None:
    shape, step = (4, 7), 1e-6
    random = np.random.default_rng(3)
    a, change = prescribed(*shape, 5), random.standard_normal(shape)
    on_q, on_r = random.standard_normal((4, 4)), random.standard_normal(shape)

    def value(t: float) -> float:
        q, r = np.linalg.qr(a.astype(np.float64) + t * change)
        sign = np.sign(np.diagonal(r))
        return float((q * sign * on_q).sum() + (r * sign[:, None] * on_r).sum())

    def ours(a: mx.array) -> mx.array:
        q, r = qr(a)
        return (q * mx.array(on_q)).sum() + (r * mx.array(on_r)).sum()

    want = (value(step) - value(-step)) / (2 * step)
    assert (np.array(mx.grad(ours)(mx.array(a))) * change).sum() == pytest.approx(want, rel=1e-4)


# Transformations


@pytest.mark.parametrize("path", ("householder", "mgs", None))
def test_compile_and_vmap(path: str | None) -> None:
    a = mx.array(normal(2, 9, 5))
    function = functools.partial(qr, path=path)
    for transformed in (mx.compile(function), mx.vmap(function)):
        for got, want in zip(transformed(a), function(a), strict=True):
            if path:
                assert mx.array_equal(got, want)
            else:  # MLX's decomposition has no transformations
                assert mx.allclose(got, want, rtol=1e-5, atol=1e-5)


def test_compile_tall() -> None:
    tall = mx.array(normal(17_000, 5))
    assert mx.allclose(mx.compile(qr)(tall)[1], qr(tall)[1], rtol=1e-5, atol=1e-5)


def test_vmap_where_mlx_would_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """MLX has no `mx.vmap` of its decomposition."""
    monkeypatch.setenv("ANYMETAL_SWITCH", "")
    monkeypatch.setitem(policies.POLICIES, "qr", lambda *_: ("mlx", "in this test"))
    switch.forget()
    try:
        a = mx.array(normal(2, 9, 5))
        for got, want in zip(mx.vmap(qr)(a), qr(a), strict=True):
            assert mx.allclose(got, want, rtol=1e-5, atol=1e-5)
    finally:
        switch.forget()


@pytest.mark.parametrize("shape", ((8, 5), (3, 3), (20, 12), (12, 20), (40, 33)))
def test_vmap_of_a_gradient(shape: tuple[int, int]) -> None:
    a = mx.array(normal(3, *shape))
    left, right = (mx.array(normal(*factor.shape)) for factor in qr(a[0]))

    def slope(a: mx.array) -> mx.array:
        def value(a: mx.array) -> mx.array:
            q, r = qr(a)
            return (q * left).sum() + (r * right).sum()

        return mx.grad(value)(a)

    want = mx.stack([slope(one) for one in a])
    assert mx.allclose(mx.vmap(slope)(a), want, rtol=1e-4, atol=1e-4)


# Arguments


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"\[qr\] .*two dimensions.*\(3,\)"):
        qr(mx.zeros((3,)))
    with pytest.raises(DtypeError, match=r"float32, not mlx.core.float16"):
        qr(mx.zeros((3, 2), mx.float16))
    with pytest.raises(ValueError, match=r"'givens'.*householder.*mgs.*mlx"):
        qr(mx.zeros((3, 2)), path="givens")


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    qr(mx.eye(3), path="mgs", explain=True)
    assert "qr 1×3×3 float32: mgs" in capsys.readouterr().err
