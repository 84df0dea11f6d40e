"""Out-of-range integer-array indices under `install(clamp_indices=True)`."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.indexing import clamped


@pytest.fixture(autouse=True)
def _installed():
    anymetal.install(clamp_indices=True)
    yield
    anymetal.uninstall()


def test_out_of_range_is_the_last_element():
    x = mx.arange(5)
    assert x[mx.array([0, 5, 1000, -1, -5, -6])].tolist() == [0, 4, 4, 4, 0, 0]


@pytest.mark.parametrize("dtype", [mx.uint8, mx.int8, mx.uint32, mx.int64])
def test_every_integer_type(dtype):
    x = mx.arange(300)
    assert x[mx.array([7, 100], dtype=dtype)].tolist() == [7, 100]
    assert mx.arange(3)[mx.array([1, 100], dtype=dtype)].tolist() == [1, 2]


def test_axes_behind_none_ellipsis_and_slices():
    x = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    a, i = mx.array(x), mx.array([3, 9])
    assert np.array_equal(np.array(a[..., i, :]), x[..., [3, 3], :])
    assert np.array_equal(np.array(a[None, :, :, i]), x[None, :, :, [3, 3]])
    assert np.array_equal(np.array(a[1, ..., i]), x[1, ..., [3, 4]])


def test_ordinary_indices_are_left_alone():
    assert clamped(3, (5,)) == 3
    assert clamped((slice(1, 2), None, 4), (5, 5)) == (slice(1, 2), None, 4)
    x = mx.arange(6).reshape(2, 3)
    assert x[1, 2].item() == 5
    assert x[:, 1].tolist() == [1, 4]


def test_gradients_pass():
    x = mx.array([1.0, 2.0, 3.0])
    gradient = mx.grad(lambda v: v[mx.array([0, 9])].sum())(x)
    assert gradient.tolist() == [1.0, 0.0, 1.0]


def test_uninstall_restores_mlx():
    anymetal.uninstall()
    assert type(vars(mx.array)["__getitem__"]).__name__ != "function"
