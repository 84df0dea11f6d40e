"""QR factorisations of tall matrices whose rows lie on several ranks: TSQR.

Each rank factors its own rows; then the triangles are merged in a tree, two at a time, by small QR
factorisations (Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential
QR and LU factorizations", SIAM J. Sci. Comput. 34(1), 2012). All steps are orthogonal, so Q is
orthonormal to rounding whatever the condition of A is. All ranks of a group merge the same
triangles (exchange.py), so that each knows R and its own part of Q without a way back.
"""

from __future__ import annotations

import functools
import os
from typing import Literal, NamedTuple, get_args

import mlx.core as mx

from anymetal.linalg.distributed.exchange import Merge, merges
from anymetal.linalg.distributed.ranks import (
    Group,
    agree_on_rows,
    all_sum,
    awaited,
    evaluate,
    of_group,
)
from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.qr import Factors
from anymetal.linalg.qr import qr as qr_of_one
from anymetal.transforms import is_transformed

Exchange = Literal["tree", "gather"]


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
            As `qr`, where the rows are others than those of Q, too.
        """
        own = self.leaf.shape[0]
        error = None
        if isinstance(Y, mx.array) and Y.ndim == 2 and Y.shape[0] != own:
            error = ValueError(f"[transposed_times] Y has {Y.shape[0]} rows, but Q has {own}.")
        agree_on_rows("transposed_times", self.group, {"Y": Y}, {}, error=error)
        share = matmul_atb(self.inner, matmul_atb(self.leaf, Y))
        total = all_sum(share, self.group)
        return awaited("transposed_times", self.group, total)


def qr(
    A: mx.array, *, group: Group | None = None, exchange: Exchange | None = None
) -> tuple[mx.array, mx.array]:
    """The reduced QR factorisation of a matrix whose rows lie on several ranks: A = Q R.

    Of any rank and scale, as `anymetal.linalg.qr`, within the same bounds: QᵀQ = I to rounding, and
    the diagonal of R is not negative. Where an element is not finite, both factors have NaN. Runs
    at once, since ranks send to each other in an order; so not inside of transformations, and
    without a gradient.

    Communication, besides the agreement: "tree" has messages of n(n + 1)/2 words from neighbour to
    neighbour, one triangle for each of ⌈log₂p⌉ merges, which on a ring some ranks hand on.
    `exchange.rounds` of them follow each other, at most twice the least on a ring
    (`exchange.least`). "gather" has one `all_gather` of n(n + 1)/2 words.

    Args:
        A: This rank's rows, shape (rows, n), float32, in the order of ranks. Any number of rows,
            also fewer than n, or none.
        group: The ranks; by default all that were launched.
        exchange: "tree" merges two triangles at a time, by messages between neighbours of MLX's
            ring; "gather" all of them on each rank at once, for back ends without such messages,
            as NCCL. By default "tree" if the ring is there (`MLX_HOSTFILE` is set).

    Returns:
        This rank's rows of Q, shape (rows, k), and R of shape (k, n), the same on all ranks, where
        k is the smaller of n and the rows of all ranks.

    Raises:
        ValueError: Shapes that differ but for the rows, no matrix, another exchange, or a call
            inside of a transformation. On all ranks if it is the fault of one, which is named.
        DtypeError: Another dtype on this rank.
        TypeError: No array on this rank.
        RankLostError: The connection to another rank has ended.
    """
    Q, R = implicit_qr(A, group=group, exchange=exchange)
    return Q.explicit(), R


def implicit_qr(
    A: mx.array, *, group: Group | None = None, exchange: Exchange | None = None
) -> tuple[Orthonormal, mx.array]:
    """As `qr`, with Q as a product that is not computed, which saves 2·rows·n·k operations.

    Arguments, R, errors and communication as those of `qr`.
    """
    group = of_group(group)
    exchange = exchange or by_default()
    rows = agree_on_rows("qr", group, {"A": A}, {"exchange": exchange}, error=_trouble(A, exchange))
    return factored(A, rows, group, exchange)


def by_default() -> Exchange:
    """Messages between neighbours if MLX's ring is there to carry them."""
    return "tree" if "MLX_HOSTFILE" in os.environ else "gather"


def factored(
    A: mx.array, rows: list[int], group: Group, exchange: Exchange
) -> tuple[Orthonormal, mx.array]:
    """As `implicit_qr`, of ranks that have agreed; `rows` are those of each."""
    leaf, R = qr_of_one(A)
    inner, R = (_in_a_tree if exchange == "tree" else _at_once)(R, rows, group)
    return Orthonormal(leaf, inner, group), R


def _trouble(A: mx.array, exchange: str) -> Exception | None:
    """What is wrong with a call, but for the dtype and shape of A."""
    if exchange not in (ways := get_args(Exchange)):
        choices = ", ".join(map(repr, ways))
        return ValueError(f"[qr] exchange must be one of {choices}; got {exchange!r}.")
    if isinstance(A, mx.array) and is_transformed([A]):
        return ValueError(
            "[qr] Ranks send to each other at once, so this does not work inside of mx.compile, "
            "mx.grad and mx.vmap."
        )
    return None


def _in_a_tree(R: mx.array, rows: list[int], group: Group) -> Factors:
    """What the merges make of this rank's own factor, and the last R."""
    n = R.shape[1]
    inner = mx.eye(R.shape[0])
    for merge in merges(group.rank(), group.size()):
        height = min(sum(rows[rank] for rank in merge.other), n)
        theirs = _exchanged(R, height, merge, group)
        half, R = _merged(R, theirs, first=merge.own[0] < merge.other[0])
        if half is not None:
            inner = matmul_av(inner, half)
    return inner, R


def _at_once(R: mx.array, rows: list[int], group: Group) -> Factors:
    """The same by one factorisation of all triangles above each other, on each rank."""
    if group.size() == 1:
        return mx.eye(R.shape[0]), R
    n = R.shape[1]
    packed = _packed(R)
    room = mx.zeros(n * (n + 1) // 2 - packed.size)
    all_packed = mx.distributed.all_gather(mx.concatenate([packed, room])[None], group=group)
    evaluate("qr", group, all_packed)
    heights = [min(count, n) for count in rows]
    triangles = [
        _unpacked(each[: _words(height, n)], height, n)
        for each, height in zip(all_packed, heights, strict=True)
    ]
    Q, R = qr_of_one(mx.concatenate(triangles))
    start = sum(heights[: group.rank()])
    return Q[start : start + heights[group.rank()]], R


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
    """The other group's triangle, of shape (height, n); the own one goes to those who want it.

    Where one of them has no elements, all know that, and nothing is sent.
    """
    n = own.shape[1]
    packed, theirs = _packed(own), mx.zeros(_words(height, n))
    for message in merge.messages:
        if message.sends:
            value = packed if message.own else theirs
            if value.size:
                evaluate("qr", group, mx.distributed.send(value, message.rank, group=group))
        elif theirs.size:
            theirs = mx.distributed.recv(theirs.shape, mx.float32, message.rank, group=group)
            evaluate("qr", group, theirs)
    return _unpacked(theirs, height, n)


# Triangles, and trapezoids of fewer rows than columns


def _packed(R: mx.array) -> mx.array:
    return R.reshape(-1)[_trapezoid(*R.shape)[0]]


def _unpacked(packed: mx.array, height: int, n: int) -> mx.array:
    padded = mx.concatenate([packed, mx.zeros(1)])
    return padded[_trapezoid(height, n)[1]].reshape(height, n)


def _words(height: int, n: int) -> int:
    return height * n - height * (height - 1) // 2


@functools.lru_cache(maxsize=64)
def _trapezoid(k: int, n: int) -> tuple[mx.array, mx.array]:
    """Where elements on and above the diagonal lie, and for each element which of them it is.

    Those below it are said to be the one behind the last.
    """
    i, j = mx.arange(k)[:, None], mx.arange(n)[None]
    inside = (i <= j).reshape(-1)
    words = _words(k, n)
    order = mx.argsort(mx.where(inside, mx.arange(k * n), k * n))[:words]
    number = i * n - i * (i - 1) // 2 + j - i
    place = mx.where(inside, number.reshape(-1), words)
    mx.eval(order, place)
    return order, place
