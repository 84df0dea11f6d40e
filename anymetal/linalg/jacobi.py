"""The singular value decomposition of small matrices, by rotations of pairs of rows.

One-sided Jacobi: rotations make the rows of a triangle orthogonal, so their lengths are the
singular values (Hestenes, "Inversion of matrices by biorthogonalization and related results", J.
SIAM 6(1), 1958). Pairs turn side by side in the rounds of a tournament (Brent and Luk, "The
solution of singular-value and symmetric eigenvalue problems on multiprocessor arrays", SIAM J. Sci.
Stat. Comput. 6(1), 1985). The triangle is that of a QR factorisation, whose rows are nearer to
orthogonal ones than those of the matrix (Drmač and Veselić, "New fast and accurate Jacobi SVD
algorithm", SIAM J. Matrix Anal. Appl. 29(4), 2008).
"""

from __future__ import annotations

import functools
import math

import mlx.core as mx

from anymetal import metal_kernel
from anymetal.kernel import MetalKernel
from anymetal.linalg.gemm import matmul_atb
from anymetal.linalg.qr import qr
from anymetal.metal_files import read

_SWEEPS = 40
_ROUNDOFF = 2.0**-24
_PAIRS = 4  # that a SIMD-group turns at once
_GROUPS = 8  # SIMD-groups of a threadgroup, at most


def jacobi_svd(A: mx.array) -> tuple[mx.array, mx.array, mx.array]:
    """P, S, Q with A = P diag(S) Qᵀ, for shapes (..., n, l) with n at most l.

    P (..., n, n) and Q (..., l, n) are orthonormal for any finite A, S descends. Errors are
    those of LAPACK: some rounding errors of the largest singular value. Squares of elements are
    added up, so the largest should lie between 1e-15 and 1e15 in size.
    """
    tall = A.swapaxes(-1, -2)
    rows = _orthogonal(qr(tall)[1])
    S = mx.linalg.norm(rows, axis=-1)
    order = mx.stop_gradient(mx.argsort(-S, axis=-1))
    # Of rows that are rounding errors only, QR makes something orthonormal all the same.
    P, _ = qr(mx.take_along_axis(rows, order[..., None], axis=-2).swapaxes(-1, -2))
    Q, _ = qr(matmul_atb(A, P))
    return P, mx.take_along_axis(S, order, axis=-1), Q


def _orthogonal(A: mx.array) -> mx.array:
    """T A with orthogonal rows for some orthogonal T; zeros on the right."""
    *batch, n, length = A.shape
    width, groups = 32 * math.ceil(length / 32), min(_GROUPS, max(n // 2, 1))
    return _kernel()(
        inputs=[A],
        grid=(32 * groups, math.prod(batch), 1),
        threadgroup=(32 * groups, 1, 1),
        output_shapes=[(*batch, n, width)],
        output_dtypes=[mx.float32],
    )[0][..., :length]


@functools.cache
def _kernel() -> MetalKernel:
    constants = f"#define SWEEPS {_SWEEPS}\n#define ROUNDOFF {_ROUNDOFF}f\n#define PAIRS {_PAIRS}\n"
    return metal_kernel(
        name="svd_jacobi",
        input_names=["a"],
        output_names=["rows"],
        source=read("linalg", "svd_jacobi"),
        header=constants + read("linalg", "svd_jacobi_header"),
    )
