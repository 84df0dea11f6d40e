"""Dot products, norms and projections whose sums are as precise as they are asked to be."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Literal, NamedTuple, cast, get_args

import mlx.core as mx

from anymetal.custom import custom_function
from anymetal.errors import DtypeError
from anymetal.linalg.checked_dots import (
    LOOSEST,
    TIGHTEST,
    Sums,
    checked_dots,
    float_may_do,
    float_products,
    report,
)
from anymetal.linalg.gemm import matmul_atb
from anymetal.linalg.row_dots import row_dots
from anymetal.routines import Stream, routine
from anymetal.tune.switch import choose

Accumulate = Literal["auto", "float32", "compensated", "limb", "exact"]

#: Relative error that "auto" allows by default.
TOLERANCE = 1e-6

_DTYPES = (mx.float32, mx.float16, mx.bfloat16)


@routine
def dot(
    x: mx.array,
    y: mx.array,
    *,
    accumulate: Accumulate | None = None,
    tol: float | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> mx.array:
    """The sum of x·y over the last axis.

    Args:
        x, y: float32, float16 or bfloat16, shapes (..., n), whose leading axes broadcast.
        accumulate: How products are added. None is "auto" where `tol` is given, and else what the
            switch says: "auto" for `dot` and `norm`, "float32" for `project` and `gram`, unless
            ANYMETAL_SWITCH says something else.

            - "auto": each sum as cheaply as it can be shown to be within `tol`, by one of the
              others. Kernels decide that from the data, for each sum on its own.
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
            - "exact": as "limb" with 592 bits, which is room for every sum of float32 products:
              always the float32 next to the sum.

        tol: Of "auto": the relative error of each result is at most this, whatever the data are;
            from 2⁻²² to 0.5, 1e-6 by default. Results below 2⁻¹²⁶ are rounded to a multiple of
            2⁻¹⁴⁹ besides.
        explain: Print the choice of the switch and, with "auto", how many sums were added in which
            way, to the standard error stream. That evaluates them.
        stream: The stream or device to run on, as in `mx.linalg`; by default the current one.

    Returns:
        float32, the leading axes.

    Raises:
        ValueError: Last axes of different lengths, no axis, an unknown `accumulate`, `tol` out of
            range.
        DtypeError: Another dtype.
    """
    x, y = (_floats("dot", value, 1) for value in (x, y))
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"[dot] The last axes must be equally long; got shapes {x.shape} and {y.shape}."
        )
    x, y = mx.broadcast_arrays(x, y)
    rows = (_count(x.shape[:-1]), 1, x.shape[-1])
    way = _way("dot", rows, accumulate, tol, explain)
    return _pairs_of_rows(way)(x.reshape(rows), y.reshape(rows)).reshape(x.shape[:-1])


@routine
def norm(
    x: mx.array,
    axis: int = -1,
    *,
    accumulate: Accumulate | None = None,
    tol: float | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> mx.array:
    """The Euclidean norm over one axis, the square root of dot(x, x).

    By limbs the square root is that of the window's sum, rounded once, and norms whose squares
    float32 cannot hold are right, with "auto", too; otherwise squares beyond it make the norm
    infinite or zero. Other arguments, result, errors and bounds as in `dot`.

    Args:
        axis: Which one, the last by default; negative numbers count from the end.

    Raises:
        ValueError: No such axis.
    """
    x = _floats("norm", x, 1)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"[norm] There is no axis {axis} in shape {x.shape}.")
    x = mx.moveaxis(x, axis, -1)
    rows = (_count(x.shape[:-1]), 1, x.shape[-1])
    way = _way("norm", rows, accumulate, tol, explain)
    return _norms_of_rows(way)(x.reshape(rows)).reshape(x.shape[:-1])


@routine
def project(
    Q: mx.array,
    V: mx.array,
    *,
    accumulate: Accumulate | None = None,
    tol: float | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> mx.array:
    """Qᵀ V: the coefficients of V's columns in the directions of Q's columns.

    Args:
        Q: float32, float16 or bfloat16, shape (..., m, k).
        V: The same, shape (..., m, p); leading axes broadcast. Or one vector, shape (m,).
        accumulate, tol, explain, stream: As in `dot`, each number of the result being one sum; with
            "float32", those of `matmul_atb`.

    Returns:
        float32, shape (..., k, p), or (..., k) for a vector.

    Raises:
        ValueError: Different numbers of rows, fewer than two axes, an unknown `accumulate`, `tol`
            out of range.
        DtypeError: Another dtype.
    """
    if V.ndim == 1:
        column = project(Q, V[:, None], accumulate=accumulate, tol=tol, explain=explain)
        return column.squeeze(-1)
    Q, V = (_floats("project", value, 2) for value in (Q, V))
    if Q.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"[project] Q and V must have the same number of rows; got {Q.shape} and {V.shape}."
        )
    batch = mx.broadcast_shapes(Q.shape[:-2], V.shape[:-2])
    sums = (_count(batch), Q.shape[-1] * V.shape[-1], Q.shape[-2])
    way = _way("project", sums, accumulate, tol, explain)
    if way.accumulate == "float32":
        return matmul_atb(Q, V)
    inputs = [_columns(Q, batch), _columns(V, batch)]
    if way.tries_float:
        inputs.append(_flat(mx.stop_gradient(matmul_atb(Q, V)), batch))
    return _pairs_of_rows(way)(*inputs).reshape(*batch, Q.shape[-1], V.shape[-1])


@routine
def gram(
    A: mx.array,
    *,
    accumulate: Accumulate | None = None,
    tol: float | None = None,
    explain: bool = False,
    stream: Stream | None = None,
) -> mx.array:
    """Aᵀ A, a product of rank m that is symmetric to the last bit.

    Args:
        A: float32, float16 or bfloat16, shape (..., m, k).
        accumulate, tol, explain, stream: As in `dot`, each number of the result being one sum; with
            "float32", those of `matmul_atb`.

    Returns:
        float32, shape (..., k, k).

    Raises:
        ValueError: Fewer than two axes, an unknown `accumulate`, `tol` out of range.
        DtypeError: Another dtype.
    """
    A = _floats("gram", A, 2)
    batch, k = A.shape[:-2], A.shape[-1]
    way = _way("gram", (_count(batch), k * k, A.shape[-2]), accumulate, tol, explain)
    if way.accumulate == "float32":
        return matmul_atb(A, A)
    inputs = [_columns(A, batch)]
    if way.tries_float:
        inputs.append(_flat(mx.stop_gradient(matmul_atb(A, A)), batch))
    return _grams_of_rows(way)(*inputs).reshape(*batch, k, k)


class Way(NamedTuple):
    """How the sums of a call are added."""

    operation: str
    accumulate: str
    tolerance: float = TOLERANCE  #: of "auto", as what follows
    tries_float: bool = False  #: products of matrices in float32 may be within it
    explain: bool = False


def _way(
    operation: str,
    sums: tuple[int, int, int],
    accumulate: str | None,
    tolerance: float | None,
    explain: bool,
) -> Way:
    """What the caller or the switch says; `sums` are batch, sums of each, products of a sum."""
    ways = get_args(Accumulate)
    if accumulate is not None and accumulate not in ways:
        choices = ", ".join(map(repr, ways))
        other = "hpc" in str(accumulate).lower()
        hint = ' What others call HPC16x8 is "limb".' if other else ""
        raise ValueError(
            f"[{operation}] accumulate must be one of {choices}; got {accumulate!r}.{hint}"
        )
    if tolerance is not None and not TIGHTEST <= tolerance <= LOOSEST:
        raise ValueError(f"[{operation}] tol must be from 2⁻²² to 0.5; got {tolerance}.")
    choice = choose(
        operation,
        sizes=(sums[0] * sums[1], sums[2]),
        dtype=mx.float32,
        among=ways,
        default="auto",
        forced="auto" if accumulate is None and tolerance is not None else accumulate,
        explain=explain,
    )
    if choice.path != "auto":
        return Way(operation, choice.path)
    tolerance = TOLERANCE if tolerance is None else tolerance
    return Way(operation, "auto", tolerance, float_may_do(sums[2], tolerance), explain)


def _floats(function: str, value: mx.array, axes: int) -> mx.array:
    if value.dtype not in _DTYPES:
        raise DtypeError(
            f"[{function}] float32, float16 or bfloat16 are needed; got {value.dtype}. "
            "Convert with astype(mx.float32)."
        )
    if value.ndim < axes:
        raise ValueError(f"[{function}] At least {axes} axes are needed; got {value.shape}.")
    return value.astype(mx.float32)


def _columns(matrix: mx.array, batch: tuple[int, ...]) -> mx.array:
    """Columns as rows, and one axis for the batch."""
    rows = mx.broadcast_to(matrix, (*batch, *matrix.shape[-2:])).swapaxes(-1, -2)
    return rows.reshape(_count(batch), *rows.shape[-2:])


def _flat(matrix: mx.array, batch: tuple[int, ...]) -> mx.array:
    return matrix.reshape(_count(batch), *matrix.shape[-2:])


def _count(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


Rows = Callable[..., mx.array]


def _with_gradient(forward: Rows, backward: Callable[..., object]) -> Rows:
    function = custom_function(forward)
    function.vjp(backward)
    return cast(Rows, function)


@functools.lru_cache(maxsize=1024)
def _pairs_of_rows(way: Way) -> Rows:
    """Dots of all rows of x with all rows of y, with gradients.

    A third argument are such dots in float32.
    """

    def dots(x: mx.array, y: mx.array, *first: mx.array) -> mx.array:
        return _dots(way, x, y, first)

    def backward(
        primals: tuple[mx.array, ...], cotangent: mx.array, _: mx.array
    ) -> tuple[mx.array, ...]:
        x, y, *first = primals
        return cotangent @ y, cotangent.swapaxes(-1, -2) @ x, *map(mx.zeros_like, first)

    return _with_gradient(dots, backward)


@functools.lru_cache(maxsize=1024)
def _grams_of_rows(way: Way) -> Rows:
    """Dots of all rows of x with each other, with gradients; a second argument as above."""

    def grams(x: mx.array, *first: mx.array) -> mx.array:
        return _dots(way, x, x, first, symmetric=True)

    def backward(primals: object, cotangent: mx.array, _: mx.array) -> object:
        x, *first = primals if isinstance(primals, (tuple, list)) else (primals,)
        gradient = (cotangent + cotangent.swapaxes(-1, -2)) @ x
        return (gradient, *map(mx.zeros_like, first)) if first else gradient

    return _with_gradient(grams, backward)


@functools.lru_cache(maxsize=1024)
def _norms_of_rows(way: Way) -> Rows:
    """Norms of rows of shape (rows, 1, n), with gradients: zero where the norm is."""

    def norms(x: mx.array) -> mx.array:
        return _dots(way, x, x, (), symmetric=True, root=True)

    def backward(x: mx.array, cotangent: mx.array, output: mx.array) -> mx.array:
        return x * mx.where(output == 0, 0, cotangent / output)

    return _with_gradient(norms, backward)


def _dots(
    way: Way,
    x: mx.array,
    y: mx.array,
    first: tuple[mx.array, ...],
    symmetric: bool = False,
    root: bool = False,
) -> mx.array:
    if way.accumulate != "auto" or 0 in (*x.shape, *y.shape):
        accumulate = "exact" if way.accumulate == "auto" else way.accumulate
        return row_dots(x, y, accumulate, symmetric=symmetric, root=root)
    start = _first_rung(x, y, first[0], way.tolerance) if first else None
    sums = checked_dots(x, y, way.tolerance, first=start, symmetric=symmetric, root=root)
    if way.explain:
        report(way.operation, sums)
    return sums.values


def _first_rung(x: mx.array, y: mx.array, products: mx.array, tolerance: float) -> Sums:
    left, right = (mx.sqrt((rows * rows).sum(axis=-1)) for rows in (x, y))
    return float_products(products, x.shape[-1], left[..., None], right[..., None, :], tolerance)
