"""Orthonormal bases: of the columns and rows of a matrix, and of what is left of the space."""

from __future__ import annotations

import mlx.core as mx

from anymetal.linalg.qr import Factors, qr
from anymetal.routines import routine


@routine
def orthonormal_columns(A: mx.array, *, path: str | None = None, explain: bool = False) -> Factors:
    """The left-orthonormal factor of A and the rest: A = Q R with QᵀQ = I.

    Args:
        A: Matrices of shape (..., m, n), float32, tall or wide.
        path, explain: As those of `qr`, which does the work.

    Returns:
        Q of shape (..., m, k) and R of shape (..., k, n), where k is the smaller of m and n.
        The columns of Q span those of A; R is upper triangular, its diagonal not negative.

    Raises:
        ValueError: As `qr`.
    """
    return qr(A, path=path, explain=explain)


@routine
def orthonormal_rows(A: mx.array, *, path: str | None = None, explain: bool = False) -> Factors:
    """The rest and the right-orthonormal factor of A: A = L Q with Q Qᵀ = I.

    Args:
        A: Matrices of shape (..., m, n), float32, tall or wide.
        path, explain: As those of `qr`, which factors the transposed matrix.

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
) -> mx.array:
    """Orthonormal columns, with more of them up to a basis of the whole space.

    Random vectors are appended, what they have in common with the columns before them is
    projected out in two passes, and what is left is normalised; all by `qr`. With `path="mgs"`
    that happens vector by vector; reflections give the same, the faster way. The new columns are
    orthogonal to the span of Q, also where Q is orthonormal to a few digits only.

    Args:
        Q: Orthonormal columns of shape (..., m, k), float32, k at most m. This is not checked.
        n: How many columns the result has, from k to m; m by default.
        key: Of the random vectors, as in `mx.random`; by default MLX's global state goes on.
        path, explain: As those of `qr`.

    Returns:
        Shape (..., m, n); the first k columns are those of Q, bit by bit.

    Raises:
        ValueError: More columns than rows, in Q or asked for; not float32.
    """
    if Q.ndim < 2:
        raise ValueError(
            f"[complete_basis] Q must have at least two dimensions, not the shape {Q.shape}."
        )
    *batch, m, k = Q.shape
    n = m if n is None else n
    if not k <= n <= m:
        raise ValueError(
            f"[complete_basis] {n} columns were asked for; Q of shape {Q.shape} can have "
            f"from {k} to {m}."
            if k <= m
            else f"[complete_basis] {k} columns of {m} numbers cannot be orthonormal."
        )
    random = mx.random.normal((*batch, m, n - k), key=key)
    basis, _ = qr(mx.concatenate([Q, random], axis=-1), path=path, explain=explain)
    return mx.concatenate([Q, basis[..., k:]], axis=-1)
