"""The gradient of the largest singular values and their vectors, without the others.

Where A V = U S and AᵀU = V S hold for k of A's singular values, cotangents of these vectors have
parts inside of their span and outside. Inside, the usual formula holds (Giles, "Collected matrix
derivative results for forward and reverse mode algorithmic differentiation", 2008, section 3.2).
Outside, what the other vectors would contribute solves a linear system with A itself (Francuz,
Schuch and Vanhecke, "Stable and efficient differentiation of tensor network algorithms", Physical
Review Research 7, 2025). With P and Q, what cotangents of U and V have outside, it is

    X S - A Y = P,   Y S - Aᵀ X = Q;

for each column that is (σ² - AᵀA) y = σ q + Aᵀ p, which is positive definite outside of the span,
since all other singular values are smaller. Conjugate gradients solve it by products with A and Aᵀ,
in about √(σ²/(σ² - σₖ₊₁²)) steps for each digit.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple, cast

import mlx.core as mx

from anymetal.linalg.gemm import matmul_atb, matmul_av
from anymetal.linalg.iterations import Operator
from anymetal.linalg.scaling import power_near


class Triplets(NamedTuple):
    """Singular vectors as columns and the values between them; or cotangents of all three."""

    U: mx.array
    S: mx.array
    V: mx.array


class Gradient(NamedTuple):
    """L Vᵀ + U Rᵀ, the gradient in factors: with rows of A in U and L, and columns in V and R."""

    L: mx.array
    U: mx.array
    R: mx.array
    V: mx.array

    def whole(self) -> mx.array:
        """The matrix, with the rows that this process has."""
        left = mx.concatenate([self.L, self.U], axis=1)
        return matmul_av(left, mx.concatenate([self.V, self.R], axis=1).T)


def scale_of(S: mx.array) -> float:
    """A power of two near the largest singular value; A must be divided by it for `gradient`."""
    largest = cast(float, S[0].item()) if S.size else 0.0
    if largest == 0 or not math.isfinite(largest):
        return 1.0
    return power_near(largest)


def gradient(A: Operator, scale: float, found: Triplets, cotangent: Triplets) -> Gradient:
    """The cotangent of a matrix from those of its triplets.

    Args:
        A: The matrix divided by `scale`.
        scale: `scale_of` the singular values.
        found: Singular triplets of the matrix itself.
        cotangent: Theirs. V's and S's are the same for all that have a part of A's rows.

    Returns:
        Not finite where it does not exist: vectors of equal singular values, or of zero.
    """
    U, S, V = found.U, found.S / scale, found.V
    in_U, in_V = A.products(U, cotangent.U), matmul_atb(V, cotangent.V)
    differences = mx.square(S)[None] - mx.square(S)[:, None]
    turned_U, turned_V = (_over(each - each.T, differences) for each in (in_U, in_V))
    inner = (turned_U * S + S[:, None] * turned_V) / scale + mx.diag(cotangent.S)
    P = cotangent.U - matmul_av(U, in_U)
    Q = cotangent.V - matmul_av(V, in_V)
    Y = _solved(A, S, V, Q * S + _outside(V, A.transposed_times(P)))
    X = _over(P + A.times(Y), S)
    return Gradient(X / scale + matmul_av(U, inner), U, Y / scale, V)


def _over(numerator: mx.array, denominator: mx.array) -> mx.array:
    """Zero where there is nothing to divide."""
    return mx.where(numerator == 0, 0.0, numerator / denominator)


def _outside(V: mx.array, X: mx.array) -> mx.array:
    return X - matmul_av(V, matmul_atb(V, X))


#: Residuals of conjugate gradients, relative to the right-hand side, and the most steps.
_SMALL, _STEPS = 1e-6, 500
#: Where (σ² - AᵀA) is that small on a solution, relative to σ², few of its digits are right.
_FLAT = 1e-4


def _solved(A: Operator, S: mx.array, V: mx.array, B: mx.array) -> mx.array:
    """Y with (σ² - AᵀA) y = b for each column, outside of the span of V."""
    B = _outside(V, B)
    Y, R, D = mx.zeros_like(B), B, B
    squares = mx.square(R).sum(axis=0)
    enough = _SMALL**2 * squares
    for _ in range(_STEPS):
        if not mx.any(squares > enough).item():
            break
        image = mx.square(S) * D - _outside(V, A.transposed_times(A.times(D)))
        energy = (D * image).sum(axis=0)
        step = mx.where(energy > 0, squares / energy, 0.0)
        Y, R = Y + step * D, R - step * image
        before, squares = squares, mx.square(R).sum(axis=0)
        D = R + mx.where(before > 0, squares / before, 0.0) * D
    flat = (Y * B).sum(axis=0) < _FLAT * mx.square(S) * mx.square(Y).sum(axis=0)
    if mx.any(flat | (squares > enough)).item():
        warnings.warn(
            "[svd_topk] The gradient is not well determined: one of the k singular values is "
            "hardly above the one that follows the last of them. Take another k, or let the loss "
            "depend on S alone.",
            RuntimeWarning,
            stacklevel=2,
        )
    return Y
