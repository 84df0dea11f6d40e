"""QR factorisations of tall matrices whose rows lie on several ranks: TSQR.

Each rank factors its own rows; then the triangles are merged in a tree, two at a time, by small QR
factorisations (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential
QR and LU factorizations", SIAM J. Sci. Comput. 34(1), 2012). All steps are orthogonal, so Q is
orthonormal to rounding whatever the condition of A is. All ranks of a group merge the same
triangles (exchange.py), so that each knows R and its own part of Q without a way back.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import mlx.core as mx

from anymetal.linalg.distributed.exchange import Merge, merges
from anymetal.linalg.distributed.ranks import Group, agree_on_rows, awaited, evaluate, of_group
from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.qr import qr as qr_of_one
from anymetal.transforms import is_transformed


class Orthonormal(NamedTuple):
    """This rank's rows of an orthonormal Q, as a product that is not computed."""

    leaf: mx.array  #: (rows, j): that of this rank's own factorisation
    inner: mx.array  #: (j, k): what the merges have made of it
    group: Group

    def explicit(self) -> mx.array:
        """The rows themselves, shape (rows, k), without communication."""
        return matmul_av(self.leaf, self.inner)

    def times(self, X: mx.array) -> mx.array:
        """This rank's rows of Q X, shape (rows, c), without communication.

        Args:
            X: Shape (k, c), float32, the same on all ranks.

        Raises:
            ValueError: Shapes that do not fit.
        """
        return matmul_av(self.leaf, matmul_av(self.inner, X))

    def transposed_times(self, Y: mx.array) -> mx.array:
        """Qᵀ Y, shape (k, c), the same on all ranks: `all_sum` of k·c words.

        Args:
            Y: This rank's rows, shape (rows, c), float32; c is the same on all ranks.

        Raises:
            ValueError: Shapes that do not fit.
        """
        share = matmul_atb(self.inner, matmul_atb(self.leaf, Y))
        total = mx.distributed.all_sum(share, group=self.group)
        return awaited("transposed_times", self.group, total)


def qr(A: mx.array, *, group: Group | None = None, ring: bool = True) -> tuple[mx.array, mx.array]:
    """The reduced QR factorisation of a matrix whose rows lie on several ranks: A = Q R.

    Of any rank and scale, as `anymetal.linalg.qr`, within the same bounds: QᵀQ = I to rounding, and
    the diagonal of R is not negative. Where an element is not finite, both factors have NaN. Runs
    at once, since ranks send to each other in an order; so not inside of transformations, and
    without a gradient.

    Communication, besides the agreement: in each merge each rank receives one triangle of
    n(n + 1)/2 words, and on a ring some ranks hand it on. ⌈log₂p⌉ such messages follow each other
    where all ranks reach each other, which is the lower bound; on a ring that is met up to p = 4,
    and it is 5 instead of 3 for p = 8 (`exchange.rounds`).

    Args:
        A: This rank's rows, shape (rows, n), float32, in the order of ranks. Any number of rows,
            also fewer than n, or none.
        group: The ranks; by default all that were launched.
        ring: Whether ranks reach their neighbours only, as in MLX's ring. False, with MPI for
            instance, saves messages from 5 ranks on.

    Returns:
        This rank's rows of Q, shape (rows, k), and R of shape (k, n), the same on all ranks, where
        k is the smaller of n and the rows of all ranks.

    Raises:
        ValueError: Shapes that differ but for the rows, or no matrix, on all ranks, with the number
            of the rank; a call inside of a transformation.
        DtypeError: Another dtype on this rank.
        RankLostError: The connection to another rank has ended.
    """
    Q, R = implicit_qr(A, group=group, ring=ring)
    return Q.explicit(), R


def implicit_qr(
    A: mx.array, *, group: Group | None = None, ring: bool = True
) -> tuple[Orthonormal, mx.array]:
    """As `qr`, with Q as a product that is not computed, which saves 2·rows·n·k operations.

    Arguments, R, errors and communication as those of `qr`.
    """
    if is_transformed([A]):
        raise ValueError(
            "[distributed.qr] Ranks send to each other at once, so this does not work inside of "
            "mx.compile, mx.grad and mx.vmap."
        )
    group = of_group(group)
    rows = agree_on_rows("qr", group, {"A": A}, {"ring": ring})
    n = A.shape[1]
    leaf, R = qr_of_one(A)
    inner = mx.eye(R.shape[0])
    for merge in merges(group.rank(), group.size(), ring=ring):
        height = min(sum(rows[rank] for rank in merge.other), n)
        theirs = _exchanged(R, height, merge, group)
        half, R = _merged(R, theirs, first=merge.own[0] < merge.other[0])
        if half is not None:
            inner = matmul_av(inner, half)
    return Orthonormal(leaf, inner, group), R


def _merged(own: mx.array, other: mx.array, *, first: bool) -> tuple[mx.array | None, mx.array]:
    """The own rows of Q, None for those of I, and R, of both triangles above each other."""
    height = own.shape[0]
    if other.shape[0] == 0:
        return None, own
    if height == 0:
        return mx.zeros((0, other.shape[0])), other
    Q, R = qr_of_one(mx.concatenate([own, other] if first else [other, own]))
    return (Q[:height] if first else Q[-height:]), R


# Messages


def _exchanged(own: mx.array, height: int, merge: Merge, group: Group) -> mx.array:
    """The other group's triangle, of shape (height, n); the own one goes to those who want it."""
    n = own.shape[1]
    packed = own.reshape(-1)[_trapezoid(own.shape[0], n)[0]]
    if group.rank() < merge.source:  # of two who both send, the lower one does it first
        _send(packed, merge.first, group)
        theirs = _received(height, n, merge.source, group)
    else:
        theirs = _received(height, n, merge.source, group)
        _send(packed, merge.first, group)
    _send(theirs, merge.onward, group)
    padded = mx.concatenate([theirs, mx.zeros(1)])
    return padded[_trapezoid(height, n)[1]].reshape(height, n)


def _send(packed: mx.array, to: tuple[int, ...], group: Group) -> None:
    if packed.size == 0:  # the others know that there is nothing
        return
    for rank in to:
        evaluate("qr", group, mx.distributed.send(packed, rank, group=group))


def _received(height: int, n: int, source: int, group: Group) -> mx.array:
    words = _trapezoid(height, n)[0].size
    if words == 0:
        return mx.zeros(0)
    theirs = mx.distributed.recv([words], mx.float32, source, group=group)
    evaluate("qr", group, theirs)
    return theirs


@functools.lru_cache(maxsize=64)
def _trapezoid(k: int, n: int) -> tuple[mx.array, mx.array]:
    """Where elements on and above the diagonal lie, and for each element which of them it is.

    Those below it are said to be the one behind the last.
    """
    i, j = mx.arange(k)[:, None], mx.arange(n)[None]
    inside = (i <= j).reshape(-1)
    words = k * n - k * (k - 1) // 2
    order = mx.argsort(mx.where(inside, mx.arange(k * n), k * n))[:words]
    number = i * n - i * (i - 1) // 2 + j - i
    place = mx.where(inside, number.reshape(-1), words)
    mx.eval(order, place)
    return order, place
