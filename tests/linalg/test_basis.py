"""Orthonormal factors and bases, by their properties."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from anymetal.errors import DtypeError
from anymetal.linalg.basis import complete_basis, orthonormal_columns, orthonormal_rows

Array = np.ndarray[Any, Any]

SHAPES = ((1, 1), (8, 5), (4, 7), (40, 33), (33, 99), (2, 3, 20, 12))


def normal(*shape: int) -> Array:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def loss(q: Array) -> float:
    """The largest |QᵀQ - I| of a batch."""
    q = q.astype(np.float64)
    products = q.swapaxes(-1, -2) @ q
    return float(np.linalg.norm(products - np.eye(q.shape[-1]), axis=(-2, -1)).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_orthonormal_columns(shape: tuple[int, ...]) -> None:
    a = normal(*shape)
    q, r = map(np.array, orthonormal_columns(mx.array(a)))
    *batch, m, n = shape
    assert q.shape == (*batch, m, min(m, n)) and r.shape == (*batch, min(m, n), n)
    assert loss(q) <= 1e-6 * np.sqrt(n)
    np.testing.assert_allclose(q @ r, a, atol=2e-5)
    np.testing.assert_array_equal(r, np.triu(r))


@pytest.mark.parametrize(
    "shape",
    [  # rows are columns, transposed: one of two is enough by default
        pytest.param(shape, marks=[] if number % 2 else pytest.mark.slow)
        for number, shape in enumerate(SHAPES)
    ],
)
def test_orthonormal_rows(shape: tuple[int, ...]) -> None:
    a = normal(*shape)
    lower, q = map(np.array, orthonormal_rows(mx.array(a)))
    *batch, m, n = shape
    assert lower.shape == (*batch, m, min(m, n)) and q.shape == (*batch, min(m, n), n)
    assert loss(q.swapaxes(-1, -2)) <= 1e-6 * np.sqrt(m)
    np.testing.assert_allclose(lower @ q, a, atol=2e-5)
    np.testing.assert_array_equal(lower, np.tril(lower))


@pytest.mark.parametrize("path", ("householder", "mgs"))
@pytest.mark.parametrize("shape", ((1, 0), (9, 0), (9, 8), (9, 9), (50, 33), (2, 3, 20, 12)))
def test_complete_basis(shape: tuple[int, ...], path: str) -> None:
    m, k = shape[-2:]
    q = np.linalg.qr(normal(*shape).astype(np.float64))[0].astype(np.float32)
    for n in {k, (k + m) // 2, m}:
        basis = np.array(complete_basis(mx.array(q), n, mx.random.key(1), path=path))
        assert basis.shape == (*shape[:-1], n)
        np.testing.assert_array_equal(basis[..., :k], q)
        if n > 0:
            assert loss(basis) <= 1e-6 * np.sqrt(n)


def test_whole_space_by_default() -> None:
    basis = np.array(complete_basis(mx.eye(9, 2)))
    assert basis.shape == (9, 9)
    assert loss(basis) <= 1e-6


def test_new_columns_are_orthogonal_to_the_span_of_any_columns() -> None:
    q = normal(30, 5)
    new = np.array(complete_basis(mx.array(q), 20))[:, 5:]
    assert loss(new) <= 1e-6 * np.sqrt(20)
    assert np.abs(q.T.astype(np.float64) @ new).max() <= 1e-5


def test_the_key_decides() -> None:
    q = mx.eye(9, 3)
    one, again, other = (complete_basis(q, key=mx.random.key(seed)) for seed in (1, 1, 2))
    assert mx.array_equal(one, again)
    assert not mx.array_equal(one, other)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r"7 vectors .* the 2 in Q there can be from 2 to 5"):
        complete_basis(mx.eye(5, 2), 7)
    with pytest.raises(ValueError, match=r"1 vectors were asked for; .*from 2 to 5"):
        complete_basis(mx.eye(5, 2), 1)
    with pytest.raises(ValueError, match=r"6 vectors were asked for; of the 2 in Q .*from 2 to 5"):
        complete_basis(mx.eye(2, 5), 6)
    with pytest.raises(DtypeError, match=r"\[complete_basis\] Q must be float32, not mlx.*float16"):
        complete_basis(mx.eye(5, 2, dtype=mx.float16))
    with pytest.raises(ValueError, match=r"two dimensions, not the shape \(3,\)"):
        complete_basis(mx.zeros((3,)))
    with pytest.raises(ValueError, match=r"\[orthonormal_rows\].*\(3,\)"):
        orthonormal_rows(mx.zeros((3,)))
    with pytest.raises(DtypeError, match=r"float32, not mlx.core.float16"):
        orthonormal_columns(mx.zeros((3, 2), mx.float16))


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    A = mx.random.normal((12, 3), key=mx.random.key(0))
    Q, _ = orthonormal_columns(A, path="mgs", explain=True)
    orthonormal_rows(A, path="mgs", explain=True)
    complete_basis(Q, path="mgs", explain=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" float32")[0] for line in lines] == [
        "qr 1×12×3",
        "qr 1×3×12",
        "qr 1×12×12",
    ]


@pytest.mark.parametrize("shape", [(2, 5), (3, 2, 33), (1, 64)])
def test_rows_of_wide_matrices(shape: tuple[int, ...]) -> None:
    rows = np.linalg.qr(np.random.default_rng(3).normal(size=shape).swapaxes(-1, -2))[0]
    rows = rows.swapaxes(-1, -2).astype(np.float32)
    basis = np.array(complete_basis(mx.array(rows)))
    *batch, k, m = shape
    assert basis.shape == (*batch, m, m)
    assert np.array_equal(basis[..., :k, :], rows)
    unit = np.broadcast_to(np.eye(m), basis.shape)
    assert np.allclose(basis.astype(float) @ basis.swapaxes(-1, -2), unit, atol=1e-5)
    assert complete_basis(mx.array(rows), k).shape == shape
