"""Dot products, norms and products AᵀB of arrays whose rows lie on several ranks.

Sums in float32 are added on each rank, and then by MLX's `all_sum`, in whose order they are
rounded. Sums in limbs are integers in a window that all ranks choose together (docs/
extended_precision.md): the largest exponent comes first, by `all_max`, and decides the window; the
limbs follow, by `all_sum`. Maxima and sums of integers do not depend on any order, so results are
the same bits for any number of ranks, any distribution of rows, and any order in which ranks are
asked; they are those of one machine, too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import mlx.core as mx

from anymetal.custom import custom_function
from anymetal.linalg.distributed.ranks import (
    Group,
    agree_on_rows,
    all_max,
    all_sum,
    awaited,
    of_group,
)
from anymetal.linalg.gemm import matmul_atb
from anymetal.linalg.row_dots import LIMBS, Window, row_dots

Accumulate = Literal["float32", "limb", "exact"]

#: Products of a sum in limbs: so many have room for their carries.
MOST_PRODUCTS = 2**31 - 1

_DTYPES = (mx.float32, mx.float16, mx.bfloat16)


def dot(
    x: mx.array, y: mx.array, *, accumulate: Accumulate = "float32", group: Group | None = None
) -> mx.array:
    """The sum of x·y over the last axis, which is cut into shards.

    Runs at once. Works under `mx.compile`, where ranks
    agree when the function is traced, and `mx.grad`, with the gradient of a loss that each rank
    computes from the result in the same way: cotangent · y for x, without communication.

    Communication for s sums, besides the agreement: `all_sum` of s words in float32; by limbs
    `all_max` of 2s and `all_sum` of 8s words ("exact": 37s).

    Args:
        x, y: This rank's shards, float32, float16 or bfloat16, shapes (..., rows) whose leading
            axes broadcast; rows may be 0, and another number on each rank.
        accumulate: "float32": local sums as those of `anymetal.linalg.dot`, then one addition per
            rank. "limb" and "exact": as there, with the same bits as there, whatever the number of
            ranks.
        group: The ranks; by default all that were launched.

    Returns:
        float32, the leading axes, the same on all ranks.

    Raises:
        ValueError: Shapes that differ but for the sharded axis; an unknown `accumulate`; 2³¹
            products or more in limbs. On all ranks if it is the fault of one, which is named.
        DtypeError: Another dtype on this rank.
        TypeError: No array on this rank.
        RankLostError: The connection to another rank has ended.
    """
    call = _agreed("dot", {"x": x, "y": y}, accumulate, group, vectors=True)
    x, y = mx.broadcast_arrays(x, y)
    rows = (math.prod(x.shape[:-1]), 1, x.shape[-1])
    function = _differentiable(_pairs, _pairs_backward, call)
    return awaited(
        "dot", call.group, function(_flat(x, rows), _flat(y, rows)).reshape(x.shape[:-1])
    )


def norm(
    x: mx.array, *, accumulate: Accumulate = "float32", group: Group | None = None
) -> mx.array:
    """The Euclidean norm over the last axis, which is cut into shards.

    By limbs the root is that of the window's sum, rounded once, and norms whose squares float32
    cannot hold are right; otherwise squares beyond it make the norm infinite or zero. Arguments,
    result, errors and communication are those of `dot`(x, x); the gradient of a norm of zero is
    zero.
    """
    call = _agreed("norm", {"x": x}, accumulate, group, vectors=True)
    rows = (math.prod(x.shape[:-1]), 1, x.shape[-1])
    function = _differentiable(_norms, _norms_backward, call)
    return awaited("norm", call.group, function(_flat(x, rows)).reshape(x.shape[:-1]))


def products(
    A: mx.array, B: mx.array, *, accumulate: Accumulate = "float32", group: Group | None = None
) -> mx.array:
    """AᵀB of two matrices whose rows lie on the same ranks.

    Runs at once, with gradients, as `dot`. Communication: that of n·q sums. Each rank must receive
    the others' share of every sum, so n·q words are the least; a ring takes 2(p - 1)/p times as
    many.

    Args:
        A: This rank's rows, shape (rows, n), float32, float16 or bfloat16.
        B: The same rows of the other matrix, shape (rows, q).
        accumulate, group: As in `dot`.

    Returns:
        float32, shape (n, q), the same on all ranks.

    Raises:
        As `dot`.
    """
    call = _agreed("products", {"A": A, "B": B}, accumulate, group)
    A, B = A.astype(mx.float32), B.astype(mx.float32)
    return awaited(
        "products", call.group, _differentiable(_products, _products_backward, call)(A, B)
    )


def gram(
    A: mx.array, *, accumulate: Accumulate = "float32", group: Group | None = None
) -> mx.array:
    """AᵀA, symmetric to the last bit.

    Runs at once, with gradients, as `dot`. Communication: that of n(n + 1)/2 sums.

    Args:
        A: This rank's rows, shape (rows, n), float32, float16 or bfloat16.
        accumulate, group: As in `dot`.

    Returns:
        float32, shape (n, n), the same on all ranks.

    Raises:
        As `dot`.
    """
    call = _agreed("gram", {"A": A}, accumulate, group)
    return awaited(
        "gram", call.group, _differentiable(_gram, _gram_backward, call)(A.astype(mx.float32))
    )


class Call(NamedTuple):
    """What all ranks agree on."""

    accumulate: str
    group: Group
    total: int  #: rows of all ranks


def _agreed(
    routine: str,
    arrays: dict[str, mx.array],
    accumulate: str,
    group: Group | None,
    vectors: bool = False,
) -> Call:
    ways = get_args(Accumulate)
    error = None
    if accumulate not in ways:
        choices = ", ".join(map(repr, ways))
        error = ValueError(f"[{routine}] accumulate must be one of {choices}; got {accumulate!r}.")
    group = of_group(group)
    rows = agree_on_rows(
        routine,
        group,
        arrays,
        {"accumulate": accumulate},
        dtypes=_DTYPES,
        vectors=vectors,
        error=error,
    )
    if accumulate in LIMBS and sum(rows) > MOST_PRODUCTS:
        raise ValueError(
            f"[{routine}] Sums in limbs have room for {MOST_PRODUCTS} products, not {sum(rows)}. "
            "Cut the rows into parts, or use accumulate='float32'."
        )
    return Call(accumulate, group, sum(rows))


def _flat(x: mx.array, rows: tuple[int, int, int]) -> mx.array:
    return x.astype(mx.float32).reshape(rows)


# Values and gradients


def _differentiable(
    forward: Callable[..., mx.array], backward: Callable[..., Any], call: Call
) -> Callable[..., mx.array]:
    function: Any = custom_function(functools.partial(forward, call))
    function.vjp(backward)
    return function  # type: ignore[no-any-return]


def _pairs(call: Call, x: mx.array, y: mx.array) -> mx.array:
    if call.accumulate in LIMBS:
        return _in_limbs(call, x, y)
    return all_sum(row_dots(x, y, "float32"), call.group)


def _pairs_backward(
    primals: tuple[mx.array, mx.array], cotangent: mx.array, _: mx.array
) -> tuple[mx.array, mx.array]:
    x, y = primals
    return cotangent * y, cotangent * x


def _norms(call: Call, x: mx.array) -> mx.array:
    if call.accumulate in LIMBS:
        return _in_limbs(call, x, x, root=True)
    return mx.sqrt(all_sum(row_dots(x, x, "float32"), call.group))


def _norms_backward(x: mx.array, cotangent: mx.array, output: mx.array) -> mx.array:
    return x * mx.where(output == 0, 0, cotangent / output)


def _products(call: Call, A: mx.array, B: mx.array) -> mx.array:
    if call.accumulate in LIMBS:
        return _in_limbs(call, A.T[None], B.T[None])[0]
    return all_sum(matmul_atb(A, B), call.group)


def _products_backward(
    primals: tuple[mx.array, mx.array], cotangent: mx.array, _: mx.array
) -> tuple[mx.array, mx.array]:
    A, B = primals
    return B @ cotangent.T, A @ cotangent


def _gram(call: Call, A: mx.array) -> mx.array:
    n = A.shape[1]
    upper, mirror = triangle(n)
    if call.accumulate in LIMBS:
        return _in_limbs(call, A.T[None], A.T[None], sums=(upper, mirror))[0]
    packed = all_sum(matmul_atb(A, A).reshape(-1)[upper], call.group)
    return packed[mirror].reshape(n, n)


def _gram_backward(A: mx.array, cotangent: mx.array, _: mx.array) -> mx.array:
    return A @ (cotangent + cotangent.T)


@functools.lru_cache(maxsize=64)
def triangle(n: int) -> tuple[mx.array, mx.array]:
    """Where the upper triangle's n(n + 1)/2 elements lie in n² of them, and each of those in it."""
    i, j = mx.arange(n)[:, None], mx.arange(n)[None]
    inside = (i <= j).reshape(-1)
    # Numbers of the elements that are inside, in order; the others come behind them.
    upper = mx.argsort(mx.where(inside, mx.arange(n * n), n * n))[: n * (n + 1) // 2]
    low, high = mx.minimum(i, j), mx.maximum(i, j)
    mirror = low * n - low * (low - 1) // 2 + high - low
    mx.eval(upper, mirror)
    return upper, mirror.reshape(-1)


# Limbs

#: In place of an exponent: a sum with a product that is +∞ or undefined.
_UP = 2**20


def _in_limbs(
    call: Call,
    x: mx.array,
    y: mx.array,
    *,
    root: bool = False,
    sums: tuple[mx.array, mx.array] | None = None,
) -> mx.array:
    """The dot product of each row of x with each of y over all ranks, (batch, rows, columns).

    `sums` are the pairs whose sums are added, and which of these belongs to each pair; by default
    each pair has its own.
    """
    shape = (x.shape[0], x.shape[1], y.shape[1])
    if 0 in shape or call.total == 0:
        return mx.zeros(shape)
    if x.shape[2] == 0:  # products of zeros are as good as none
        x, y = mx.zeros((*x.shape[:2], 1)), mx.zeros((*y.shape[:2], 1))
    window = Window(x, y, LIMBS[call.accumulate], call.total)

    local = _outline(window.surveys())
    packed = local if sums is None else local[sums[0]]
    surveys = _survey(all_max(packed, call.group))
    if sums is not None:
        surveys = surveys[sums[1]]

    limbs = _carried(window.sums(surveys))
    packed = limbs if sums is None else limbs[sums[0]]
    total = all_sum(packed, call.group)
    return window.results(surveys, total if sums is None else total[sums[1]], root)


def _outline(surveys: mx.array) -> mx.array:
    """Two numbers for each sum whose maxima over all ranks tell what `_survey` says."""
    special = surveys[..., 1]
    up, down = ((special & (own | 4) != 0).max(axis=1) for own in (1, 2))
    exponent = surveys[..., 0].max(axis=1)
    return mx.stack([mx.where(up, _UP, exponent), down.astype(mx.int32)], axis=-1)


def _survey(outline: mx.array) -> mx.array:
    """Exponent and special products, as kernels have them: +∞ and -∞ together are undefined."""
    exponent, down = outline[:, 0], outline[:, 1]
    up = (exponent == _UP).astype(mx.int32)
    return mx.stack([exponent, up | (down << 1)], axis=-1)


def _carried(sums: mx.array) -> mx.array:
    """Limbs of all blocks together: 16 bits in each but the last, so that ranks can be added."""
    words = sums.astype(mx.int64).sum(axis=1)
    limbs: list[mx.array] = []
    carry = mx.zeros_like(words[:, 0])
    for j in range(words.shape[1] - 1):
        word = words[:, j] + carry
        limbs.append(word & 0xFFFF)
        carry = word >> 16
    limbs.append(words[:, -1] + carry)
    return mx.stack(limbs, axis=-1).astype(mx.int32)
