"""Whether a result is right, by an oracle in float64: what `anymetal tune` asks before it times.

Each check takes the arguments of a routine and its result, and returns what is wrong with it, or
an empty text. MLX computes in float64 on the CPU only, and slowly: what is right is found once for
all paths of a case, and large products are compared by what they make of a few vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import mlx.core as mx

Check = Callable[[Sequence[Any], Any], str]

#: Units in the last place of the narrower types, as relative errors.
_EPSILON = {mx.float32: 2.0**-23, mx.float16: 2.0**-10, mx.bfloat16: 2.0**-7}


def of_product(exact: Callable[..., mx.array]) -> Check:
    """For results that are sums of products, `exact` of the arguments in float64.

    Errors count in units of `exact` of the arguments' absolute values, which is what a bound for
    any order of summation grows with (Higham, Accuracy and Stability, section 3.1).
    """

    @_once
    def known(arguments: Sequence[Any]) -> list[mx.array]:
        right = exact(*map(_double, arguments))
        scale = exact(*(mx.abs(_double(a)) for a in arguments))
        return [right, mx.maximum(scale, 1e-30)]

    def check(arguments: Sequence[Any], result: mx.array) -> str:
        with mx.stream(mx.cpu):
            count = max(a.size for a in arguments) ** 0.5
            limit = _EPSILON[result.dtype] + 4 * count * 2.0**-24
            right, scale = known(arguments)
            return _beyond(result, right, scale, limit)

    return check


def of_reference(reference: Callable[..., Any], tolerance: float) -> Check:
    """For results that another path computes independently, in the same precision."""

    @_once
    def known(arguments: Sequence[Any]) -> list[mx.array]:
        right = reference(*arguments)
        return [right] if isinstance(right, mx.array) else list(right)

    def check(arguments: Sequence[Any], result: Any) -> str:
        results = [result] if isinstance(result, mx.array) else list(result)
        return difference(results, known(arguments), tolerance)

    return check


def difference(results: Sequence[mx.array], right: Sequence[mx.array], tolerance: float) -> str:
    """What is wrong with results, in the order of what they should be; empty if nothing is.

    Floats may differ by `tolerance` of the largest magnitude in the right array, and by two units
    in the last place of their dtype beyond that; integers and bools must be equal.
    """
    if len(results) != len(right):
        return f"there are {len(results)} arrays instead of {len(right)}"
    with mx.stream(mx.cpu):
        for got, wanted in zip(results, right, strict=True):
            if got.size == wanted.size == 0 or not mx.issubdtype(got.dtype, mx.inexact):
                if not mx.array_equal(got, wanted).item():
                    return "the result differs"
                continue
            scale = mx.maximum(mx.abs(_double(wanted)).max(), 1e-30)
            limit = tolerance + 2 * _EPSILON[got.dtype]
            if problem := _beyond(got, _double(wanted), scale, limit):
                return problem
    return ""


def of_cholesky(arguments: Sequence[Any], result: mx.array) -> str:
    """‖(A - L Lᵀ) z‖ in units of ‖A‖ for some vectors z, and that the upper triangle is zero.

    Vectors of ±1 (Freivalds, 1977) show every wrong element that is alone in its row, and errors
    of whole rows as sums of n elements, which are √n times those of one as they have any sign.
    """
    (A,) = arguments
    n = A.shape[-1]
    with mx.stream(mx.cpu):
        L = _double(result)
        if mx.any(mx.triu(L, k=1) != 0).item():
            return "the upper triangle is not zero"
        z = 2 * mx.random.bernoulli(shape=(n, 4), key=mx.random.key(3)).astype(mx.float64) - 1
        z = mx.broadcast_to(z, (*A.shape[:-2], n, 4))
        limit = 4 * n**1.5 * 2.0**-24
        scale = mx.abs(_double(A)).max()
        return _beyond(L @ (L.swapaxes(-1, -2) @ z), _double(A) @ z, scale, limit)


def of_qr(arguments: Sequence[Any], result: Sequence[mx.array]) -> str:
    """‖QᵀQ - I‖ and ‖A - Q R‖, and that R is upper triangular."""
    (A,) = arguments
    with mx.stream(mx.cpu):
        Q, R = map(_double, result)
        if mx.any(mx.tril(R, k=-1) != 0).item():
            return "R is not upper triangular"
        limit = 1e-6 * A.shape[-1] ** 0.5
        if problem := _beyond(_gram(Q), _unit(Q), mx.array(1.0), limit):
            return f"Q is not orthonormal: {problem}"
        return _beyond(Q @ R, _double(A), mx.abs(_double(A)).max(), 4 * A.shape[-1] * 2.0**-24)


def of_singular_vectors(spectrum: Callable[[int], mx.array], tolerance: float) -> Check:
    """For the k largest singular values of matrices whose singular values are known.

    `spectrum` tells the largest ones, as many as asked for; errors count in units of the largest.
    """

    def check(arguments: Sequence[Any], result: Sequence[mx.array]) -> str:
        A, k = arguments
        with mx.stream(mx.cpu):
            U, S, Vt = map(_double, result)
            right = spectrum(k).astype(mx.float64)
            largest, V = right[0], Vt.swapaxes(-1, -2)
            for what, got, wanted in (
                ("singular values", S / largest, right / largest),
                ("A V = U S", _double(A) @ V / largest, U * S / largest),
                ("Uᵀ U = 1", _gram(U), _unit(U)),
                ("V Vᵀ = 1", _gram(V), _unit(V)),
            ):
                if problem := _beyond(got, wanted, mx.array(1.0), tolerance):
                    return f"{what}: {problem}"
        return ""

    return check


def _once(find: Callable[[Sequence[Any]], list[mx.array]]) -> Callable[..., list[mx.array]]:
    """Remembers what was found for the arguments of the last call, the very same ones."""
    last: list[Any] = [None, []]

    def found(arguments: Sequence[Any]) -> list[mx.array]:
        if last[0] is not arguments:
            last[:] = arguments, find(arguments)
            mx.eval(last[1])
        return cast("list[mx.array]", last[1])

    return found


def _gram(Q: mx.array) -> mx.array:
    return Q.swapaxes(-1, -2) @ Q


def _unit(Q: mx.array) -> mx.array:
    """The identity, as often as there are matrices."""
    columns = Q.shape[-1]
    return mx.broadcast_to(mx.eye(columns, dtype=mx.float64), (*Q.shape[:-2], columns, columns))


def _beyond(result: mx.array, right: mx.array, scale: mx.array, limit: float) -> str:
    """The largest error in units of `scale`, if it is beyond a limit or not a number."""
    if result.shape != right.shape:
        return f"the shape is {result.shape} instead of {right.shape}"
    if result.size == 0:
        return ""
    error = cast(float, (mx.abs(_double(result) - right) / scale).max().item())
    return "" if error <= limit else f"the relative error is {error:.1e}, {limit:.1e} is allowed"


def _double(array: mx.array) -> mx.array:
    return array.astype(mx.float64)
