"""The largest singular values of a matrix, with their vectors."""

from __future__ import annotations

import functools
import math
import sys
import warnings
from collections.abc import Callable
from typing import cast

import mlx.core as mx

from anymetal.custom import custom_function
from anymetal.errors import DtypeError
from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.iterations import (
    Found,
    Operator,
    OutOfRangeError,
    Search,
    lanczos,
    room_for_lanczos,
    subspace,
)
from anymetal.linalg.scaling import power_near
from anymetal.linalg.svd_gradient import Triplets, gradient, scale_of
from anymetal.routines import Stream, routine
from anymetal.tune.switch import choose

DTYPES = (mx.float32, mx.float16, mx.bfloat16)

Factors = tuple[mx.array, mx.array, mx.array]


@routine
def svd_topk(
    A: mx.array,
    k: int,
    *,
    tol: float = 1e-5,
    max_steps: int = 50,
    oversample: int | None = None,
    banding: int | None = None,
    path: str | None = None,
    explain: bool = False,
    key: mx.array | None = None,
    stream: Stream | None = None,
) -> Factors:
    """The k largest singular values of A, and the best approximation of rank k: U diag(S) Vt.

    Runs at once, since each step decides whether there is another one; so not inside of
    `mx.compile` and `mx.vmap`. The gradient (svd_gradient.py) runs at once, too, needs no other
    singular values, and is as exact as the vectors are: with a small `tol`. It exists where the k
    values differ from each other, from the next one, and from zero; that of S alone always does.
    Where the k-th is hardly above the next, a RuntimeWarning says so.

    Args:
        A: float32, float16 or bfloat16, shape (..., m, n), of any rank.
        k: How many, from 1 to min(m, n).
        tol: Stop as soon as ‖Aᵀu - σv‖ <= tol·σ₁ for all k, while A v = σ u holds to rounding (for
            m < n with A and Aᵀ exchanged). Each computed σ then is within tol·σ₁ of a singular
            value of A, and much closer if that one stands apart (Parlett, "The Symmetric
            Eigenvalue Problem", 1998, theorems 4.5.1 and 11.7.1, for [0 A; Aᵀ 0]). Rounding
            errors may keep residuals above 2e-6, so less than that may need all `max_steps`.
        max_steps: Stop after so many products with A and as many with Aᵀ, with a RuntimeWarning if
            that is before `tol`. With 3 this is the work of `torch.svd_lowrank(niter=2)`.
        oversample: Further columns of the blocks that A is multiplied with. The default fills
            blocks to whole SIMD-groups, with 8 columns at most.
        banding: Multiply so many columns of a block at a time; all by default.
        path: "lanczos" (block Lanczos with thick restarts), "subspace" (subspace iteration) or
            "full" (all of `mx.linalg.svd`); chosen by default.
        explain: Print to stderr which path ran, why, and how many steps it took.
        key: Random key of the first block; the same one by default, so results repeat.
        stream: The stream or device to run on, as in `mx.linalg`; by default the current one.

    Returns:
        U of shape (..., m, k), S of shape (..., k) in descending order and Vt of shape
        (..., k, n), as `mx.linalg.svd` has them, in float32. The largest entry of each column of
        U, by magnitude, is positive. All are NaN if A is not finite.

    Raises:
        ValueError: k, another number or the shape is out of range; a path that is unknown or not
            possible for this size.
        DtypeError: Another dtype.
    """
    _check_dtype(A)
    check_numbers(A.shape, k, tol, max_steps, oversample, banding)
    rows, columns = A.shape[-2:]
    small, large = sorted((rows, columns))
    block = block_size(k, oversample, small)
    possible = possible_paths(small, block)
    choice = choose(
        "svd_topk",
        sizes=(math.prod(A.shape[:-2]), large, small, k),
        dtype=A.dtype,
        among=possible,
        default="lanczos" if "lanczos" in possible and small >= LARGE else "full",
        forced=path,
        explain=explain,
    )
    A = A.astype(mx.float32)
    if A.size == 0:
        empty = (mx.zeros((*A.shape[:-2], *extent)) for extent in ((rows, k), (k,), (k, columns)))
        U, S, Vt = empty
        return U, S, Vt
    key = mx.random.key(0) if key is None else key
    search = Search(k, block, tol, max_steps, key, key)

    def forward(A: mx.array) -> Factors:
        if choice.path == "full":
            return _full(A, k)
        iterate = ITERATIONS[choice.path]
        matrices = A.reshape(-1, rows, columns)
        return _stacked(
            [_iterated(matrix, search, iterate, banding, explain) for matrix in matrices],
            A.shape[:-2],
        )

    function: Callable[[mx.array], Factors] = custom_function(forward).vjp(_backward)
    return function(A)


def _stacked(parts: list[Factors], batch: tuple[int, ...]) -> Factors:
    U, S, Vt = (mx.stack(list(each)) for each in zip(*parts, strict=True))
    return tuple(x.reshape(*batch, *x.shape[1:]) for x in (U, S, Vt))  # type: ignore[return-value]


def _backward(A: mx.array, cotangents: Factors, outputs: Factors) -> mx.array:
    """One matrix after the other."""
    rows, columns = A.shape[-2:]
    flat = [x.reshape(-1, *x.shape[A.ndim - 2 :]) for x in (A, *outputs, *cotangents)]
    found = [_backward_of_one(*each) for each in zip(*flat, strict=True)]
    return mx.stack(found).reshape(*A.shape[:-2], rows, columns)


def _backward_of_one(A: mx.array, *factors: mx.array) -> mx.array:
    (U, S, Vt), (dU, dS, dVt) = factors[:3], factors[3:]
    wide = A.shape[0] < A.shape[1]
    found, cotangent = Triplets(U, S, Vt.T), Triplets(dU, dS, dVt.T)
    if wide:
        found, cotangent = (Triplets(each.V, each.S, each.U) for each in (found, cotangent))
    scale = scale_of(S)
    result = gradient(_operator(A * (1 / scale), wide, None), scale, found, cotangent).whole()
    return result.T if wide else result


#: Shorter sides from which on an iteration beats `mx.linalg.svd`.
LARGE = 128

Iteration = Callable[..., Found]

ITERATIONS: dict[str, Iteration] = {"lanczos": lanczos, "subspace": subspace}

PATHS: dict[str, Callable[..., Factors]] = {
    name: functools.partial(svd_topk, path=name) for name in (*ITERATIONS, "full")
}


def block_size(k: int, oversample: int | None, small: int) -> int:
    """Columns of the blocks for k singular values of a matrix with that shorter side."""
    return min(k + (_fill(k) if oversample is None else oversample), small)


def possible_paths(small: int, block: int) -> tuple[str, ...]:
    """Paths for a matrix with that shorter side, by blocks of so many columns."""
    return tuple(name for name in PATHS if name != "lanczos" or small >= room_for_lanczos(block))


def _fill(k: int) -> int:
    """Columns that make a block whole SIMD-groups, where few are missing."""
    return min(-k % 32, 8)


def _iterated(
    A: mx.array,
    search: Search,
    iterate: Iteration,
    banding: int | None,
    explain: bool,
) -> Factors:
    wide = A.shape[0] < A.shape[1]
    scale = 1.0
    try:
        found = iterate(_operator(A, wide, banding), search)
    except OutOfRangeError:
        peak = cast(float, mx.abs(A).max().item())
        if peak == 0 or not math.isfinite(peak):
            return _of_zero_or_undefined(A, search.k, peak)
        scale = power_near(peak)
        found = iterate(_operator(A * (1 / scale), wide, banding), search)
    tell(found, search.tolerance, explain)
    U, V = (found.V, found.U) if wide else (found.U, found.V)
    return _signed(U, found.S * scale, V.T)


def tell(found: Found, tolerance: float, explain: bool) -> None:
    """Warn of a search that has not converged, and print how far it has come, if that is wanted."""
    converged = found.residual <= tolerance
    if not converged:
        warnings.warn(
            f"[svd_topk] Not converged after {found.steps} steps: the last residual is "
            f"{found.residual:.1e} of the largest singular value, tol is {tolerance:.1e}. "
            f"Allow more with max_steps, or more error with tol.",
            RuntimeWarning,
            stacklevel=3,
        )
    if explain:
        end = "" if converged else ", not converged"
        print(
            f"svd_topk: {found.steps} steps, last residual {found.residual:.1e}{end}",
            file=sys.stderr,
        )


def _operator(A: mx.array, wide: bool, banding: int | None) -> Operator:
    def times(V: mx.array) -> mx.array:
        return _banded(lambda part: matmul_av(A, part), V, banding)

    def transposed_times(U: mx.array) -> mx.array:
        return _banded(lambda part: matmul_atb(A, part), U, banding)

    rows, columns = A.shape
    if wide:
        return Operator(transposed_times, times, columns, rows)
    return Operator(times, transposed_times, rows, columns)


def _banded(
    product: Callable[[mx.array], mx.array], block: mx.array, width: int | None
) -> mx.array:
    if width is None or width >= block.shape[1]:
        return product(block)
    starts = range(0, block.shape[1], width)
    return mx.concatenate([product(block[:, i : i + width]) for i in starts], axis=1)


def _full(A: mx.array, k: int) -> Factors:
    finite = mx.isfinite(A).all(axis=(-2, -1), keepdims=True)
    plus = mx.where(finite, 0.0, math.nan)  # LAPACK would stop with an error
    U, S, Vt = mx.linalg.svd(mx.where(finite, A, 0.0), stream=mx.cpu)
    return _signed(U[..., :k] + plus, S[..., :k] + plus[..., 0], Vt[..., :k, :] + plus)


def _signed(U: mx.array, S: mx.array, Vt: mx.array) -> Factors:
    largest = mx.argmax(mx.abs(U), axis=-2, keepdims=True)
    sign = mx.where(mx.take_along_axis(U, largest, axis=-2) < 0, -1.0, 1.0)
    return U * sign, S, Vt * sign.swapaxes(-1, -2)


def _of_zero_or_undefined(A: mx.array, k: int, peak: float) -> Factors:
    """All zero with any vectors, or all NaN."""
    plus = 0.0 if peak == 0 else math.nan
    rows, columns = A.shape
    return mx.eye(rows, k) + plus, mx.full((k,), plus), mx.eye(k, columns) + plus


def _check_dtype(A: mx.array) -> None:
    if A.dtype not in DTYPES:
        raise DtypeError(f"[svd_topk] float32, float16 or bfloat16 are needed, got {A.dtype}.")


def check_numbers(
    shape: tuple[int, ...],
    k: int,
    tol: float,
    max_steps: int,
    oversample: int | None,
    banding: int | None = None,
) -> None:
    """Raise a ValueError for what makes no sense for matrices of a shape."""
    if len(shape) < 2:
        raise ValueError(f"[svd_topk] A matrix is needed, got shape {shape}.")
    if not 1 <= k <= min(shape[-2:]):
        raise ValueError(f"[svd_topk] k must be from 1 to min(m, n) of {shape}, got {k}.")
    if not tol > 0:
        raise ValueError(f"[svd_topk] tol must be positive, got {tol}.")
    least = {"max_steps": (max_steps, 1), "oversample": (oversample, 0), "banding": (banding, 1)}
    for name, (value, bound) in least.items():
        if value is not None and value < bound:
            raise ValueError(f"[svd_topk] {name} must be at least {bound}, got {value}.")
