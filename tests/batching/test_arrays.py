"""Batches of a kernel: their axes, how inputs are passed, and outputs."""

from __future__ import annotations

import itertools

import mlx.core as mx
import numpy as np
import pytest

from tests.batching.harness import INDEX, check, floats, function, loop

# Axes


AXES = [axes for axes in itertools.product((None, 0, 1, 2), repeat=2) if axes != (None, None)]


@pytest.mark.parametrize("out_axis", [0, 1, 2])
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_axes(axes, out_axis):
    run = function(INDEX + "out[i] = x[i] * 10 + y[i];", ("x", "y"))
    arrays = [
        floats(4, 5) if axis is None else mx.moveaxis(floats(3, 4, 5), 0, axis) for axis in axes
    ]
    found = mx.vmap(run, axes, out_axis)(*arrays)
    expected = np.moveaxis(loop(run, arrays, axes)[0], 0, out_axis)
    np.testing.assert_array_equal(np.array(found), expected)


def test_negative_axes():
    run = function(INDEX + "out[i] = x[i] + 1;")
    x = floats(4, 3)
    np.testing.assert_array_equal(np.array(mx.vmap(run, -1, -1)(x)), np.array(x + 1))


def test_several_outputs_on_their_own_axes():
    run = function(INDEX + "a[i] = x[i]; b[i] = -x[i]; c[0] = 7;", outputs=("a", "b", "c"))
    x = floats(3, 4, 5)
    a, b, c = mx.vmap(run, 1, (0, 1, 2))(x)
    assert mx.array_equal(a, x.moveaxis(1, 0))
    assert mx.array_equal(b, -x)
    assert c.shape == (3, 5, 4)


def test_outputs_of_different_shapes_and_dtypes():
    run = function(
        INDEX + "sum[0] = 0; for (int k = 0; k < 6; ++k) sum[0] += x[k]; big[i] = int(x[i] * 100);"
        "flag[i] = x[i] > 0; ",
        outputs=("sum", "big", "flag"),
        output_shapes=[(), (3, 2), (6,)],
        output_dtypes=[mx.float32, mx.int32, mx.bool_],
        grid=(6, 1, 1),
    )
    check(run, [floats(5, 6)])


def test_more_outputs_than_fit_the_constant_address_space():
    names = [f"o{n}" for n in range(9)]
    body = INDEX + "".join(f"{name}[i] = x[i] + {n};" for n, name in enumerate(names))
    check(function(body, outputs=names), [floats(3, 4)])


# How inputs are passed


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)], ids=str)
def test_scalars(axes):
    run = function(
        INDEX + "out[i] = s * (i + 1) + t;",
        ("s", "t"),
        output_shapes=[(4,)],
        output_dtypes=[mx.float32],
        grid=(4, 1, 1),
    )
    arrays = [mx.array(2.0) if axis is None else floats(3) for axis in axes]
    check(run, arrays, axes)


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
@pytest.mark.parametrize("size", [1, 3, 7, 8])
def test_small_inputs(batch, size):
    """Fewer than 8 elements are passed in `constant`, alone but not as a batch."""
    body = INDEX + "out[i] = x[i]; for (int k = 0; k < x_shape[0]; ++k) out[i] += x[k];"
    check(function(body), [floats(batch, size)])


def test_an_empty_batch_and_empty_elements():
    run = function(INDEX + "out[i] = x[i];", grid=(4, 1, 1))
    assert mx.vmap(run)(mx.zeros((0, 4))).shape == (0, 4)
    run = function("out[0] = x_shape[1] + x_ndim;", grid=(1, 1, 1), output_shapes=[(1,)])
    assert mx.vmap(run)(mx.zeros((3, 0, 2))).tolist() == [[4]] * 3


SHAPES = """
uint i = thread_position_in_grid.x;
if (i == 0) {
  out[0] = x_ndim;
  for (int k = 0; k < x_ndim; ++k) { out[1 + k] = x_shape[k]; out[4 + k] = x_strides[k]; }
}
"""


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_shape_strides_and_ndim_are_those_of_an_element(axis):
    run = function(SHAPES, output_shapes=[(7,)], output_dtypes=[mx.int32], init_value=-1)
    x = mx.moveaxis(floats(2, 3, 4, 5), 0, axis)
    found = mx.vmap(run, axis)(x)
    assert found.tolist() == [[3, 3, 4, 5, 20, 5, 1]] * 2


@pytest.mark.parametrize("part", ["x_shape[0]", "x_strides[0]", "x_ndim"])
def test_one_of_them_alone(part):
    check(function(INDEX + f"out[i] = {part};"), [floats(3, 4, 2)])


STRIDED = """
uint i = thread_position_in_grid.x;
long at = 0;
uint rest = i;
for (int k = x_ndim - 1; k >= 0; --k) {
  at += (rest % x_shape[k]) * x_strides[k];
  rest /= x_shape[k];
}
out[i] = x[at];
"""


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.transpose(2, 0, 1),
        lambda x: x[:, ::2],
        lambda x: x[1:, :, ::-1],
        lambda x: mx.broadcast_to(x[:, :1], (4, 3, 5)),
    ],
    ids=["plain", "transposed", "sliced", "reversed", "broadcast"],
)
def test_strided_inputs_as_they_are(view, axis):
    run = function(STRIDED, construction={"ensure_row_contiguous": False})
    check(run, [view(floats(4, 6, 5))], [axis])


def test_strided_inputs_that_are_copied():
    run = function(INDEX + "out[i] = x[i];")
    check(run, [floats(4, 6, 5).transpose(2, 0, 1)[:, ::2]], [1])


def test_names_that_contain_each_other():
    body = INDEX + "out[i] = x[i] + max[i] * max_shape[0] + am[i];"
    check(function(body, ("x", "max", "am")), [floats(4), floats(3, 4), floats(4, 3)], [None, 0, 1])


# Outputs


def test_atomic_outputs_with_init_value():
    run = function(
        INDEX + "atomic_fetch_add_explicit(&out[int(x[i]) % 4], 1.0f, memory_order_relaxed);",
        construction={"atomic_outputs": True},
        init_value=100,
        output_shapes=[(4,)],
    )
    check(run, [mx.random.randint(0, 100, (3, 50)).astype(mx.float32)])


def test_init_value_where_nothing_is_written():
    check(function(INDEX + "if (x[i] > 0) out[i] = x[i];", init_value=-1.5), [floats(4, 9)])
