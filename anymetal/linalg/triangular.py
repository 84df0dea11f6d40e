"""X with X U = B or X L = B: triangular systems from the right, a lane per row of X."""

from __future__ import annotations

import functools
import math

import mlx.core as mx

from anymetal import metal_kernel
from anymetal.kernel import MetalKernel
from anymetal.metal_files import read


def solve_upper(b: mx.array, u: mx.array) -> mx.array:
    """b u⁻¹ for shapes (..., m, n) and (..., n, n), by substitution; below u nothing is read."""
    if b.size == 0:
        return b
    *batch, m, n = b.shape
    matrices, tiles = math.prod(batch), math.ceil(m / 32)
    return _kernel()(
        inputs=[b, u],
        grid=(32 * tiles, matrices, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[b.shape, (matrices, tiles, 8 * math.ceil(n / 8), 32)],
        output_dtypes=[mx.float32, mx.float32],
    )[0]


def solve_lower(b: mx.array, lower: mx.array) -> mx.array:
    """b lower⁻¹: the same from the other end."""
    return solve_upper(b[..., ::-1], lower[..., ::-1, ::-1])[..., ::-1]


@functools.cache
def _kernel() -> MetalKernel:
    return metal_kernel(
        name="triangular",
        input_names=["b", "u"],
        output_names=["out", "work"],
        source=read("linalg", "triangular"),
        vmap="batch",
    )
