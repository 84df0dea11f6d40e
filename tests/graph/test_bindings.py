"""What a kernel finds in its arguments, and what becomes of its outputs."""

from __future__ import annotations

import math

import mlx.core as mx
import numpy as np
import pytest

from tests.graph.kernels import Ticks, active_memory, double, kernel, run, slow

DTYPES = [
    mx.bool_, mx.int8, mx.int16, mx.int32, mx.int64, mx.uint8, mx.uint16, mx.uint32, mx.uint64,
    mx.float16, mx.bfloat16, mx.float32, mx.complex64,
]  # fmt: skip

LAYOUTS = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "permuted": lambda x: x.transpose(2, 0, 1),
    "rows": lambda x: x[1:],
    "sliced": lambda x: x[1:, ::2, 1:3],
    "negative stride": lambda x: x[:, ::-1],
    "all negative": lambda x: x[::-1, ::-1, ::-1],
    "broadcast": lambda x: mx.broadcast_to(x[:, :1, :], x.shape),
    "broadcast scalar": lambda x: mx.broadcast_to(x[0, 0, 0], (3, 4)),
    "new axes": lambda x: x[:, None, :, None],
    "one column": lambda x: x[:, :, 1],
    "diagonal": lambda x: mx.as_strided(x, (3, 3), (21, 1), 2),
    "overlapping": lambda x: mx.as_strided(x, (6, 5), (2, 1), 3),
    "real part": lambda x: mx.real(x.astype(mx.complex64)),
    "expanded view": lambda x: x.reshape(4, 1, 30)[:, :, 3:9],
}


def base(dtype: mx.Dtype = mx.float32) -> mx.array:
    """Numbers that no kernel has computed yet, out of one that will."""
    x = mx.arange(120).astype(mx.float32)
    return (double(x) * 0.5).astype(dtype).reshape(4, 5, 6)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_row_contiguous_copies(layout):
    """Custom Metal kernels: ensure_row_contiguous "will copy the array inputs if needed before the
    kernel is launched".
    """
    x = layout(base())
    assert double(x).tolist() == (2 * x).tolist()


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_strided_inputs_as_they_are(layout):
    """Custom Metal kernels: without the copy, "automatically passes a_shape, a_strides and a_ndim",
    and elem_to_loc finds the elements.
    """
    strided = kernel(
        "strided",
        "out[i] = x[elem_to_loc(i, x_shape, x_strides, x_ndim)] * 2;",
        ensure_row_contiguous=False,
    )
    x = layout(base())
    assert run(strided, x)[0].tolist() == (2 * x).tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_copies_of_every_dtype(dtype):
    """Custom Metal kernels: the copy keeps the type."""
    same = kernel("same", "out[i] = x[i];")
    x = (base() / 120 * 50).astype(dtype).transpose(2, 0, 1)[:, ::-1]
    y = run(same, x, dtype=dtype)[0]
    assert y.dtype == dtype and (y == x).all().item()


def _described(x: mx.array, contiguous: bool) -> list[int]:
    describe = kernel(
        "describe",
        "for (int k = 0; k < x_ndim; ++k) {"
        "  out[k] = x_shape[k]; out[x_ndim + k] = int(x_strides[k]); } out[2 * x_ndim] = x_ndim;"
        "out[2 * x_ndim + 1] = int(x[0]);",
        ensure_row_contiguous=contiguous,
    )
    call = {"shape": (2 * x.ndim + 2,), "dtype": mx.int32, "grid": (1, 1, 1)}
    return run(describe, x, **call)[0].tolist()


def test_parameters_describe_what_is_bound():
    """Custom Metal kernels: shape and strides are "those of the copy" where one is made, else those
    of the array itself.
    """
    x = base().transpose(2, 0, 1)
    assert _described(x, True) == [6, 4, 5, 20, 5, 1, 3, 0]
    assert _described(x, False) == [6, 4, 5, 1, 30, 6, 3, 0]
    backwards = base()[::-1, 1:3]
    assert _described(backwards, True) == [4, 2, 6, 12, 6, 1, 3, 96]
    assert _described(backwards, False) == [4, 2, 6, -30, 6, 1, 3, 96]
    wide = mx.broadcast_to(base()[0, 0, :1], (8,))
    assert _described(wide, True) == [8, 1, 1, 0]
    assert _described(wide, False) == [8, 0, 1, 0]


def test_pointers_begin_at_the_first_element():
    """Evaluation on Metal: "the array itself is bound with its byte offset"."""
    first = kernel("first", "out[i] = x[0];", ensure_row_contiguous=False)
    x = base()
    assert run(first, x[2, 3, 4:], shape=(1,))[0].item() == 2 * 30 + 3 * 6 + 4
    assert run(first, x.reshape(-1)[::-1], shape=(1,))[0].item() == 119


def test_inputs_are_never_changed():
    """Evaluation on Metal: "Output buffers never alias inputs (no donation)"."""
    x = base()
    mx.eval(x)
    y = double(x)
    mx.eval(y)
    assert x.reshape(-1).tolist() == list(range(120))
    z = double(mx.ones((300,)) * 3)  # an input that nobody else holds
    assert (z == 6).all().item()


def test_one_array_as_several_inputs():
    """Custom Metal kernels: an array may be passed more than once."""
    add = kernel("add3", "out[i] = x[i] + y[i] + z[i];", ("x", "y", "z"))
    x = base()
    assert run(add, x, x, x)[0].tolist() == (3 * x).tolist()


# ---- init_value


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("value", [0, 1, 3.75, -2])
def test_init_value(dtype, value):
    """Custom Metal kernels: "Initialize all of the kernel's outputs to this value before it runs.
    This allows us to update only part of the output arrays".
    """
    if value < 0 and dtype in (mx.bool_, mx.uint8, mx.uint16, mx.uint32, mx.uint64):
        pytest.skip("C++ leaves open what a negative float is as an unsigned integer")
    some = kernel("some", "if (i % 2) out[i] = x[i];")
    y = run(some, mx.zeros((101,), dtype), init_value=value, dtype=dtype)[0]
    expected = mx.array([value], mx.float32).astype(dtype)
    assert (y[::2] == expected).all().item()
    assert (y[1::2] == mx.zeros((1,), dtype)).all().item()


@pytest.mark.parametrize("value", [0, 1.5])
def test_init_value_of_large_outputs(value):
    """Custom Metal kernels: the initial value is there whatever the size, and nowhere else."""
    some = kernel("some", "if (i % 2) out[i] = x[i];")
    for _ in range(20):
        x = mx.ones((300_001,), mx.float16)
        y = run(some, x, init_value=value, dtype=mx.float16)[0]
        assert (y[::2] == value).all().item() and (y[1::2] == 1).all().item()


def test_init_value_is_for_all_outputs():
    """Evaluation on Metal: "One value for all outputs"."""
    two = kernel("two", "if (i > 5) { a[i] = 0; b[i] = 0; }", (), ("a", "b"))
    a, b = run(two, shape=(8,), init_value=7, output_dtypes=[mx.int32, mx.bfloat16])
    assert a.tolist() == [7] * 6 + [0] * 2 == b.tolist()


def test_init_value_is_written_before_each_launch():
    """Evaluation on Metal: outputs are "filled ... before the launch", in each evaluation."""
    count = kernel(
        "count_all",
        "atomic_fetch_add_explicit(&out[0], int(x[i]), memory_order_relaxed);",
        atomic_outputs=True,
    )
    fun = mx.compile(lambda x: run(count, x, shape=(1,), dtype=mx.int32, init_value=5,
                                   grid=(100, 1, 1))[0])  # fmt: skip
    for _ in range(4):
        assert fun(mx.ones((100,))).item() == 105


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_init_value_where_the_launch_stores_nothing(rows):
    """Custom Metal kernels: "Initialize all of the kernel's outputs to this value before it runs",
    those that are stored as a whole (which need not be filled) and those that are longer."""
    every = kernel("every", "((device float4*)out)[i] = float4(x[i]);")
    x = mx.arange(64).astype(mx.float32)
    options = {"grid": (64, 1, 1), "threadgroup": (32, 1, 1), "dtype": mx.float32}
    mx.eval(mx.full((rows, 128), 3.0))  # memory that is used again
    y = run(every, x, shape=(rows, 128), init_value=7, **options)[0].reshape(-1)
    stored = np.repeat(np.arange(64), 4)
    assert y[: len(stored)].tolist() == stored.tolist()
    assert (y[len(stored) :] == 7).all().item()


# ---- Sizes and numbers


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4, 5)])
def test_outputs_without_elements(shape):
    """Evaluation on Metal: "Zero-size outputs get a null buffer"."""
    y = double(mx.zeros(shape))
    assert y.shape == shape and y.tolist() == mx.zeros(shape).tolist()
    assert mx.compile(double)(mx.zeros(shape)).shape == shape


def test_one_output_of_several_without_elements():
    """Evaluation on Metal: the other outputs are as always."""
    two = kernel("one_of_two", "a[i] = x[i];", outputs=("a", "b"))
    a, b = run(two, base(), output_shapes=[(120,), (0, 2)])
    assert a.tolist() == list(range(120)) and b.shape == (0, 2)
    mx.eval(a, b)


def test_inputs_without_elements():
    """Custom Metal kernels: an input may be empty, with its shape."""
    size = kernel("size_of", "out[0] = x_shape[0] + 10 * x_shape[1];")
    assert run(size, mx.zeros((3, 0)), shape=(1,), dtype=mx.int32)[0].item() == 3


@pytest.mark.parametrize("extents", [((0, 1, 1), (1, 1, 1)), ((8, 0, 1), (8, 1, 1)),
                                     ((8, 1, 1), (0, 1, 1))])  # fmt: skip
def test_a_grid_without_threads(extents):
    """Evaluation on Metal: "A zero-sized grid or group is not checked": no threads, no error."""
    grid, threadgroup = extents
    y = double(mx.ones(8), grid=grid, threadgroup=threadgroup, init_value=3)
    assert y.tolist() == [3] * 8
    assert (y + double(mx.ones(8))).tolist() == [5] * 8


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(True, mx.bool_), (7, mx.int32), (2**40, mx.int64), (2.5, mx.float32),
     (np.float32(1.5), mx.float32), (np.int16(3), mx.int16), (1 + 2j, mx.complex64)],
    ids=lambda value: str(value),
)  # fmt: skip
def test_python_numbers_as_inputs(value, dtype):
    """Custom Metal kernels: inputs may be Python scalars, which become 0-d arrays."""
    read = kernel("read", "out[0] = x;")
    assert run(read, value, shape=(1,), dtype=dtype)[0].item() == value


def test_numpy_arrays_as_inputs():
    """Custom Metal kernels: and NumPy's arrays, which become arrays."""
    x = np.arange(12, dtype=np.float64).reshape(3, 4).T
    assert double(x, shape=x.shape).tolist() == (2 * x).tolist()


def test_a_scalar_that_is_computed_lazily():
    """Custom Metal kernels: a 0-d array is passed as a reference, evaluated or not."""
    add = kernel("add_scalar", "out[i] = x[i] + y;", ("x", "y"))
    x = base().reshape(-1)
    assert run(add, x, double(x).max())[0].tolist() == [i + 238 for i in range(120)]


def test_outputs_have_any_shape():
    """Custom Metal kernels: outputs need not have the shape of an input, and may be 0-d."""
    total = kernel("total", "float s = 0; for (int k = 0; k < 120; ++k) s += x[k]; out[0] = s;")
    y = run(total, base(), shape=())[0]
    assert (y.shape, y.item()) == ((), 119 * 60)


# ---- Memory


def test_memory_is_counted():
    """get_active_memory: "Get the actively used memory in bytes." It rises and returns."""
    before = active_memory()
    x = mx.zeros((1 << 20,))
    mx.eval(x)
    y = double(x)
    assert mx.get_active_memory() - before < 5 << 20
    mx.eval(y)
    assert 8 << 20 <= active_memory() - before < 9 << 20
    del x
    assert 4 << 20 <= active_memory() - before < 5 << 20
    del y
    assert active_memory() == before


def test_peak_memory_counts_copies():
    """get_peak_memory: "The maximum memory used"; the row-contiguous copy is part of it."""
    x = mx.zeros((1024, 1024))
    mx.eval(x)
    before = active_memory()
    mx.reset_peak_memory()
    mx.eval(double(x))
    plain = mx.get_peak_memory() - before
    active_memory()
    mx.reset_peak_memory()
    mx.eval(double(x.T))
    copied = mx.get_peak_memory() - before
    assert 4 << 20 <= plain < 5 << 20 and 8 << 20 <= copied < 9 << 20
    assert active_memory() == before


def test_memory_of_a_chain_is_reused():
    """Lazy Evaluation: what nobody needs any more is freed while the graph is computed."""
    before = active_memory()
    mx.reset_peak_memory()
    y = mx.zeros((1 << 18,))
    for _ in range(64):
        y = double(y)
        mx.eval(y)
    assert mx.get_peak_memory() - before <= 8 << 20
    del y
    assert active_memory() == before


def test_freed_memory_goes_to_the_cache():
    """Memory: freed buffers are kept for later arrays until clear_cache."""
    mx.eval(double(mx.zeros((1 << 20,))))
    active_memory()
    mx.clear_cache()
    assert mx.get_cache_memory() == 0


def test_inputs_live_while_a_kernel_runs():
    """async_eval: an input that is let go stays until the kernel has read it."""
    results = []
    for i in range(8):
        x = mx.full((10_000,), float(i))
        y = slow(x * 0 + 1, 200)
        results.append(run(kernel("sum2", "out[i] = x[i] + y[i];", ("x", "y")), x, y)[0])
        mx.async_eval(results[-1])
        del x, y
    for i, result in enumerate(results):
        assert (result == i + 1).all().item()


def test_a_kernel_writes_all_of_a_large_output():
    """Custom Metal kernels: results do not depend on their size."""
    for count in (1, 63, 64, 65, 70_001, 262_144, 1_500_000):
        y = double(mx.arange(count, dtype=mx.float32))
        assert (y == 2 * mx.arange(count, dtype=mx.float32)).all().item()


def test_each_evaluation_has_outputs_of_its_own():
    """Custom Metal kernels: two calls give two arrays."""
    x = mx.ones((1000,))
    ticks = Ticks()
    results = [ticks(x * i) for i in range(10)]
    mx.eval(results)
    assert ticks.count == 10
    assert [r.sum().item() for r in results] == [1000 * i for i in range(10)]
    assert math.isclose(sum(r.sum().item() for r in results), 45_000)
