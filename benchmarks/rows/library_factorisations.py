"""Rows of the library's factorisations: Cholesky and QR, single and in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mlx.core as mx
import numpy as np
import scipy.linalg
import torch

from anymetal.linalg.cholesky import cholesky
from anymetal.linalg.qr import qr
from benchmarks.harness import MLX, NUMPY, TORCH, Array, Race, Rival, Row, evaluated, shared
from benchmarks.rows.matrices import cholesky_of_libraries, positive_definite

Prepare = Callable[[np.random.Generator], Race]


def _cholesky(*batch: int, size: int) -> Prepare:
    def prepare(random: np.random.Generator) -> Race:
        a, array, tensor = shared(positive_definite(random, *batch, size))
        count = int(np.prod(batch))
        return Race(
            evaluated(cholesky, a),
            cholesky_of_libraries(a, array, tensor),
            [np.linalg.cholesky(array.astype(np.float64))],
            relative=1e-4,
            absolute=1e-5,
            bytes=8 * count * size**2,
            flops=count * size**3 // 3,
        )

    return prepare


def _qr(*batch: int, rows: int, columns: int) -> Prepare:
    def prepare(random: np.random.Generator) -> Race:
        a, array, tensor = shared(random.standard_normal((*batch, rows, columns), dtype=np.float32))
        q, r = np.linalg.qr(array.astype(np.float64))
        sign = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
        count = int(np.prod(batch))

        def check(results: Sequence[Array]) -> None:
            """Signs are everybody's own affair."""
            q, r = (result.astype(np.float64) for result in results)
            assert np.allclose(q @ r, array, atol=1e-3)
            assert np.allclose(q.swapaxes(-1, -2) @ q, np.eye(columns), atol=1e-4)

        rivals = [
            Rival(TORCH, "torch.linalg.qr", lambda: torch.linalg.qr(tensor), check),
            Rival(
                MLX,
                "mx.linalg.qr",
                evaluated(lambda: mx.linalg.qr(a, stream=mx.cpu)),
                check,
            ),
        ]
        if not batch:
            run = lambda: scipy.linalg.qr(array, mode="economic", check_finite=False)  # noqa: E731
            rivals.append(Rival(NUMPY, "scipy.linalg.qr", run, check))
        return Race(
            evaluated(qr, a),
            rivals,
            [q * sign[..., None, :], r * sign[..., None]],
            relative=1e-3,
            absolute=1e-3,
            bytes=4 * count * (2 * rows * columns + columns**2),
            flops=count * (4 * rows * columns**2 - 4 * columns**3 // 3),
        )

    return prepare


ROWS = [
    Row(
        "lib_cholesky_32",
        "Cholesky factor of 32 × 32",
        _cholesky(size=32),
        note="wanted: faster than `mx.linalg.cholesky`. Most of the time is MLX's evaluation, the "
        "same for both: its thread has to be woken, which takes 10 to 40 µs unless it shares a "
        "processor with the caller.",
    ),
    Row("lib_cholesky_128", "Cholesky factor of 128 × 128", _cholesky(size=128)),
    Row("lib_cholesky_512", "Cholesky factor of 512 × 512", _cholesky(size=512)),
    Row("lib_cholesky_1024", "Cholesky factor of 1024 × 1024", _cholesky(size=1024)),
    Row(
        "lib_cholesky_batch",
        "Cholesky factors of 4096 of 32 × 32",
        _cholesky(4096, size=32),
    ),
    Row("lib_qr_512", "QR of 512 × 512", _qr(rows=512, columns=512)),
    Row("lib_qr_tall", "QR of 20,000 × 32", _qr(rows=20_000, columns=32)),
    Row("lib_qr_batch", "QR of 1024 matrices of 48 × 32", _qr(1024, rows=48, columns=32)),
]
