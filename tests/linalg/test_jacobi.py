"""Singular values of small matrices by rotations: against LAPACK in double precision."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from numpy.typing import NDArray

from anymetal.linalg.jacobi import jacobi_svd

Array = NDArray[Any]

ROUNDOFF = 2.0**-24


def check(matrices: Array) -> None:
    P, S, Q = (np.array(x).astype(np.float64) for x in jacobi_svd(mx.array(matrices)))
    exact = np.linalg.svd(matrices.astype(np.float64), compute_uv=False)
    n, length = matrices.shape[-2:]
    scale, unit = exact[..., :1], ROUNDOFF * (n + length) ** 0.5
    assert (np.diff(S) <= 0).all()
    assert (np.abs(S - exact) <= 4 * unit * scale).all()
    residual = np.linalg.norm(matrices - (P * S[..., None, :]) @ Q.swapaxes(-1, -2), axis=(-2, -1))
    assert (residual <= 8 * unit * scale[..., 0]).all()
    for factor in (P, Q):
        assert np.abs(factor.swapaxes(-1, -2) @ factor - np.eye(n)).max() <= 16 * unit


def normal(*shape: int) -> Array:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 5), (2, 2), (3, 3), (5, 7), (17, 40), (64, 64), (67, 130), (2, 3, 9, 12)]
)
def test_shapes(shape: tuple[int, ...]) -> None:
    check(normal(*shape))


def test_spectra() -> None:
    matrix = normal(40, 50)
    columns = np.logspace(0, -9, 50, dtype=np.float32)
    check(matrix * columns)
    check(matrix * columns[:40, None])
    check(np.outer(np.arange(1, 41), np.ones(50)).astype(np.float32))  # of rank 1
    check(np.r_[matrix[:20], matrix[:20]])  # of rank 20
    check(np.eye(33, 40, dtype=np.float32))
    check(np.zeros((5, 7), dtype=np.float32))
    left, right = (np.linalg.qr(normal(30, 30).astype(np.float64))[0] for _ in range(2))
    check((left * np.repeat([4.0, 2.0, 1.0], 10) @ right.T).astype(np.float32))  # multiple values


def test_extremes_of_size() -> None:
    check(normal(12, 12) * np.float32(1e9))
    check(normal(12, 12) * np.float32(1e-9))
