"""MLX arrays bound without a copy, and arrays made for outputs."""

from __future__ import annotations

import ctypes
import math

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anymetal.runtime import arrays
from anymetal.runtime.pool import pool

DTYPES = [
    mx.bool_, mx.int8, mx.int16, mx.int32, mx.int64, mx.uint8, mx.uint16, mx.uint32, mx.uint64,
    mx.float16, mx.bfloat16, mx.float32, mx.complex64,
]  # fmt: skip


def bind(given, contiguous=False):
    """The arrays that were really bound, and their addresses."""
    bound = list(given)
    mx.eval(bound)
    table = arrays.BufferTable(pool(), len(bound), range(len(bound)))
    capsules = table.bind(bound, contiguous)
    strides = [
        arrays.stride_numbers(pool(), capsule, array.ndim).memory
        for capsule, array in zip(capsules, bound, strict=True)
    ]
    return bound, list(table.buffers)[: len(bound)], strides


VIEWS = [
    lambda x: x,
    lambda x: x[1:, ::2],
    lambda x: x[::-1],
    lambda x: x[::-1, 1:][:, ::-2],
    lambda x: x.T,
    lambda x: mx.broadcast_to(x[0, 0], (5, 5)),
    lambda x: x[0, 0],
    lambda x: x[:, :0],
]


@pytest.mark.parametrize("dtype", [mx.int8, mx.float16, mx.float32, mx.complex64])
@pytest.mark.parametrize("view", VIEWS)
def test_the_memory_of_a_view_lies_between_its_first_and_its_last_element(view, dtype):
    array = view(mx.arange(12 * 7).reshape(12, 7).astype(dtype))
    mx.eval(array)
    table = arrays.BufferTable(pool(), 3, [2])
    table.bind([array], False)
    extent, address = table.extents[2], table.buffers[2]
    first = last = 0
    if array.size:
        seen = np.array(array, copy=False)
        first, last = np.lib.array_utils.byte_bounds(seen)
    assert (extent.before, extent.bytes) == (address - first if array.size else 0, last - first)
    assert table.buffers[3] == ctypes.addressof(table.extents)


def elements(array, address, strides):
    """The array's bytes, read element by element as a kernel would."""
    size = array.dtype.size
    steps = list(strides)[: array.ndim]
    return b"".join(
        ctypes.string_at(
            address + size * sum(i * s for i, s in zip(index, steps, strict=True)), size
        )
        for index in np.ndindex(*array.shape)
    )


def content(array):
    return (
        bytes(np.ascontiguousarray(np.asarray(array.view(mx.uint8))).reshape(-1))
        if array.size
        else b""
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (2, 1, 4), (0,), (3, 0)])
def test_every_dtype_and_shape_is_bound_in_place(dtype, shape):
    array = mx.array(np.arange(math.prod(shape)).reshape(shape)).astype(dtype)
    (same,), (address,), (strides,) = bind([array])
    assert same is array
    if array.size and dtype not in (mx.bfloat16,):
        assert address == np.asarray(array).__array_interface__["data"][0]
    flat = mx.contiguous(array).reshape(-1)
    assert elements(array, address, strides) == content(flat)


VIEWS = {
    "transposed": (lambda x: x.T, True),
    "reversed": (lambda x: x[::-1], True),
    "reversed in both": (lambda x: x[::-1, ::-1], True),
    "every other": (lambda x: x[:, ::2], True),
    "later rows": (lambda x: x[1:], False),
    "inner part": (lambda x: x[1:3, 2:5], True),
    "one row": (lambda x: x[2], False),
    "one row kept": (lambda x: x[2:3], False),
    "one column": (lambda x: x[:, 3], True),
    "one column kept": (lambda x: x[:, 3:4], True),
    "one element": (lambda x: x[2:3, 3:4], False),
    "broadcast": (lambda x: mx.broadcast_to(x[0], (5, 6)), True),
    "broadcast scalar": (lambda x: mx.broadcast_to(x[1, 1], (2, 2)), True),
    "broadcast to one": (lambda x: mx.broadcast_to(x[0], (1, 6)), False),
    "new axes": (lambda x: x[None, :, None], False),
    "overlapping": (lambda x: mx.as_strided(x, (4, 3), (2, 1)), True),
    "empty": (lambda x: x[:0, ::2], False),
}


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16, mx.uint8, mx.complex64])
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_addressed_by_strides_or_copied(view, dtype):
    make, strided = VIEWS[view]
    array = make(mx.arange(24).reshape(4, 6).astype(dtype))
    expected = content(mx.contiguous(array).reshape(-1) + mx.array(0, dtype)) if array.size else b""

    (same,), (address,), (strides,) = bind([array])
    assert same is array
    assert elements(array, address, strides) == expected

    (copy,), (address,), (strides,) = bind([array], contiguous=True)
    assert (copy is not array) == strided
    assert copy.shape == array.shape and copy.dtype == dtype
    assert ctypes.string_at(address, array.nbytes) == expected


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_views(data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    array = mx.arange(math.prod(shape)).reshape(shape)
    for _ in range(data.draw(st.integers(0, 4))):
        axes = list(range(array.ndim))
        match data.draw(st.sampled_from(["transpose", "slice", "expand", "broadcast"])):
            case "transpose":
                array = array.transpose(data.draw(st.permutations(axes)))
            case "slice":
                step = data.draw(st.sampled_from([-2, -1, 1, 2, 3]))
                axis = data.draw(st.sampled_from(axes))
                array = array[(slice(None),) * axis + (slice(None, None, step),)]
            case "expand" if array.ndim < 6:
                array = mx.expand_dims(array, data.draw(st.sampled_from(axes)))
            case "broadcast" if array.ndim < 6:
                array = mx.broadcast_to(array, (data.draw(st.integers(1, 3)), *array.shape))
    expected = np.array(array).tobytes()
    _, (address,), (strides,) = bind([array])
    assert elements(array, address, strides) == expected
    (copy,), (address,), _ = bind([array], contiguous=True)
    assert ctypes.string_at(address, copy.nbytes) == expected


def test_only_the_arrays_that_need_it_are_copied():
    x = mx.arange(6.0).reshape(2, 3)
    given = [x, x.T, x[0], x.T]
    bound, _, _ = bind(given, contiguous=True)
    assert [a is b for a, b in zip(given, bound, strict=True)] == [True, False, True, False]


def test_unevaluated_arrays():
    x = mx.ones((3, 3)) * 7 + mx.arange(3.0)
    _, (address,), _ = bind([x])
    assert list((ctypes.c_float * 9).from_address(address)) == [7.0, 8.0, 9.0] * 3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3, 4), (40_000,)])
@pytest.mark.parametrize("value", [None, 0.0, 1.0, -0.0, 2.7, math.inf, 16777217.0])
def test_outputs_hold_the_initial_value(dtype, shape, value):
    integer = not mx.issubdtype(dtype, mx.inexact)
    if value == math.inf and integer and dtype != mx.bool_:
        pytest.skip("C leaves it undefined")
    expected = mx.full(shape, mx.array(0.0 if value is None else value, mx.float32).astype(dtype))
    for _ in range(3):
        output = arrays.new_output(shape, dtype, value)
        assert (output.shape, output.dtype) == (shape, dtype)
        assert content(output.reshape(-1)) == content(expected.reshape(-1))


def test_minus_zero_and_nan_are_values_of_their_own():
    def first(value):
        return np.asarray(arrays.new_output((4,), mx.float32, value))[0]

    assert not np.signbit(first(0.0)) and np.signbit(first(-0.0)) and not np.signbit(first(0.0))
    assert np.isnan(first(math.nan)) and np.isnan(first(float("nan")))


def test_each_output_has_memory_of_its_own():
    for size in (8, 100_000):
        outputs = [arrays.new_output((size,), mx.bfloat16, None) for _ in range(8)]
        _, addresses, _ = bind(outputs)
        assert len(set(addresses)) == 8
        for address in addresses:
            ctypes.memset(address, 0xFF, 2 * size)
        zeros = arrays.new_output((size,), mx.bfloat16, None)
        _, (address,), _ = bind([zeros])
        assert not any(ctypes.string_at(address, 2 * size))


def test_numbers_that_describe_an_array():
    assert list(arrays.shape_numbers((3, 1, 4)).memory) == [3, 1, 4, 0, 0, 0, 0, 0]
    assert len(arrays.shape_numbers((1,) * 9).memory) == 9
    assert arrays.ndim_numbers(3).memory[0] == 3
    assert ctypes.c_uint32.from_address(arrays.size_numbers(2**32 - 1).address).value == 2**32 - 1
    for numbers in (arrays.shape_numbers((5, 6)), arrays.ndim_numbers(2), arrays.size_numbers(9)):
        assert numbers.address == ctypes.addressof(numbers.memory)
