"""Orthonormal blocks: for independent columns, and for any others."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from anymetal.linalg import blocks

Array = NDArray[Any]


def basis_of(rows: int, columns: int) -> Array:
    random = np.random.default_rng(columns)
    return np.linalg.qr(random.standard_normal((rows, columns)))[0].astype(np.float32)


def normal(rows: int, columns: int) -> Array:
    return np.random.default_rng([rows, columns]).standard_normal((rows, columns))


def check(X: Array, basis: Array, rank: int) -> None:
    """`rank`: of what X has outside of the basis."""
    X = X.astype(np.float32)
    Q = blocks.orthonormal(mx.array(X), mx.array(basis), mx.random.key(0))
    joined = np.c_[basis, np.array(Q)].astype(np.float64)
    assert np.abs(joined.T @ joined - np.eye(joined.shape[1])).max() <= 2e-6
    rest = X - basis @ (basis.T.astype(np.float64) @ X)
    left, values, _ = np.linalg.svd(rest, full_matrices=False)
    wanted = left[:, :rank]
    missed = wanted - joined @ (joined.T @ wanted)
    assert (np.linalg.norm(missed, axis=0) <= 2e-6 * np.linalg.norm(X, 2) / values[:rank]).all()


@pytest.mark.parametrize("before", [0, 20])
@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4, 1e6])
def test_any_condition(before: int, condition: float) -> None:
    left, right = np.linalg.qr(normal(200, 12))[0], np.linalg.qr(normal(12, 12))[0]
    X = left * np.geomspace(1, 1 / condition, 12) @ right.T
    check(X, basis_of(200, before), 12)


@pytest.mark.parametrize("before", [0, 20])
def test_dependent_columns(before: int) -> None:
    basis, X = basis_of(200, before), normal(200, 12)
    X[:, 5], X[:, 7] = 0, X[:, 2]
    check(X, basis, 10)
    check(np.zeros((200, 12)), basis, 0)


def test_columns_of_the_basis() -> None:
    basis = basis_of(200, 20)
    check(np.c_[basis[:, :3], normal(200, 4)], basis, 4)
    check(basis[:, :5] + 1e-4 * normal(200, 5), basis, 5)


def test_columns_of_different_size() -> None:
    check(normal(200, 12) * np.logspace(0, -12, 12), basis_of(200, 20), 1)


def test_independent_columns_need_no_eigenvectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_by_eigenvectors", None)
    check(normal(200, 12), basis_of(200, 20), 12)
