"""The routines have no findings in sanitized builds."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import linalg

_SLOW = pytest.mark.slow


def _random(*shape: int) -> mx.array:
    return mx.array(np.random.default_rng(7).normal(size=shape), mx.float32)


@pytest.mark.parametrize(
    ("path", "size"),
    [
        (None, 30),
        *(pytest.param(None, n, marks=_SLOW) for n in (8, 32, 70, 200, 300, 600)),
        *(pytest.param("steps", n, marks=_SLOW) for n in (5, 64, 70, 161)),
    ],
)
@pytest.mark.parametrize("lacks", [False, True])
def test_cholesky(path: str | None, size: int, lacks: bool) -> None:
    """Also where the matrix is not positive definite, which a number tells."""
    a = _random(2, size, size)
    a = mx.matmul(a, a.swapaxes(-1, -2), stream=mx.cpu) + size * mx.eye(size)
    a = -a if lacks else a
    with anymetal.sanitize(action="report") as session:
        if lacks:
            with pytest.raises(ValueError, match="pivot 0"):
                linalg.cholesky(a, check=True, path=path)
        else:
            mx.eval(linalg.cholesky(a, check=True, path=path))
    assert not session.findings, session.text()


@_SLOW
@pytest.mark.parametrize(
    ("path", "shape"),
    [
        *(("thread", shape) for shape in ((2, 7, 5), (5, 7))),
        *(("cholesky", shape) for shape in ((2, 7, 5), (70, 40))),
        *((path, s) for path in ("householder", "mgs") for s in ((2, 7, 5), (70, 40), (40, 70))),
    ],
)
def test_qr(path: str, shape: tuple[int, ...]) -> None:
    with anymetal.sanitize(action="report") as session:
        mx.eval(linalg.qr(_random(*shape), path=path))
    assert not session.findings, session.text()
