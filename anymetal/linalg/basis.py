"""Orthonormal bases: of the columns and rows of a matrix, and of what is left of the space."""

from __future__ import annotations

import mlx.core as mx

from anymetal.errors import DtypeError
from anymetal.linalg.qr import Factors, qr
from anymetal.routines import Stream, routine


@routine
def orthonormal_columns(
    A: mx.array,
    *,
    path: str | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> Factors:
    """The left-orthonormal factor of A and the rest: A = Q R with QᵀQ = I.

    Args:
        A: Matrices of shape (..., m, n), float32, tall or wide.
        path, explain, stream: As those of `qr`, which does the work.

    Returns:
        Q of shape (..., m, k) and R of shape (..., k, n), where k is the smaller of m and n.
        The columns of Q span those of A; R is upper triangular, its diagonal not negative.

    Raises:
        ValueError: As `qr`.
    """
    return qr(A, path=path, explain=explain)


@routine
def orthonormal_rows(
    A: mx.array,
    *,
    path: str | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> Factors:
    """The rest and the right-orthonormal factor of A: A = L Q with Q Qᵀ = I.

    Args:
        A: Matrices of shape (..., m, n), float32, tall or wide.
        path, explain, stream: As those of `qr`, which factors the transposed matrix.

    Returns:
        L of shape (..., m, k) and Q of shape (..., k, n), where k is the smaller of m and n.
        The rows of Q span those of A; L is lower triangular, its diagonal not negative.

    Raises:
        ValueError: As `qr`.
    """
    if A.ndim < 2:
        raise ValueError(
            f"[orthonormal_rows] A must have at least two dimensions, not the shape {A.shape}."
        )
    q, r = qr(A.swapaxes(-1, -2), path=path, explain=explain)
    return r.swapaxes(-1, -2), q.swapaxes(-1, -2)


@routine
def complete_basis(
    Q: mx.array,
    n: int | None = None,
    key: mx.array | None = None,
    *,
    path: str | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> mx.array:
    """Orthonormal columns, with more of them up to a basis of the whole space; or rows.

    Random vectors are appended, what they have in common with the columns before them is
    projected out in two passes, and what is left is normalised; all by `qr`. With `path="mgs"`
    that happens vector by vector; reflections give the same, the faster way. The new columns are
    orthogonal to the span of Q, also where Q is orthonormal to a few digits only.

    Args:
        Q: Orthonormal columns of shape (..., m, k), float32, k at most m; or, if the matrix is
            wide, orthonormal rows of shape (..., k, m). That they are orthonormal is not checked.
        n: How many columns, or rows, the result has, from k to m; m by default.
        key: Of the random vectors, as in `mx.random`; by default MLX's global state goes on.
        path, explain, stream: As those of `qr`.

    Returns:
        Shape (..., m, n), or (..., n, m) with rows; the first k are those of Q, bit by bit.

    Raises:
        ValueError: Fewer than k or more than m are asked for; no matrices.
        DtypeError: Not float32.
    """
    if Q.ndim < 2:
        raise ValueError(
            f"[complete_basis] Q must have at least two dimensions, not the shape {Q.shape}."
        )
    if Q.dtype != mx.float32:
        raise DtypeError(
            f"[complete_basis] Q must be float32, not {Q.dtype}. Convert with Q.astype(mx.float32)."
        )
    if Q.shape[-2] < Q.shape[-1]:
        columns = complete_basis(Q.swapaxes(-1, -2), n, key, path=path, explain=explain)
        return columns.swapaxes(-1, -2)
    *batch, m, k = Q.shape
    n = m if n is None else n
    if not k <= n <= m:
        raise ValueError(
            f"[complete_basis] {n} vectors were asked for; of the {k} in Q there can be from {k} "
            f"to {m}."
        )
    random = mx.random.normal((*batch, m, n - k), key=key)
    basis, _ = qr(mx.concatenate([Q, random], axis=-1), path=path, explain=explain)
    return mx.concatenate([Q, basis[..., k:]], axis=-1)
