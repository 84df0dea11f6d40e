"""Cholesky factors and triangular systems, over rows in a block-cyclic layout.

Blocks of `block` rows are dealt to the ranks in turn: block i lies on rank i mod p. So all ranks
have about as many rows left, however far the factorisation has come. The rows are those of U in
UᵀU = A, since a block of them follows from the diagonal block and the same rows of A alone: one
broadcast per block is all that is communicated (right-looking, by rows: Golub and Van Loan, Matrix
Computations, 4th edition, section 4.2). MLX has no broadcast; `all_sum` with zeros from the others
gives the same bits, for at most twice the words.
"""

from __future__ import annotations

import math

import mlx.core as mx

from anymetal.linalg.cholesky import cholesky as cholesky_of_one
from anymetal.linalg.distributed.ranks import Group, agree_on_rows, all_sum, awaited, of_group
from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.triangular import solve_lower, solve_upper

#: Rows of a block, by default.
BLOCK = 128


def cyclic_rows(n: int, *, block: int = BLOCK, group: Group | None = None) -> mx.array:
    """Numbers of the rows that this rank has of n in a block-cyclic layout, in its order.

    `A[cyclic_rows(n)]` are its rows of a matrix that it knows whole. Without communication.

    Raises:
        ValueError: block or n is not positive.
    """
    if n < 1 or block < 1:
        raise ValueError(f"[cyclic_rows] n and block must be positive, not {n} and {block}.")
    group = of_group(group)
    return mx.array(_numbers(n, block, group.rank(), group.size()), dtype=mx.int32)


def cholesky(A: mx.array, *, block: int = BLOCK, group: Group | None = None) -> mx.array:
    """The triangle U with UᵀU = A, of a symmetric positive definite matrix.

    Runs at once, without a gradient. The backward error
    is that of one machine: |A - UᵀU| ≤ (n + 1) ε |U|ᵀ|U| elementwise to first order (Higham,
    Accuracy and Stability of Numerical Algorithms, 2nd edition, theorem 10.3, which holds for any
    order of the updates).

    Communication, besides the agreement: n/b times `all_sum` of b rows from their diagonal block
    on, n²/2 + n b/2 words in all, of which a ring takes 2(p - 1)/p times as many on each rank. The
    least for 1-D layouts is about n²/2 words on each rank, since the updates of its rows need those
    above them.

    Args:
        A: This rank's rows in a block-cyclic layout (`cyclic_rows`), shape (rows, n), float32. What
            is left of the diagonal is not read.
        block: Rows of a block, the same on all ranks.
        group: The ranks; by default all that were launched.

    Returns:
        The same rows of U, zero left of the diagonal; its columns are the rows of L = Uᵀ. NaN on
        all ranks if A is not positive definite to working precision.

    Raises:
        ValueError: Not the rows of a layout, ranks that differ. On all ranks if it is the fault of
            one, which is named.
        DtypeError: Another dtype on this rank.
        TypeError: No array on this rank.
        RankLostError: The connection to another rank has ended.
    """
    group = of_group(group)
    _agree("cholesky", group, A, None, block)
    n, rank, ranks = A.shape[1], group.rank(), group.size()
    rest = A  # this rank's rows from the block on that comes next, with all updates
    done: list[mx.array] = []
    panel = mx.zeros((0, n))
    for number in range(math.ceil(n / block)):
        start = number * block
        height = min(block, n - start)
        if number % ranks == rank:
            own = rest[:height, start:]
            diagonal = cholesky_of_one(own[:, :height], upper=True)
            across = _solved_transposed(diagonal, own[:, height:])
            own = mx.concatenate([diagonal, across], axis=1)
            done.append(mx.concatenate([mx.zeros((height, start)), own], axis=1))
            rest = rest[height:]
        else:
            # Nothing comes of it; but no rank may ask for this panel before the one before it.
            own = mx.depends([mx.zeros((height, n - start))], [panel])[0]
        panel = all_sum(own, group)
        below = [i for i in _numbers(n, block, rank, ranks) if i >= start + height]
        if below:
            columns = panel[:, mx.array([i - start for i in below])]
            update = matmul_atb(columns, panel)
            rest = mx.concatenate([rest[:, :start], rest[:, start:] - update], axis=1)
    U = mx.concatenate(done) if done else A
    # What is not positive definite makes its block NaN, and all that follow.
    failed = mx.isnan(panel[-1, -1]) if n else mx.array(False)
    return awaited("cholesky", group, mx.where(failed, math.nan, U))


def solve_triangular(
    U: mx.array,
    B: mx.array,
    *,
    transposed: bool = False,
    block: int = BLOCK,
    group: Group | None = None,
) -> mx.array:
    """X with U X = B, or UᵀX = B, by substitution over rows in a block-cyclic layout.

    Runs at once, without a gradient. Backward stable row
    by row, as on one machine (Higham, section 8.1).

    Communication, besides the agreement: n/b times `all_sum` of b·c words, n·c in all; each rank
    needs the other ranks' rows of X, so about n·c are the least.

    Args:
        U: This rank's rows of an upper triangle (`cholesky`), shape (rows, n), float32. What is
            left of the diagonal must be zero.
        B: The same rows of the right-hand sides, shape (rows, c), float32.
        transposed: Solve UᵀX = B, which is L X = B.
        block, group: As in `cholesky`.

    Returns:
        The same rows of X, shape (rows, c); not finite where the diagonal has a zero.

    Raises:
        As `cholesky`.
    """
    group = of_group(group)
    _agree("solve_triangular", group, U, B, block, transposed=transposed)
    n, c = U.shape[1], B.shape[1]
    numbers = list(range(math.ceil(n / block)))
    found: dict[int, mx.array] = {}
    # What finished rows contribute: of all ranks to U X, of this rank's own rows to UᵀX.
    known = mx.zeros((n, c))
    last = mx.zeros((0, c))
    for number in numbers if transposed else reversed(numbers):
        start = number * block
        stop = min(start + block, n)
        mine = number % group.size() == group.rank()
        at = number // group.size() * block
        rows = U[at : at + stop - start]
        if transposed:
            share = mx.depends([known[start:stop]], [last])[0]
            last = all_sum(share, group)
            if mine:
                X = _solved_transposed(rows[:, start:stop], B[at : at + stop - start] - last)
                found[number] = X
                known = known + matmul_atb(rows, X)
            continue
        if mine:
            right = B[at : at + stop - start] - matmul_av(rows, known)
            X = found[number] = _solved(rows[:, start:stop], right)
        else:
            X = mx.depends([mx.zeros((stop - start, c))], [last])[0]
        last = all_sum(X, group)
        known = mx.concatenate([known[:start], last, known[stop:]])
    X = mx.concatenate([found[i] for i in sorted(found)]) if found else B
    # A rank takes part in all sums, those after its last block included.
    return awaited("solve_triangular", group, mx.depends([X], [last])[0])


def _solved(U: mx.array, B: mx.array) -> mx.array:
    """X with U X = B."""
    return solve_lower(B.T, U.T).T


def _solved_transposed(U: mx.array, B: mx.array) -> mx.array:
    """X with UᵀX = B."""
    return solve_upper(B.T, U).T


def _numbers(n: int, block: int, rank: int, ranks: int) -> list[int]:
    return [i for i in range(n) if i // block % ranks == rank]


def _agree(
    routine: str, group: Group, A: mx.array, B: mx.array | None, block: int, **options: object
) -> None:
    arrays = {"A": A} if B is None else {"U": A, "B": B}
    error = None
    if block < 1:
        error = ValueError(f"[{routine}] block must be positive, not {block}.")
    elif isinstance(A, mx.array) and A.ndim == 2:
        wanted = len(_numbers(A.shape[1], block, group.rank(), group.size()))
        if A.shape[0] != wanted:
            error = ValueError(
                f"[{routine}] {A.shape[0]} rows of {A.shape[1]} columns are not what rank "
                f"{group.rank()} of {group.size()} has in blocks of {block} rows: {wanted}. "
                "cyclic_rows tells their numbers."
            )
    agree_on_rows(routine, group, arrays, {"block": block, **options}, error=error)
