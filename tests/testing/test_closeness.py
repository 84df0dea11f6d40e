"""Which results are near enough, and what is said of others."""

from __future__ import annotations

import math

import mlx.core as mx
import numpy as np
import pytest

from anymetal.testing import assert_kernel_close
from anymetal.testing.closeness import _FORMATS
from anymetal.testing.math_table import FUNCTIONS

FLOATS = {mx.float32: (23, -126), mx.float16: (10, -14), mx.bfloat16: (7, -126)}


def test_what_is_allowed_is_the_largest_bound_of_metals_tables():
    others = [one for one in FUNCTIONS if not one.name.startswith("pow")]
    assert _FORMATS[mx.float32].ulps == max(one.ulps for one in others if one.ulps < math.inf)
    assert _FORMATS[mx.float16].ulps == max(one.half for one in others if one.half < math.inf)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("value", [1.0, 1.75, -3.0, 2.0**-20, 1000.0])
@pytest.mark.parametrize("ulps", [1, 5])
def test_the_unit_is_that_of_the_dtype(dtype, value, ulps):
    bits, lowest = FLOATS[dtype]
    unit = 2.0 ** (max(math.floor(math.log2(abs(value))), lowest) - bits)
    actual = mx.array([value], dtype=dtype)
    assert_kernel_close(actual, np.array([value + ulps * unit]), ulps=ulps)
    with pytest.raises(AssertionError, match="1 of 1 elements are more than"):
        assert_kernel_close(actual, np.array([value + 1.01 * ulps * unit]), ulps=ulps)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_values_that_are_no_numbers(dtype):
    actual = mx.array([math.nan, math.inf, -math.inf, 0.0], dtype=dtype)
    assert_kernel_close(actual, np.array([math.nan, 1e39, -math.inf, -0.0]))
    for wrong in ([0, 1e39, -1e39, 0], [math.nan, -1e39, -1e39, 0], [math.nan, 1, -1e39, 0]):
        with pytest.raises(AssertionError, match="1 of 4 elements"):
            assert_kernel_close(actual, np.array(wrong))
    with pytest.raises(AssertionError, match="1 of 1 elements"):
        assert_kernel_close(mx.array([math.nan], dtype=dtype), [1.0], ulps=1e30)


def test_cancelling_terms():
    assert_kernel_close(mx.array([1e-7]), [0.0], atol=1e-6)
    with pytest.raises(AssertionError):
        assert_kernel_close(mx.array([1e-7]), [0.0])


def test_integers_are_equal_or_not():
    assert_kernel_close(mx.array([1, 2**31 - 1]), [1, 2**31 - 1])
    with pytest.raises(AssertionError, match=r"1 of 2 elements are wrong; the worst:\n  \[1\]: 2"):
        assert_kernel_close(mx.array([1, 2]), [1, 3], ulps=100, atol=100)


def test_complex_numbers():
    assert_kernel_close(mx.array([1 + 1e-8j]), [1.0 + 0j])
    with pytest.raises(AssertionError, match="more than 6 ulp of float32 off"):
        assert_kernel_close(mx.array([1 + 1e-5j]), [1.0 + 0j])


def test_the_worst_comes_first():
    with pytest.raises(AssertionError) as told:
        assert_kernel_close(mx.array([[1.0, 2], [3, 4]]), [[1, 2.001], [3, 5]])
    first, second = str(told.value).splitlines()[1:]
    assert first.startswith("  [1, 1]: 4.0, expected 5.0 (") and second.startswith("  [0, 1]: 2.0")


def test_shapes_and_types():
    with pytest.raises(AssertionError, match=r"the output has shape \(2,\), expected \(1,\)"):
        assert_kernel_close(mx.ones(2), [1.0])
    with pytest.raises(TypeError, match=r"must be an mx\.array, not ndarray"):
        assert_kernel_close(np.ones(2), [1.0, 1.0])
