"""Blocks of orthonormal columns, orthogonal to those before them.

The usual way has two passes: what the block has of the columns before is taken out of it, and the
Cholesky factor of its Gram matrix makes its columns orthonormal ("twice is enough" for blocks, too:
Barlow and Smoktunowicz, "Reorthogonalized block classical Gram-Schmidt", Numerische Mathematik 123,
2013). It is exact to rounding unless columns are nearly dependent, or nearly in the span of those
before. Then eigenvectors of Gram matrices take over (SVQB: Stathopoulos and Wu, "A block
orthogonalization procedure with constant synchronization requirements", SIAM J. Sci. Comput. 23(6),
2002), which serve any block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import mlx.core as mx

from anymetal.linalg.cholesky import cholesky
from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.triangular import solve_upper

Products = Callable[[mx.array, mx.array], mx.array]


def orthonormal(
    X: mx.array, basis: mx.array, key: mx.array, products: Products = matmul_atb
) -> mx.array:
    """Orthonormal columns that span those of X as far as the basis does not, for any X.

    The basis has orthonormal columns, or none. Directions that X lacks, or has as rounding errors
    only, become random ones. Reads values, to see how far it has come.

    `products` takes XᵀY of such columns: where machines have some of their rows each, that is a
    sum over all of them, and the same values are read everywhere.
    """
    found = _by_cholesky(X, basis, products)
    return _by_eigenvectors(X, basis, key, products) if found is None else found


def _by_cholesky(X: mx.array, basis: mx.array, products: Products) -> mx.array | None:
    """None where two passes are not enough."""
    eye = mx.eye(X.shape[1])
    for _ in range(2):
        distance = mx.array(0.0)
        if basis.shape[1] > 0:
            shares = products(basis, X)
            X = X - matmul_av(basis, shares)
            distance = mx.square(shares).sum()
        gram = products(X, X)
        distance = distance + mx.square(gram - eye).sum()
        # Where the Gram matrix is not positive definite, everything is NaN from here on.
        X = matmul_av(X, solve_upper(eye, cholesky(gram, upper=True)))
    return X if cast(float, distance.item()) < _NEAR else None


#: So near to orthonormal columns, in squares, one pass makes them orthonormal to rounding.
_NEAR = 0.25


def _by_eigenvectors(X: mx.array, basis: mx.array, key: mx.array, products: Products) -> mx.array:
    """One pass leaves a condition of 1/√u of one of 1/u; the others take two or three."""
    for again in range(_PASSES):
        if basis.shape[1] > 0:
            X = X - matmul_av(basis, products(basis, X))
        gram = products(X, X)
        squares = mx.diag(gram)
        if not mx.all(squares > 0).item():
            X, key = _with_noise(X, squares > 0, key)
            gram = products(X, X)
            squares = mx.diag(gram)
        scale = mx.rsqrt(squares)
        values, vectors = mx.linalg.eigh(gram * scale * scale[:, None], stream=mx.cpu)
        divisors = mx.sqrt(mx.maximum(values, _SMALLEST * values[-1]))
        X = matmul_av(X, scale[:, None] * vectors / divisors)
        least = cast(float, values[0].item())
        # A block that was taken out of a basis has parts of it again, if it lost much.
        if least > _NEAR_ONE and (again or basis.shape[1] == 0):
            break
        if again and least < _NOISE:
            X, key = _with_noise(X, values >= _NOISE, key)
    return X


_PASSES = 6
#: Eigenvalues below this share of the largest one are rounding errors.
_SMALLEST = 1e-7
#: With all eigenvalues above this, columns are orthogonal enough for one pass to do the rest.
_NEAR_ONE = 0.5
#: After a first pass, directions below the square root of this were rounding errors before.
_NOISE = 1e-6


def _with_noise(X: mx.array, good: mx.array, key: mx.array) -> tuple[mx.array, mx.array]:
    """Random columns in place of those that are no good, and a key for the next time."""
    key, used = mx.random.split(key)
    return mx.where(good, X, mx.random.normal(X.shape, key=used)), key
