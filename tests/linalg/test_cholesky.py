"""Cholesky factors beside LAPACK's in double precision, and gradients beside PyTorch's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
import scipy.linalg

from anymetal.linalg.cholesky import PATHS, cholesky

cholesky_module = importlib.import_module("anymetal.linalg.cholesky")  # not the function

Array = np.ndarray[Any, Any]

LARGEST = {
    "thread": 8,
    "simdgroup": 32,
    "threadgroup": 512,
    "blocks": 4096,
    "steps": 4096,
    "mlx": 4096,
}
# A kernel is compiled for each size up to 8, and above that for each number of strips of 32 rows:
# what other tests take, too, is compiled already.
SIZES = (pytest.param(1, marks=pytest.mark.slow), 3, 8, 9, 31, 32, 33, 100, 257, 512)


def spd(*shape: int, condition: float = 10) -> Array:
    """Symmetric positive definite matrices of that condition number, in float32."""
    random = np.random.default_rng(shape)
    n = shape[-1]
    q = np.linalg.qr(random.standard_normal((*shape[:-2], n, n)))[0]
    return as_float32(q * np.geomspace(1, 1 / condition, n) @ q.swapaxes(-1, -2))


def as_float32(a: Array) -> Array:
    return (0.5 * (a + a.swapaxes(-1, -2))).astype(np.float32)


def factor(a: Array, upper: bool = False, **keywords: Any) -> Array:
    return np.array(cholesky(mx.array(a), upper, **keywords))


def residual(a: Array, lower: Array) -> float:
    """|A - L Lᵀ| / |A|, in double precision."""
    a, lower = a.astype(np.float64), lower.astype(np.float64)
    return float(np.linalg.norm(a - lower @ lower.T) / np.linalg.norm(a))


def paths_for(n: int) -> list[str]:
    return [path for path in PATHS if n <= LARGEST[path]]


def check_against_lapack(a: Array, lower: Array) -> None:
    """In residual at most 4 times LAPACK's, in the factor itself as near as condition allows."""
    bound = max(4 * residual(a, scipy.linalg.cholesky(a, lower=True)), 5e-7)
    assert residual(a, lower) <= bound
    assert np.array_equal(lower, np.tril(lower))
    exact = scipy.linalg.cholesky(a.astype(np.float64), lower=True)
    assert np.abs(lower - exact).max() <= 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize(("panels", "rows"), [(2, 32), (4, 32), (1, 64)])
def test_few_large_blocks_and_many_small_ones(
    panels: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 rows in 2 blocks of 160, in 4 of 96, and in one of 320, the largest that are needed."""
    monkeypatch.setattr(cholesky_module, "_PANELS", panels)
    monkeypatch.setattr(cholesky_module, "_BLOCK", rows)
    a = spd(300, 300)
    lower, upper = factor(a, path="blocks"), factor(a, upper=True, path="blocks")
    check_against_lapack(a, lower)
    check_against_lapack(a, upper.T)


@pytest.mark.parametrize("path", ["blocks", "steps"])
def test_launches_that_are_traced_once(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on GPUs: for each shape and option, on any stream, and in transformations."""
    monkeypatch.setattr(cholesky_module, "_TRACED", {"cpu"})
    stream = mx.new_stream(mx.cpu)
    for a in (spd(130, 130), spd(2, 70, 70), spd(130, 130) + np.eye(130, dtype=np.float32)):
        expected = scipy.linalg.cholesky(a[0], lower=True) if a.ndim == 3 else None
        for keywords in ({}, {"guard": 1e-10}, {"check": True}, {"stream": stream}):
            lower = factor(a, path=path, **keywords)
            check_against_lapack(*((a[0], lower[0]) if a.ndim == 3 else (a, lower)))
            assert np.allclose(factor(a, upper=True, path=path, **keywords), lower.swapaxes(-1, -2))
        if expected is not None:
            mapped = mx.vmap(lambda one: cholesky(one, path=path))(mx.array(a))
            assert np.allclose(np.array(mapped)[0], expected, atol=1e-5)

    def trace(path: str) -> Callable[[mx.array], mx.array]:
        return mx.grad(lambda one: mx.sum(cholesky(one, path=path) ** 2))

    a = mx.array(spd(100, 100))
    assert mx.allclose(trace(path)(a), trace("threadgroup")(a), atol=1e-4)
    assert mx.allclose(mx.compile(trace(path))(a), trace(path)(a), atol=1e-6)


@pytest.mark.parametrize("n", SIZES)
def test_every_path_and_triangle(n: int) -> None:
    a = spd(n, n)
    for path in paths_for(n):
        check_against_lapack(a, factor(a, path=path))
        check_against_lapack(a, factor(a, upper=True, path=path).T)


def test_one_number() -> None:
    nine = np.full((1, 1), 9, np.float32)
    assert factor(nine).item() == factor(nine, upper=True).item() == 3


@pytest.mark.parametrize("n", (8, 20, 100, 270))
def test_only_one_triangle_is_read(n: int) -> None:
    a = spd(n, n)
    garbage = np.where(np.tri(n, k=-1, dtype=bool), np.nan, a)
    for path in set(paths_for(n)) - {"mlx"}:
        want = factor(a, path=path)
        np.testing.assert_array_equal(factor(garbage, upper=True, path=path).T, want)
        np.testing.assert_array_equal(factor(garbage.T, path=path), want)


@pytest.mark.parametrize("n", (8, 24, 100, 270))
def test_batches(n: int) -> None:
    a = spd(2, 3, n, n)
    for path in paths_for(n):
        result = factor(a, path=path)
        assert result.shape == a.shape
        for matrix, lower in zip(a.reshape(6, n, n), result.reshape(6, n, n), strict=True):
            check_against_lapack(matrix, lower)


def test_more_than_one_block() -> None:
    a = spd(600, 600)
    check_against_lapack(a, factor(a))
    check_against_lapack(a, factor(a, upper=True).T)


@pytest.mark.slow
def test_largest() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((4096, 4096), dtype=np.float32)
    a = as_float32(x @ x.T / 4096 + np.eye(4096))
    lower = factor(a)
    assert residual(a, lower) <= 1e-6


def test_inputs_that_are_not_contiguous() -> None:
    a = spd(4, 40, 40)
    strided = mx.array(np.repeat(a, 2, axis=-1))[..., ::2]
    np.testing.assert_array_equal(np.array(cholesky(strided)), factor(a))


@pytest.mark.parametrize("shape", ((0, 0), (3, 0, 0), (0, 5, 5), (2, 0, 40, 40)))
def test_empty(shape: tuple[int, ...]) -> None:
    assert cholesky(mx.zeros(shape)).shape == shape
    assert cholesky(mx.zeros(shape), check=True).shape == shape


@pytest.mark.parametrize("condition", (1e3, 1e5, 1e6))
@pytest.mark.parametrize("n", (8, 32, 120, 260))
def test_residuals_of_ill_conditioned_matrices(n: int, condition: float) -> None:
    a = spd(n, n, condition=condition)
    for path in paths_for(n):
        bound = max(4 * residual(a, scipy.linalg.cholesky(a, lower=True)), 5e-7)
        assert residual(a, factor(a, path=path)) <= bound


@pytest.mark.parametrize("n", (8, 30, 270))
def test_not_positive_definite(n: int) -> None:
    a = spd(3, n, n)
    for pivot in (0, n // 2, n - 1):
        broken = a.copy()
        broken[1, pivot, pivot] = -1
        outside = ~np.tri(n, dtype=bool)
        for path in paths_for(n):
            result = factor(broken, path=path)
            assert np.isnan(result[1][~outside]).all()
            assert (result[1][outside] == 0).all()
            for i in (0, 2):
                check_against_lapack(a[i], result[i])
            upper = factor(broken, upper=True, path=path)
            np.testing.assert_array_equal(upper.swapaxes(1, 2)[1], result[1])
            with pytest.raises(ValueError, match=rf"Matrix \[1\] .* pivot {pivot} is not above"):
                factor(broken, check=True, path=path)


def test_zero_pivot_is_not_positive() -> None:
    for n in (8, 30, 270):
        a = np.eye(n, dtype=np.float32)
        a[2, 2] = 0
        for path in paths_for(n):
            with pytest.raises(ValueError, match=r"The matrix .* pivot 2 is not above zero"):
                factor(a, check=True, path=path)


def test_index_of_a_matrix_in_a_batch_of_two_dimensions() -> None:
    a = spd(2, 3, 8, 8)
    a[1, 2] = -a[1, 2]
    with pytest.raises(ValueError, match=r"Matrix \[1, 2\] is not positive definite: pivot 0 "):
        factor(a, check=True)


def test_check_returns_the_factor() -> None:
    for n in (8, 30, 40, 600):
        a = spd(n, n)
        np.testing.assert_array_equal(factor(a, check=True), factor(a))


@pytest.mark.parametrize("n", (8, 30, 270))
def test_nan_and_infinity(n: int) -> None:
    a = spd(n, n)
    for value, row, column in ((np.nan, n // 2, 1), (np.nan, n - 1, n - 1), (np.inf, n - 1, 0)):
        broken = a.copy()
        broken[row, column] = value
        for path in set(paths_for(n)) - {"mlx"}:
            result = factor(broken, path=path)
            assert np.isnan(result[np.tri(n, dtype=bool)]).all()
            with pytest.raises(ValueError, match=f"pivot {row} is not above zero"):
                factor(broken, check=True, path=path)


def guarded_reference(a: Array, guard: float) -> Array:
    """Column by column, as the definition of the guard says."""
    lower = np.zeros_like(a, dtype=np.float64)
    for j in range(len(a)):
        pivot = a[j, j] - lower[j, :j] @ lower[j, :j]
        lower[j, j] = np.sqrt(guard if pivot <= guard else pivot)
        lower[j + 1 :, j] = (a[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    return lower


@pytest.mark.parametrize("n", (8, 30, 270))
def test_guard(n: int) -> None:
    a = np.diag(np.arange(1, n + 1)).astype(np.float32)
    a[2, 2] = -4
    a[3, 1] = a[1, 3] = 0.5
    for path in set(paths_for(n)) - {"mlx"}:
        for guard in (1e-10, 0.25):
            np.testing.assert_allclose(
                factor(a, guard=guard, path=path), guarded_reference(a, guard), rtol=1e-6
            )
        good = spd(n, n)
        np.testing.assert_array_equal(factor(good, guard=1e-10, path=path), factor(good, path=path))


# Gradients


def torch_gradient(a: Array, weights: Array, upper: bool) -> Array:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(a, dtype=torch.float64, requires_grad=True)
    (torch.linalg.cholesky(tensor, upper=upper) * torch.tensor(weights)).sum().backward()
    assert tensor.grad is not None
    return tensor.grad.numpy()


@pytest.mark.parametrize("upper", (False, True))
@pytest.mark.parametrize("shape", ((1, 1), (3, 3), (32, 32), (3, 40, 40), (270, 270)))
def test_gradient_beside_torch(shape: tuple[int, ...], upper: bool) -> None:
    a = spd(*shape)
    weights = np.random.default_rng(1).standard_normal(shape)
    weighted = mx.array(weights.astype(np.float32))
    gradient = mx.grad(lambda a: (cholesky(a, upper) * weighted).sum())(mx.array(a))
    want = torch_gradient(a, weights, upper)
    assert np.abs(np.array(gradient) - want).max() <= 1e-4 * np.abs(want).max()


def test_gradient_beside_finite_differences() -> None:
    n, step = 8, 1e-6
    a = spd(n, n)
    random = np.random.default_rng(2)
    weights = random.standard_normal((n, n))
    change = random.standard_normal((n, n))
    change = change + change.T

    def value(t: float) -> float:
        return float((np.linalg.cholesky(a.astype(np.float64) + t * change) * weights).sum())

    want = (value(step) - value(-step)) / (2 * step)
    weighted = mx.array(weights.astype(np.float32))
    gradient = mx.grad(lambda a: (cholesky(a) * weighted).sum())(mx.array(a))
    assert (np.array(gradient) * change).sum() == pytest.approx(want, rel=1e-4)


def test_gradient_with_check() -> None:
    a = mx.array(spd(30, 30))
    checked = mx.grad(lambda a: cholesky(a, check=True).sum())(a)
    assert mx.array_equal(checked, mx.grad(lambda a: cholesky(a).sum())(a))
    with pytest.raises(ValueError, match="not positive definite"):
        mx.grad(lambda a: cholesky(a, check=True).sum())(-a)


# Transformations


@pytest.mark.parametrize("n", (8, 20, 40, 270))
def test_compile_and_vmap(n: int) -> None:
    a = mx.array(spd(3, n, n))
    want = cholesky(a)
    assert mx.array_equal(mx.compile(cholesky)(a), want)
    assert mx.array_equal(mx.vmap(cholesky)(a), want)
    assert mx.array_equal(mx.vmap(mx.vmap(cholesky), in_axes=1)(a[:, None]), want[None])

    def slope(a: mx.array) -> mx.array:
        return mx.grad(lambda a: cholesky(a).sum())(a)

    assert mx.allclose(mx.compile(slope)(a), slope(a), atol=1e-4)


@pytest.mark.parametrize("upper", (False, True))
@pytest.mark.parametrize("n", (8, 20, 40))
def test_vmap_of_a_gradient(n: int, upper: bool) -> None:
    a, weight = mx.array(spd(3, n, n)), mx.array(spd(n, n))

    def slope(a: mx.array) -> mx.array:
        return mx.grad(lambda a: (cholesky(a, upper) * weight).sum())(a)

    want = mx.stack([slope(one) for one in a])
    assert mx.allclose(mx.vmap(slope)(a), want, rtol=1e-5, atol=1e-5)
    nested = mx.vmap(mx.vmap(slope, in_axes=2, out_axes=2), in_axes=1)
    assert mx.allclose(
        nested(mx.moveaxis(a, 0, 2)[:, None])[0], mx.moveaxis(want, 0, 2), 1e-5, 1e-5
    )


# Arguments


@pytest.mark.parametrize(
    ("call", "message"),
    (
        (lambda: cholesky(mx.zeros((3,))), r"\[cholesky\] .*square.*\(3,\)"),
        (lambda: cholesky(mx.zeros((2, 3))), r"square.*\(2, 3\)"),
        (lambda: cholesky(mx.zeros((2, 2), mx.float16)), "float32, not mlx.core.float16"),
        (lambda: cholesky(mx.zeros((2, 2), mx.int32)), "float32, not mlx.core.int32"),
        (lambda: cholesky(mx.eye(2), guard=0.0), "guard must be above zero"),
        (lambda: cholesky(mx.eye(2), path="fast"), "'fast'.*thread, simdgroup.*mlx"),
        (
            lambda: cholesky(mx.eye(40), path="simdgroup"),
            "'simdgroup'.*threadgroup, blocks, steps, mlx",
        ),
        (
            lambda: cholesky(mx.eye(40), guard=1e-10, path="mlx"),
            "'mlx'.*threadgroup, blocks, steps",
        ),
    ),
)
def test_wrong_arguments(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    cholesky(mx.eye(3), explain=True)
    assert "cholesky" in (told := capsys.readouterr().err)
    assert "thread" in told
