"""Iterations that find the largest singular values of a matrix from its products with blocks."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

import mlx.core as mx

from anymetal.linalg.blocks import Products, orthonormal
from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.jacobi import jacobi_svd

Block = Callable[[mx.array], mx.array]


class Operator(NamedTuple):
    """A matrix with at least as many rows as columns, known by its products with blocks."""

    times: Block  #: A @ V
    transposed_times: Block  #: Aᵀ @ U
    rows: int
    columns: int
    #: Uᵀ B for blocks with A's rows: a sum over machines if each has only some of these rows.
    products: Products = matmul_atb
    #: The largest magnitude in a block with A's rows.
    peak: Callable[[mx.array], mx.array] = lambda block: mx.abs(block).max()


class OutOfRangeError(ArithmeticError):
    """Products of this matrix's entries leave the range of float32, or it is not finite."""


class Search(NamedTuple):
    """What is wanted, and when to stop."""

    k: int  #: singular values
    block: int  #: columns of a block, at least k
    tolerance: float  #: of residuals, relative to the largest singular value
    max_steps: int  #: each is a product with A and one with Aᵀ
    key: mx.array  #: of the first block, which is random
    left_key: mx.array  #: of noise in blocks with A's rows: another one where others are


class Checkpoints(Protocol):
    """Where an iteration leaves what it needs in order to go on from one of its steps."""

    def load(self) -> tuple[int, dict[str, mx.array]] | None:
        """The last step that was saved, and what belongs to it."""

    def save(self, step: int, state: dict[str, mx.array]) -> None:
        """Keep a state, from which the products that follow are computed."""


class NoCheckpoints:
    """Nothing is kept."""

    def load(self) -> None:
        return None

    def save(self, step: int, state: dict[str, mx.array]) -> None:
        pass


class Found(NamedTuple):
    """Approximate singular values and vectors, in descending order."""

    U: mx.array
    S: mx.array
    V: mx.array
    steps: int
    #: The largest ‖Aᵀu - σv‖ that was seen, relative to the largest σ; A v = σ u holds to rounding.
    #: The last of `max_steps` has none.
    residual: float


_NOWHERE = NoCheckpoints()


def subspace(A: Operator, search: Search, checkpoints: Checkpoints = _NOWHERE) -> Found:
    """Subspace iteration Z = Aᵀ(A V), orthonormal again after each half-step.

    Halko, Martinsson and Tropp, "Finding structure with randomness" (SIAM Review 53(2), 2011),
    algorithm 4.4, with a Rayleigh-Ritz step and a test of residuals in each round.
    """
    done, state = checkpoints.load() or (0, {"V": _start(A, search)})
    V = state["V"]
    residual = math.inf
    for step in range(done + 1, search.max_steps + 1):
        B = A.times(V)
        _check_range(A, B, step)
        U = orthonormal(B, B[:, :0], search.left_key, A.products)
        P, S, Q = jacobi_svd(A.products(U, B))
        if step == search.max_steps:
            break
        Z = A.transposed_times(U)
        residuals = matmul_av(Z, P) - matmul_av(V, Q) * S
        residual = _largest(residuals, S, search.k)
        if residual <= search.tolerance:
            break
        V = orthonormal(Z, Z[:, :0], search.key)
        checkpoints.save(step, {"V": V})
    return _found(U, V, (P, S, Q), search.k, step, residual)


#: Columns of the bases before they are cut back, in blocks.
_BLOCKS = 4


def lanczos(A: Operator, search: Search, checkpoints: Checkpoints = _NOWHERE) -> Found:
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
    done, state = checkpoints.load() or (0, _nothing(A, search))
    U, V, R = state["U"], state["V"], state["R"]
    block = V[:, -size:]
    residual = math.inf
    for step in range(done + 1, search.max_steps + 1):
        B = _started(A.times(block))
        _check_range(A, B, step)
        new = orthonormal(B, U, search.left_key, A.products)
        Z = _started(A.transposed_times(new))
        U = mx.concatenate([U, new], axis=1) if step > 1 else new
        R = mx.concatenate([_padded(R, size), A.products(U, B)], axis=1)
        block = orthonormal(Z, V, search.key)
        coupling = matmul_atb(Z, block)
        if step == search.max_steps:
            V = mx.concatenate([V, block], axis=1)
            last = mx.concatenate([mx.zeros((R.shape[0] - size, size)), coupling])
            P, S, Q = jacobi_svd(mx.concatenate([R, last], axis=1))
            break
        if step > 1:  # the first step is hardly ever the last
            P, S, Q = jacobi_svd(R)
            residual = _largest(matmul_atb(coupling, P[-size:]), S, search.k)
            if residual <= search.tolerance:
                break
        full = R.shape[1] + size > _BLOCKS * size
        if full:
            U, V = matmul_av(U, P[:, :size]), matmul_av(V, Q[:, :size])
            R = mx.diag(S[:size])
        V = mx.concatenate([V, block], axis=1)
        if full:
            checkpoints.save(step, {"U": U, "V": V, "R": R})
    return _found(U, V, (P, S, Q), search.k, step, residual)


def _started(block: mx.array) -> mx.array:
    """Evaluated while Python goes on, except inside of transformations, which do not allow it."""
    with contextlib.suppress(ValueError):
        start: Callable[..., None] = mx.async_eval
        start(block)
    return block


def room_for_lanczos(block: int) -> int:
    """Rows and columns that a matrix must have: as many as the bases."""
    return (_BLOCKS + 1) * block


#: Products of numbers up to this magnitude stay far from the ends of float32's range.
_HUGE = 2.0**20


def _check_range(A: Operator, B: mx.array, step: int) -> None:
    if step == 1 and not 1 / _HUGE < cast(float, A.peak(B).item()) < _HUGE:
        raise OutOfRangeError


def _start(A: Operator, search: Search) -> mx.array:
    block = mx.random.uniform(-1, 1, (A.columns, search.block), key=search.key)
    return orthonormal(block, block[:, :0], search.key)


def _nothing(A: Operator, search: Search) -> dict[str, mx.array]:
    """What Lanczos begins with."""
    return {"U": mx.zeros((A.rows, 0)), "V": _start(A, search), "R": mx.zeros((0, 0))}


def _padded(R: mx.array, rows: int) -> mx.array:
    return mx.concatenate([R, mx.zeros((rows, R.shape[1]))])


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
