"""Iterations that find the largest singular values of a matrix from its products with blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, cast

import mlx.core as mx

from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.qr import qr

Block = Callable[[mx.array], mx.array]


class Operator(NamedTuple):
    """A matrix with at least as many rows as columns, known by its products with blocks."""

    times: Block  #: A @ V
    transposed_times: Block  #: Aᵀ @ U
    rows: int
    columns: int


class OutOfRangeError(ArithmeticError):
    """Products of this matrix's entries leave the range of float32, or it is not finite."""


class Search(NamedTuple):
    """What is wanted, and when to stop."""

    k: int  #: singular values
    block: int  #: columns of a block, at least k
    tolerance: float  #: of residuals, relative to the largest singular value
    max_steps: int  #: each is a product with A and one with Aᵀ
    key: mx.array  #: of the first block, which is random


class Found(NamedTuple):
    """Approximate singular values and vectors, in descending order."""

    U: mx.array
    S: mx.array
    V: mx.array
    steps: int
    #: The largest ‖Aᵀu - σv‖ that was seen, relative to the largest σ; A v = σ u holds to rounding.
    #: The last of `max_steps` has none.
    residual: float


def subspace(A: Operator, search: Search) -> Found:
    """Subspace iteration Z = Aᵀ(A V), orthonormal again after each half-step.

    Halko, Martinsson and Tropp, "Finding structure with randomness" (SIAM Review 53(2), 2011),
    algorithm 4.4, with a Rayleigh-Ritz step and a test of residuals in each round.
    """
    V = _start(A, search)
    residual = math.inf
    for step in range(1, search.max_steps + 1):
        B = A.times(V)
        _check_range(B, step)
        U = orthonormal(B, None, search.key)
        P, S, Q = _svd(matmul_atb(U, B))
        if step == search.max_steps:
            break
        Z = A.transposed_times(U)
        residuals = matmul_av(Z, P) - matmul_av(V, Q) * S
        residual = _largest(residuals, S, search.k)
        if residual <= search.tolerance:
            break
        V = orthonormal(Z, None, search.key)
    return _found(U, V, (P, S, Q), search.k, step, residual)


#: Columns of the bases before they are cut back, in blocks.
_BLOCKS = 4


def lanczos(A: Operator, search: Search) -> Found:
    """Block Golub-Kahan-Lanczos with full reorthogonalisation and thick restarts.

    Golub, Luk and Overton, "A block Lanczos method for computing the singular values and
    corresponding singular vectors of a matrix" (ACM TOMS 7(2), 1981); restarts as in Baglama and
    Reichel, "Augmented implicitly restarted Lanczos bidiagonalization methods" (SIAM J. Sci.
    Comput. 27(1), 2005), § 3.1, for blocks.

    A V = U R holds throughout for the columns of V but the last block. That block is what
    Aᵀ U has outside of them: the residual of each Ritz vector, and where to go next. The last step
    takes it into the basis without another product, since Aᵀ U = V Rᵀ holds with it.
    """
    size = search.block
    V = block = _start(A, search)
    U, R = mx.zeros((A.rows, 0)), mx.zeros((0, 0))
    residual = math.inf
    for step in range(1, search.max_steps + 1):
        B = A.times(block)
        _check_range(B, step)
        new = orthonormal(B, U, search.key)
        U = mx.concatenate([U, new], axis=1)
        R = mx.concatenate([_padded(R, size), matmul_atb(U, B)], axis=1)
        Z = A.transposed_times(new)
        if 1 < step < search.max_steps:  # the first step is hardly ever the last, unless it must
            P, S, Q = _svd(R)
            rest = Z - matmul_av(V, matmul_atb(V, Z))
            residual = _largest(matmul_av(rest, P[-size:]), S, search.k)
            if residual <= search.tolerance:
                break
        block = orthonormal(Z, V, search.key)
        if step == search.max_steps:
            V = mx.concatenate([V, block], axis=1)
            last = mx.concatenate([mx.zeros((R.shape[0] - size, size)), matmul_atb(Z, block)])
            P, S, Q = _svd(mx.concatenate([R, last], axis=1))
            break
        if R.shape[1] + size > _BLOCKS * size:
            U, V = matmul_av(U, P[:, :size]), matmul_av(V, Q[:, :size])
            R = mx.diag(S[:size])
        V = mx.concatenate([V, block], axis=1)
    return _found(U, V, (P, S, Q), search.k, step, residual)


def room_for_lanczos(block: int) -> int:
    """Rows and columns that a matrix must have: as many as the bases."""
    return (_BLOCKS + 1) * block


#: Products of numbers up to this magnitude stay far from the ends of float32's range.
_HUGE = 2.0**20


def _check_range(B: mx.array, step: int) -> None:
    if step == 1 and not 1 / _HUGE < cast(float, mx.abs(B).max().item()) < _HUGE:
        raise OutOfRangeError


def orthonormal(X: mx.array, basis: mx.array | None, key: mx.array) -> mx.array:
    """Orthonormal columns that span those of X as far as the basis does not, for any X.

    Scaled eigenvectors of the Gram matrix (SVQB: Stathopoulos and Wu, "A block orthogonalization
    procedure with constant synchronization requirements", SIAM J. Sci. Comput. 23(6), 2002). One
    pass leaves a condition of 1/√u of one of 1/u; most blocks need two. Directions that X lacks, or
    has as rounding errors only, become random ones. Reads values, to see how far it has come.
    """
    for again in range(_PASSES):
        if basis is not None and basis.size > 0:
            X = X - matmul_av(basis, matmul_atb(basis, X))
        gram = matmul_atb(X, X)
        squares = mx.diag(gram)
        if not mx.all(squares > 0).item():
            X, key = _with_noise(X, squares > 0, key)
            gram = matmul_atb(X, X)
            squares = mx.diag(gram)
        scale = mx.rsqrt(squares)
        values, vectors = mx.linalg.eigh(gram * scale * scale[:, None], stream=mx.cpu)
        divisors = mx.sqrt(mx.maximum(values, _SMALLEST * values[-1]))
        X = matmul_av(X, scale[:, None] * vectors / divisors)
        least = cast(float, values[0].item())
        # A block that was taken out of a basis has parts of it again, if it lost much.
        if least > _NEAR_ONE and (again or basis is None or basis.size == 0):
            break
        if again and least < _NOISE:
            X, key = _with_noise(X, values >= _NOISE, key)
    return X


_PASSES = 6
#: Eigenvalues below this share of the largest one are rounding errors.
_SMALLEST = 1e-7
#: With all eigenvalues above this, columns are orthogonal enough for one pass to do the rest.
_NEAR_ONE = 0.5
#: After a first pass, directions below the square root of this were rounding errors before.
_NOISE = 1e-6


def _with_noise(X: mx.array, good: mx.array, key: mx.array) -> tuple[mx.array, mx.array]:
    """Random columns in place of those that are no good, and a key for the next time."""
    key, used = mx.random.split(key)
    return mx.where(good, X, mx.random.normal(X.shape, key=used)), key


def _start(A: Operator, search: Search) -> mx.array:
    block = mx.random.normal((A.columns, search.block), key=search.key)
    return orthonormal(block, None, search.key)


def _padded(R: mx.array, rows: int) -> mx.array:
    return mx.concatenate([R, mx.zeros((rows, R.shape[1]))])


def _svd(R: mx.array) -> tuple[mx.array, mx.array, mx.array]:
    """P, S, Q with R = P diag(S) Qᵀ."""
    if R.shape[0] < R.shape[1]:
        # LAPACK would complete the longer side to a whole basis first.
        basis, triangle = qr(R.T)
        P, S, Q = _svd(triangle.T)
        return P, S, matmul_av(basis, Q)
    P, S, Qt = mx.linalg.svd(R, stream=mx.cpu)
    return P, S, Qt.T


def _largest(residuals: mx.array, S: mx.array, k: int) -> float:
    """The largest norm of the first columns, relative to the largest singular value."""
    norm = mx.linalg.norm(residuals[:, :k], axis=0).max()
    return cast(float, mx.where(S[0] > 0, norm / S[0], 0.0).item())


def _found(
    U: mx.array,
    V: mx.array,
    projected: tuple[mx.array, mx.array, mx.array],
    k: int,
    steps: int,
    residual: float,
) -> Found:
    P, S, Q = projected
    return Found(matmul_av(U, P[:, :k]), S[:k], matmul_av(V, Q[:, :k]), steps, residual)
