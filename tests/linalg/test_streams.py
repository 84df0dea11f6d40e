"""`stream=` of the routines: where the work is sent."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from anymetal import linalg

A = mx.random.normal((12, 5), key=mx.random.key(0))
CALLS = {
    "dot": lambda **on: linalg.dot(A, A, **on),
    "norm": lambda **on: linalg.norm(A, **on),
    "project": lambda **on: linalg.project(A, A[:, 0], **on),
    "gram": lambda **on: linalg.gram(A, **on),
    "qr": lambda **on: linalg.qr(A, **on)[1],
    "cholesky": lambda **on: linalg.cholesky(A.T @ A, **on),
    "matmul_av": lambda **on: linalg.matmul_av(A, A.T, **on),
    "matmul_atb": lambda **on: linalg.matmul_atb(A, A, **on),
    "orthonormal_columns": lambda **on: linalg.orthonormal_columns(A, **on)[0],
    "orthonormal_rows": lambda **on: linalg.orthonormal_rows(A, **on)[0],
    "complete_basis": lambda **on: linalg.complete_basis(A[:, :1], 1, **on),
    "svd_topk": lambda **on: linalg.svd_topk(A, 2, **on)[1],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_runs_on_its_stream(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = np.array(CALLS[name](stream=mx.cpu))
    own = mx.new_stream(mx.cpu)
    seen = []
    enter = mx.stream

    def stream(one):
        seen.append(one)
        return enter(one)

    monkeypatch.setattr(mx, "stream", stream)
    for where in (own, mx.cpu):
        assert np.array_equal(np.array(CALLS[name](stream=where)), wanted)
        assert seen[0] == where
        seen.clear()
    assert mx.default_stream(mx.cpu) != own


def test_every_routine_takes_a_stream() -> None:
    assert set(CALLS) == {name for name in vars(linalg) if name in CALLS or _is_routine(name)}


def _is_routine(name: str) -> bool:
    return hasattr(getattr(linalg, name), "__wrapped__")
