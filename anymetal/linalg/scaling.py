"""Matrices and columns scaled by powers of two, so that their squares neither overflow nor vanish.

What kernels do for themselves (metal/scale_header.metal), for those routines that are not kernels.
Powers of two change no digit.
"""

from __future__ import annotations

import math

import mlx.core as mx

_BIAS = 127  # of the exponents of float32


def power_near(magnitude: float) -> float:
    """The next power of two above a finite magnitude that is not zero; neither it nor its inverse
    is subnormal in float32, since kernels flush those."""
    return 2.0 ** min(max(math.frexp(magnitude)[1], -126), 126)


def scaled_columns(A: mx.array) -> tuple[mx.array, mx.array]:
    """The matrices with largest elements between 1 and 4 in each column, and what undoes that.

    Columns of zeros, and those with an element that is not finite, stay as they are.

    Args:
        A: Shape (..., m, n), float32, m above zero.

    Returns:
        The same shape; and powers of two of shape (..., 1, n), to be multiplied with the columns.
    """
    largest = mx.abs(A).max(axis=-2, keepdims=True)
    field = (mx.view(largest, mx.int32) >> 23) & 255
    exponent = mx.clip(_BIAS - field, -126, 126)
    exponent = mx.where(mx.isfinite(largest) & (largest != 0), exponent, 0)
    return A * _power_of_two(exponent), _power_of_two(-exponent)


def _power_of_two(exponent: mx.array) -> mx.array:
    """Of exponents from -126 to 127, exactly."""
    return mx.view((exponent + _BIAS) << 23, mx.float32)
