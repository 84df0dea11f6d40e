"""QR of tall matrices by Cholesky factors of AᵀA, repeated until it is exact enough.

One pass takes R from AᵀA = RᵀR and Q = A R⁻¹, whose columns are orthonormal to about κ² ε. A second
pass on a Q that is nearly orthonormal makes that ε (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya,
Roundoff error analysis of the CholeskyQR2 algorithm, 2015). Where AᵀA is not positive definite to
working precision, a shift of its diagonal makes it so, for the price of one pass more (Fukaya,
Kannan, Nakatsukasa, Yamamoto and Yanagisawa, Shifted Cholesky QR for computing the QR factorization
of ill-conditioned matrices, 2020). All that touches the rows of A runs in parallel.
"""

from __future__ import annotations

import functools

import mlx.core as mx

from anymetal import metal_kernel
from anymetal.kernel import MetalKernel
from anymetal.linalg.cholesky import cholesky
from anymetal.linalg.scaling import scaled_columns
from anymetal.linalg.triangular import solve_upper
from anymetal.metal_files import read

#: The widest matrices: beyond that reflections do less.
WIDEST = 256

_PASSES = 6
_CHUNK = 512  # rows whose products a SIMD-group adds up
_SHIFT = 2.0**-22  # 2 ε, in units of the sum of all squares
_LEAST, _MOST = 2.0**-60, 2.0**100  # sums of squares that have all their digits


def cholesky_qr(A: mx.array) -> tuple[mx.array, mx.array] | None:
    """Q and R of matrices of shape (..., m, n) with n at most m and `WIDEST`.

    Evaluates a few numbers after each pass. None if the columns are not independent enough, which
    six passes show: about beyond a condition of 1e9, or where something is not finite.
    """
    *batch, m, n = A.shape
    q = A.reshape(-1, m, n)
    r: mx.array | None = None
    back: mx.array | None = None
    eye = mx.eye(n)
    for _ in range(_PASSES):
        gram = _products(q, q)
        squares = mx.diagonal(gram, axis1=-2, axis2=-1)
        distance = mx.linalg.norm(gram - eye, axis=[-2, -1]).max()
        triangle = cholesky(gram, upper=True)
        failed = mx.isnan(triangle[:, -1, -1]).any()
        tame = ((squares >= _LEAST) & (squares <= _MOST)).all()
        mx.eval(distance, failed, tame)
        if r is None and back is None and not tame.item():
            q, back = scaled_columns(q)
            continue
        if failed.item():
            shift = _SHIFT * squares.sum(axis=-1)
            triangle = cholesky(gram + shift[:, None, None] * eye, upper=True)
        q = solve_upper(q, triangle)
        r = triangle if r is None else _products(triangle.swapaxes(-1, -2), r)
        if (distance < 0.5).item():
            r = r if back is None else r * back
            return q.reshape(A.shape), r.reshape(*batch, n, n)
    return None


def _products(left: mx.array, right: mx.array) -> mx.array:
    """leftᵀ right"""
    matrices, m, n = right.shape
    k = left.shape[-1]
    chunks = -(-m // _CHUNK)
    out = _kernel()(
        inputs=[left, right],
        grid=(32 * -(-n // 32), -(-k // 32), matrices * chunks),
        threadgroup=(32, 1, 1),
        output_shapes=[(matrices, chunks, k, n)],
        output_dtypes=[mx.float32],
    )[0]
    return out.sum(axis=1) if chunks > 1 else out.reshape(matrices, k, n)


@functools.cache
def _kernel() -> MetalKernel:
    return metal_kernel(
        name="qr_products",
        input_names=["left", "right"],
        output_names=["out"],
        source=read("linalg", "qr_products"),
        header=f"#define CHUNK {_CHUNK}\n",
    )
