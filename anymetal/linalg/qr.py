"""QR factorisations, and their gradients.

Householder's reflections in blocks of 32 columns are the fast way: I - V T Vᵀ for a block at once
(Schreiber and Van Loan, A storage-efficient WY representation for products of Householder
transformations, 1989). They are orthogonal whatever the matrix is, so no condition has to be
looked at. Very small matrices take a thread each. Those with very many rows go by Cholesky factors
(cholesky_qr.py), for which all processors work, where reflections of a block of columns are the
affair of one. The reference is Gram-Schmidt, modified and in two passes ("twice is enough": Giraud,
Langou and Rozložník, The loss of orthogonality in the Gram-Schmidt orthogonalization process,
2005).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import mlx.core as mx

from anymetal import metal_kernel
from anymetal.custom import CustomFunction, custom_function
from anymetal.errors import DtypeError
from anymetal.kernel import MetalKernel
from anymetal.linalg.cholesky_qr import WIDEST, cholesky_qr
from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.scaling import scaled_columns
from anymetal.linalg.triangular import solve_lower
from anymetal.metal_files import read
from anymetal.routines import Stream, routine
from anymetal.transforms import is_transformed
from anymetal.tune.switch import choose

_THREAD = 8  # rows and columns at most of what a thread factors alone
# From so many rows on and up to so many columns Cholesky factors are faster: about where a block
# of columns leaves the caches of a core.
_TALL, _NARROW = 16_384, 64
_GROUPS = 16  # SIMD-groups of a threadgroup, at most
_BLOCK_SIZE = 3104  # BLOCK_SIZE in qr_header.metal

Shape = tuple[int, ...]
Factors = tuple[mx.array, mx.array]


@routine
def qr(
    A: mx.array,
    *,
    path: str | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> Factors:
    """The reduced QR factorisation: A = Q R with QᵀQ = I and R upper triangular.

    The diagonal of R is not negative, which makes the factors unique where A has full rank. Where
    a column depends on those before it (a column of zeros does), the diagonal of R is zero up to
    rounding and Q's column is some unit vector orthogonal to the others: Q is orthonormal for all
    finite A, of any scale, and with columns of different scales: columns whose squares would leave
    the range of float32 are scaled by powers of two, and subnormal numbers count in full. Where an
    element is not finite, both factors have NaN.

    The gradient is that of Walter and Lehmann (Algorithmic differentiation of linear algebra
    functions, 2010): (Q̄ + Q C) R⁻ᵀ, where C has the lower triangle of R R̄ᵀ - Q̄ᵀ Q on both sides;
    for m < n with the extension of Roberts and Roberts (QR and LQ decomposition matrix
    backpropagation algorithms, 2020). It needs full rank.

    Very tall matrices are evaluated here, by path "cholesky", which looks at a few numbers to see
    how many passes it needs. It is not taken inside of transformations such as `mx.compile`.

    Args:
        A: Matrices of shape (..., m, n), float32.
        path: Name of the path to take, one of `PATHS`, instead of the fastest.
        explain: Print the path and the reason to stderr.
        stream: The stream or device to run on, as in `mx.linalg`; by default the current one.

    Returns:
        Q of shape (..., m, k) and R of shape (..., k, n), where k is the smaller of m and n.

    Raises:
        DtypeError: Another dtype.
        ValueError: No matrices; a path that does not exist.
    """
    if A.ndim < 2:
        raise ValueError(f"[qr] A must have at least two dimensions, not the shape {A.shape}.")
    if A.dtype != mx.float32:
        raise DtypeError(
            f"[qr] Matrices must be float32, not {A.dtype}. Convert with A.astype(mx.float32)."
        )
    *batch, m, n = A.shape
    if A.size == 0:
        k = min(m, n)
        q = mx.broadcast_to(mx.eye(m, k), (*batch, m, k))
        return q, mx.zeros((*batch, k, n))
    tall = n <= _NARROW and m >= _TALL
    among = list(_WAYS)
    if max(m, n) > _THREAD:
        among.remove("thread")
    transformed = is_transformed([A])
    if n > min(m, WIDEST) or transformed:
        among.remove("cholesky")
    if transformed and path != "mlx":
        among.remove("mlx")  # of which MLX has no mx.vmap
    choice = choose(
        "qr",
        sizes=(math.prod(batch), m, n),
        dtype=A.dtype,
        among=among,
        default="cholesky" if "cholesky" in among and tall else among[0],
        forced=path,
        explain=explain,
    )
    q, r = _differentiable(choice.path)(A)
    return q, r


# The paths


def _by_threads(A: mx.array) -> Factors:
    *batch, m, n = A.shape
    k = min(m, n)
    q, r = _of_threads(m, n)(
        inputs=[A],
        grid=(math.prod(batch), 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[(*batch, m, k), (*batch, k, n)],
        output_dtypes=[mx.float32] * 2,
    )
    return q, r


@functools.cache
def _of_threads(m: int, n: int) -> MetalKernel:
    return metal_kernel(
        name="qr_thread",
        input_names=["a"],
        output_names=["q", "r"],
        source=read("linalg", "qr_thread"),
        header=f"#define M {m}\n#define N {n}\n#define K {min(m, n)}\n{_reflections()}",
    )


def _reflections() -> str:
    return read("linalg", "scale_header") + read("linalg", "qr_reflection_header")


def _by_householder(A: mx.array) -> Factors:
    *batch, m, n = A.shape
    matrices, k = math.prod(batch), min(m, n)
    strips, panels, height = _in(n, 32), _in(k, 32), 8 * _in(m, 8)
    groups = min(strips, _GROUPS)
    q, r, *_ = _householder()(
        inputs=[A],
        grid=(32 * groups, matrices, 1),
        threadgroup=(32 * groups, 1, 1),
        output_shapes=[
            (*batch, m, k),
            (*batch, k, n),
            (matrices, strips + panels, height, 32),
            (matrices, panels, _BLOCK_SIZE),
            (matrices, groups, 2048),
            (matrices, strips, 32),
        ],
        output_dtypes=[*[mx.float32] * 5, mx.int32],
    )
    return q, r


def _in(extent: int, size: int) -> int:
    """The number of pieces of that size that an extent takes."""
    return -(-extent // size)


@functools.cache
def _householder() -> MetalKernel:
    return metal_kernel(
        name="qr_householder",
        input_names=["a"],
        output_names=["q", "r", "strips", "blocks", "scratch", "scaling"],
        source=read("linalg", "qr_householder"),
        header=_reflections() + read("linalg", "qr_header"),
    )


def _by_gram_schmidt(A: mx.array) -> Factors:
    *batch, m, n = A.shape
    matrices, k = math.prod(batch), min(m, n)
    q, r, _ = _gram_schmidt()(
        inputs=[A.swapaxes(-1, -2)],
        grid=(32, matrices, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[(*batch, k, m), (*batch, k, n), (matrices, m)],
        output_dtypes=[mx.float32] * 3,
    )
    return q.swapaxes(-1, -2), r


@functools.cache
def _gram_schmidt() -> MetalKernel:
    return metal_kernel(
        name="qr_mgs",
        input_names=["a"],
        output_names=["q", "r", "rest"],
        source=read("linalg", "qr_mgs"),
        header=read("linalg", "scale_header") + read("linalg", "qr_mgs_header"),
    )


def _by_cholesky(A: mx.array) -> Factors:
    return cholesky_qr(A) or _by_householder(A)


def _by_mlx(A: mx.array) -> Factors:
    scaled, back = scaled_columns(A)
    q, r = mx.linalg.qr(scaled, stream=mx.cpu)
    sign = mx.where(mx.diagonal(r, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return q * sign[..., None, :], r * sign[..., None] * back


_WAYS: dict[str, Callable[[mx.array], Factors]] = {
    "thread": _by_threads,
    "householder": _by_householder,
    "cholesky": _by_cholesky,
    "mgs": _by_gram_schmidt,
    "mlx": _by_mlx,
}
PATHS = {name: functools.partial(qr, path=name) for name in _WAYS}


# The gradient


@functools.cache
def _differentiable(path: str) -> CustomFunction:
    function = custom_function(_WAYS[path])
    function.vjp(_gradient)
    function.vmap(lambda A, axis: (function(mx.moveaxis(A, axis, 0)), (0, 0)))
    return function


def _gradient(A: mx.array, cotangents: Factors, outputs: Factors) -> mx.array:
    (q, r), (q_bar, r_bar) = outputs, cotangents
    k, n = r.shape[-2:]
    square = r[..., :k]
    if n == k:
        return _square_gradient(q, square, q_bar, r_bar)
    # A = [X Y], R = [U V] with Y = Q V: X is factored, Y follows.
    rest = A[..., k:]
    v_bar = r_bar[..., k:]
    left = _square_gradient(q, square, q_bar + matmul_av(rest, _transposed(v_bar)), r_bar[..., :k])
    return mx.concatenate([left, matmul_av(q, v_bar)], axis=-1)


def _square_gradient(q: mx.array, r: mx.array, q_bar: mx.array, r_bar: mx.array) -> mx.array:
    inner = matmul_av(r, _transposed(r_bar)) - matmul_atb(q_bar, q)
    lower = mx.tril(inner, -1)
    both = mx.tril(inner) + _transposed(lower)
    return solve_lower(q_bar + matmul_av(q, both), _transposed(r))


def _transposed(a: mx.array) -> mx.array:
    return a.swapaxes(-1, -2)
