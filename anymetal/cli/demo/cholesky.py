"""The demo's section on Cholesky factors: `anymetal.linalg` beside NumPy and MLX."""

from __future__ import annotations

import mlx.core as mx
import numpy as np

from anymetal.cli.demo.oracle import distance
from anymetal.cli.demo.screen import Screen
from anymetal.linalg import cholesky
from anymetal.timing import interleaved


def show_cholesky(screen: Screen, size: int, seconds: float) -> None:
    """Error and time beside MLX's and NumPy's own."""
    screen.heading(f"Cholesky of a {size} × {size} matrix")
    screen.text(
        "anymetal.linalg.cholesky factors with shuffles, threadgroup memory and private arrays "
        "(anymetal/linalg/metal/).\n"
    )
    random = mx.random.normal((size, size))
    a = random @ random.T / size + mx.eye(size) / 10
    mx.eval(a)
    array = np.array(a)
    exact = np.linalg.cholesky(array.astype(np.float64))
    theirs = distance(mx.linalg.cholesky(a, stream=mx.cpu), exact)
    screen.check("L beside NumPy in float64", distance(cholesky(a), exact), 1e-5)
    screen.text(f"      (mx.linalg.cholesky: {theirs:.1e})")
    with screen.console.status("measuring"):
        timings = interleaved(
            {
                "AnyMetal": lambda: mx.eval(cholesky(a)),
                "mx.linalg.cholesky": lambda: mx.eval(mx.linalg.cholesky(a, stream=mx.cpu)),
                "numpy.linalg.cholesky": lambda: np.linalg.cholesky(array),
            },
            seconds,
        )
    rate = size**3 / 3 / timings[0].median / 1e9
    screen.text(f"\n  In float32, {rate:.1f} GFLOP/s:")
    screen.comparison(timings)
