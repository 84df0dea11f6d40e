"""Dot products, norms and projections whose sums are more precise than their inputs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Literal, cast, get_args

import mlx.core as mx

from anymetal.linalg.gemm import matmul_atb
from anymetal.linalg.row_dots import row_dots

Accumulate = Literal["float32", "compensated", "limb"]

_DTYPES = (mx.float32, mx.float16, mx.bfloat16)


def dot(x: mx.array, y: mx.array, *, accumulate: Accumulate = "float32") -> mx.array:
    """The sum of x·y over the last axis.

    Args:
        x, y: float32, float16 or bfloat16, shapes (..., n), whose leading axes broadcast.
        accumulate: How products are added.

            - "float32": one rounding per product, 32 running sums, added in the end.
            - "compensated": as if in twice the precision, then rounded: Dot2 of Ogita, Rump and
              Oishi, "Accurate sum and dot product" (SIAM J. Sci. Comput. 26(6), 2005), § 5. The
              error is at most u|s| + 3D²u² Σ|xᵢyᵢ|, where u = 2⁻²⁴ and D, the additions that a
              product goes through, is ⌈min(n, 2¹⁴)/32⌉ + ⌈n/2¹⁹⌉ + 10, unless numbers under- or
              overflow.
            - "limb": in a window of 128 bits that begins at the largest product, then rounded to
              the nearest float32. Without bits below the window the result is exact but for that
              rounding; the sum is off by less than n·2^(e + ⌈log₂n⌉ - 79) otherwise, e being the
              exponent of the last bit of the largest product. Neither the order of the products
              nor threads change a bit. Subnormal numbers count in full.

    Returns:
        float32, the leading axes.

    Raises:
        ValueError: Last axes of different lengths, no axis, an unknown `accumulate`.
        TypeError: Another dtype.
    """
    x, y = (_floats("dot", value, 1) for value in (x, y))
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"[dot] The last axes must be equally long; got shapes {x.shape} and {y.shape}."
        )
    x, y = mx.broadcast_arrays(x, y)
    dots = _pairs_of_rows(_known("dot", accumulate))
    rows = (_count(x.shape[:-1]), 1, x.shape[-1])
    return dots(x.reshape(rows), y.reshape(rows)).reshape(x.shape[:-1])


def norm(x: mx.array, *, accumulate: Accumulate = "float32") -> mx.array:
    """The Euclidean norm over the last axis, the square root of dot(x, x).

    With "limb" the square root is that of the window's sum, rounded once, and norms whose squares
    float32 cannot hold are right; otherwise squares beyond it make the norm infinite or zero.
    Arguments, result, errors and bounds as in `dot`.
    """
    x = _floats("norm", x, 1)
    norms = _norms_of_rows(_known("norm", accumulate))
    rows = (_count(x.shape[:-1]), 1, x.shape[-1])
    return norms(x.reshape(rows)).reshape(x.shape[:-1])


def project(Q: mx.array, V: mx.array, *, accumulate: Accumulate = "float32") -> mx.array:
    """Qᵀ V: the coefficients of V's columns in the directions of Q's columns.

    Args:
        Q: float32, float16 or bfloat16, shape (..., m, k).
        V: The same, shape (..., m, p); leading axes broadcast.
        accumulate: As in `dot`, each number of the result being one sum; with "float32", those of
            `matmul_atb`.

    Returns:
        float32, shape (..., k, p).

    Raises:
        ValueError: Different numbers of rows, fewer than two axes, an unknown `accumulate`.
        TypeError: Another dtype.
    """
    Q, V = (_floats("project", value, 2) for value in (Q, V))
    if Q.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"[project] Q and V must have the same number of rows; got {Q.shape} and {V.shape}."
        )
    if _known("project", accumulate) == "float32":
        return matmul_atb(Q, V)
    batch = mx.broadcast_shapes(Q.shape[:-2], V.shape[:-2])
    dots = _pairs_of_rows(accumulate)
    result = dots(_columns(Q, batch), _columns(V, batch))
    return result.reshape(*batch, Q.shape[-1], V.shape[-1])


def gram(A: mx.array, *, accumulate: Accumulate = "float32") -> mx.array:
    """Aᵀ A, a product of rank m that is symmetric to the last bit.

    Args:
        A: float32, float16 or bfloat16, shape (..., m, k).
        accumulate: As in `dot`, each number of the result being one sum; with "float32", those of
            `matmul_atb`.

    Returns:
        float32, shape (..., k, k).

    Raises:
        ValueError: Fewer than two axes, an unknown `accumulate`.
        TypeError: Another dtype.
    """
    A = _floats("gram", A, 2)
    if _known("gram", accumulate) == "float32":
        return matmul_atb(A, A)
    grams = _grams_of_rows(accumulate)
    result = grams(_columns(A, A.shape[:-2]))
    return result.reshape(*A.shape[:-2], A.shape[-1], A.shape[-1])


def _floats(function: str, value: mx.array, axes: int) -> mx.array:
    if value.dtype not in _DTYPES:
        raise TypeError(
            f"[{function}] float32, float16 or bfloat16 are needed; got {value.dtype}. "
            "Convert with astype(mx.float32)."
        )
    if value.ndim < axes:
        raise ValueError(f"[{function}] At least {axes} axes are needed; got {value.shape}.")
    return value.astype(mx.float32)


def _known(function: str, accumulate: str) -> str:
    if accumulate not in get_args(Accumulate):
        choices = ", ".join(map(repr, get_args(Accumulate)))
        raise ValueError(f"[{function}] accumulate must be one of {choices}; got {accumulate!r}.")
    return accumulate


def _columns(matrix: mx.array, batch: tuple[int, ...]) -> mx.array:
    """Columns as rows, and one axis for the batch."""
    rows = mx.broadcast_to(matrix, (*batch, *matrix.shape[-2:])).swapaxes(-1, -2)
    return rows.reshape(_count(batch), *rows.shape[-2:])


def _count(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


Rows = Callable[..., mx.array]


def _with_gradient(forward: Rows, backward: Callable[..., object]) -> Rows:
    function = mx.custom_function(forward)
    function.vjp(backward)
    return cast(Rows, function)


@functools.cache
def _pairs_of_rows(accumulate: str) -> Rows:
    """Dots of all rows of x with all rows of y, with gradients."""

    def dots(x: mx.array, y: mx.array) -> mx.array:
        return row_dots(x, y, accumulate)

    def backward(
        primals: tuple[mx.array, mx.array], cotangent: mx.array, _: mx.array
    ) -> tuple[mx.array, mx.array]:
        x, y = primals
        return cotangent @ y, cotangent.swapaxes(-1, -2) @ x

    return _with_gradient(dots, backward)


@functools.cache
def _grams_of_rows(accumulate: str) -> Rows:
    """Dots of all rows of x with each other, with gradients."""

    def grams(x: mx.array) -> mx.array:
        return row_dots(x, x, accumulate, symmetric=True)

    def backward(x: mx.array, cotangent: mx.array, _: mx.array) -> mx.array:
        return (cotangent + cotangent.swapaxes(-1, -2)) @ x

    return _with_gradient(grams, backward)


@functools.cache
def _norms_of_rows(accumulate: str) -> Rows:
    """Norms of rows of shape (rows, 1, n), with gradients: zero where the norm is."""

    def norms(x: mx.array) -> mx.array:
        return row_dots(x, x, accumulate, symmetric=True, root=True)

    def backward(x: mx.array, cotangent: mx.array, output: mx.array) -> mx.array:
        return x * mx.where(output == 0, 0, cotangent / output)

    return _with_gradient(norms, backward)
