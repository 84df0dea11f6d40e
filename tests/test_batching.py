"""`metal_kernel(..., vmap="batch")`: a batch in one launch, against a loop over its elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anymetal
from anymetal.dtypes import METAL_NAMES
from anymetal.errors import AnyMetalWarning, KernelLaunchError, MetalCompileError

INDEX = "uint i = thread_position_in_grid.x;\n"
RANDOM = np.random.default_rng(0)

Fun = Callable[..., Any]


def function(
    body: str,
    inputs: Sequence[str] = ("x",),
    outputs: Sequence[str] = ("out",),
    *,
    vmap: str | None = "batch",
    construction: dict[str, Any] | None = None,
    **call: Any,
) -> Fun:
    """Arrays to the outputs of a kernel: like the first input, unless the call says otherwise."""
    kernel = anymetal.metal_kernel(
        "k", list(inputs), list(outputs), body, vmap=vmap, **(construction or {})
    )

    def run(*arrays: mx.array) -> Any:
        shape = arrays[0].shape
        results = kernel(
            inputs=list(arrays),
            **{
                "output_shapes": [shape] * len(outputs),
                "output_dtypes": [arrays[0].dtype] * len(outputs),
                "grid": (max(math.prod(shape), 1), 1, 1),
                "threadgroup": (32, 1, 1),
                **call,
            },
        )
        return results[0] if len(results) == 1 else tuple(results)

    return run


def floats(*shape: int) -> mx.array:
    return mx.array(RANDOM.normal(size=shape).astype(np.float32))


def loop(run: Fun, arrays: Sequence[mx.array], axes: Sequence[int | None]) -> list[np.ndarray]:
    """The oracle: one launch after the other; the batch is the first axis of what comes out."""
    pairs = list(zip(arrays, axes, strict=True))
    batch = next(array.shape[axis] for array, axis in pairs if axis is not None)
    results = []
    for b in range(batch):
        one = run(*(x if axis is None else mx.take(x, b, axis) for x, axis in pairs))
        results.append([numbers(y) for y in (one if isinstance(one, tuple) else (one,))])
    return [np.stack(column) for column in zip(*results, strict=True)]


def numbers(array: mx.array) -> np.ndarray:
    return np.array(array.astype(mx.float32) if array.dtype == mx.bfloat16 else array)


def check(run: Fun, arrays: Sequence[mx.array], axes: Sequence[int | None] | None = None) -> None:
    """A lifted kernel gives the same bits as a loop."""
    axes = [0] * len(arrays) if axes is None else axes
    found = mx.vmap(run, tuple(axes))(*arrays)
    found = found if isinstance(found, tuple) else (found,)
    expected = loop(run, arrays, axes)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(numbers(one), other)


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


# What kernels can do


@pytest.mark.parametrize("size", [32, 100, 256])
def test_threadgroup_memory_and_barriers(size):
    body = """
    threadgroup float shared[256];
    uint i = thread_position_in_threadgroup.x;
    uint width = threads_per_threadgroup.x;
    shared[i] = x[threadgroup_position_in_grid.x * width + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[threadgroup_position_in_grid.x * width + i] = shared[width - 1 - i];
    """
    run = function(body, threadgroup=(size, 1, 1), grid=(2 * size, 1, 1))
    check(run, [floats(3, 2 * size)])


def test_simd_groups():
    body = """
    uint i = thread_position_in_grid.x;
    float sum = simd_sum(x[i]);
    out[i] = sum + simd_shuffle_xor(x[i], 1) + thread_index_in_simdgroup
           + simdgroup_index_in_threadgroup;
    """
    check(function(body, threadgroup=(64, 1, 1)), [floats(3, 128)])


def test_templates():
    run = function(
        INDEX + "T y = x[i]; out[i] = B ? y * N : y;",
        template=[("T", mx.float16), ("N", -3), ("B", True)],
    )
    check(run, [floats(3, 8)])


def test_helper_functions_get_the_pointers_of_an_element():
    header = """
    float total(const device float* values, int n) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += values[k];
      return sum;
    }
    template <typename T> void put(device T* to, uint at, T value) { to[at] = value; }
    """
    run = function(INDEX + "put(out, i, total(x, 16) + i);", construction={"header": header})
    check(run, [floats(3, 16)])


def test_lambdas_and_inner_scopes():
    body = """
    uint i = thread_position_in_grid.x;
    auto at = [&](uint k) { return x[(i + k) % threads_per_grid.x]; };
    { uint i = 1; float x = at(i); out[thread_position_in_grid.x] = x + at(0); }
    """
    check(function(body), [floats(3, 10)])


@pytest.mark.parametrize("mode", ["safe", "fast"])
def test_math_modes_and_pragmas(mode):
    body = (
        "// comment\n\n  #pragma METAL fp math_mode(safe)\n#pragma METAL fp contract(off)\n"
        + INDEX
        + "#pragma unroll\nfor (int k = 0; k < 2; ++k) out[i] = exp(x[i] * x[i] - 1);"
    )
    run = function(body, construction={"compile_options": {"math_mode": mode}})
    check(run, [floats(3, 10)])


# Places in the grid


PLACES = """
uint3 p = thread_position_in_grid, n = threads_per_grid, m = grid_size;
uint3 g = threadgroup_position_in_grid, gs = threadgroups_per_grid;
uint3 t = thread_position_in_threadgroup, ts = threads_per_threadgroup;
uint at = (p.z * n.y + p.y) * n.x + p.x;
uint values[] = {p.x, p.y, p.z, n.x, n.y, n.z, m.x, m.y, m.z, g.x, g.y, g.z, gs.x, gs.y, gs.z,
                 t.x, t.y, t.z, ts.x, ts.y, ts.z, thread_index_in_threadgroup};
for (int k = 0; k < 22; ++k) out[at * 22 + k] = values[k] + uint(x);
"""


@pytest.mark.parametrize(
    ("grid", "threadgroup"),
    [
        ((5, 1, 1), (5, 1, 1)),
        ((70, 1, 1), (32, 1, 1)),
        ((6, 5, 1), (4, 2, 1)),
        ((3, 4, 6), (2, 2, 2)),
        ((3, 4, 6), (4, 8, 6)),
        ((2, 2, 3), (1, 1, 64)),
        ((4, 3, 4), (4, 3, 1)),
        ((33, 2, 2), (8, 2, 2)),
    ],
)
def test_all_attributes_of_the_grid(grid, threadgroup):
    run = function(
        PLACES,
        output_shapes=[(math.prod(grid), 22)],
        output_dtypes=[mx.uint32],
        grid=grid,
        threadgroup=threadgroup,
    )
    check(run, [mx.array([0.0, 100.0, 200.0])])


@pytest.mark.parametrize(
    "name",
    [
        "thread_position_in_grid",
        "threads_per_grid",
        "grid_size",
        "threadgroup_position_in_grid",
        "threadgroups_per_grid",
    ],
)
def test_one_attribute_alone(name):
    body = f"if (all({name} < uint3(99))) out[0] = x[0] + {name}.x * 100 + {name}.y * 10;"
    run = function(
        body + f"out[1] = {name}.z > 3 ? -1 : 1;",
        grid=(1, 1, 4) if "thread_pos" not in name else (1, 1, 1),
        threadgroup=(1, 1, 4) if "group_pos" in name else (1, 1, 1),
    )
    check(run, [floats(3, 2)])


def test_a_kernel_that_does_not_know_its_place():
    check(function("out[0] = x[0] * 2;", grid=(1, 1, 1)), [floats(7, 1)])


@pytest.mark.parametrize(
    ("grid", "threadgroup"),
    [
        ((0, 1, 1), (1, 1, 1)),
        ((4, 1, 0), (4, 1, 1)),
        ((4, 1, 1), (4, 1, 0)),
        ((4, 1, 2), (0, 0, 0)),
    ],
)
def test_launches_without_threads(grid, threadgroup):
    run = function(INDEX + "out[i] = x[i];", grid=grid, threadgroup=threadgroup, init_value=3)
    check(run, [floats(3, 4)])


def test_many_elements():
    x = mx.arange(3000, dtype=mx.float32).reshape(1000, 3)
    found = mx.vmap(function(INDEX + "out[i] = x[i] + 1;"))(x)
    assert mx.array_equal(found, x + 1)


@pytest.mark.parametrize("dtype", list(METAL_NAMES), ids=lambda dtype: str(dtype).split(".")[-1])
def test_every_dtype(dtype):
    run = function(INDEX + "out[i] = x[n - 1 - i];", ("x", "n"))
    x = mx.random.randint(0, 100, (3, 9), key=mx.random.key(0)).astype(dtype)
    if dtype == mx.float64:
        with pytest.raises(ValueError, match=r"^float64 is not supported on the GPU$"):
            mx.vmap(run, (0, None))(x, mx.array(9))
        return
    assert mx.array_equal(mx.vmap(run, (0, None))(x, mx.array(9)), x[:, ::-1]).item()
    assert mx.array_equal(mx.vmap(run, (1, None))(x, mx.array(3)), x[::-1].T).item()


# Other transformations


@pytest.mark.parametrize("axes", list(itertools.product((0, 1, 2), (0, 1))), ids=str)
def test_nested(axes):
    body = """
    uint3 p = thread_position_in_grid;
    uint at = (p.z * threads_per_grid.y + p.y) * x_shape[1] + p.x;
    out[at] = x[at] * 100 + threads_per_grid.z * 10 + threadgroup_position_in_grid.z + w;
    """
    outer, inner = axes
    run = function(body, ("x", "w"), grid=(3, 2, 1), threadgroup=(2, 2, 1))
    x, w = floats(4, 5, 2, 3), floats(5)
    x = mx.moveaxis(mx.moveaxis(x, 1, inner + 1), 0, outer)
    mapped = mx.vmap(mx.vmap(run, (inner, 0)), (outer, None))(x, w)
    for a, b in itertools.product(range(4), range(5)):
        element = mx.take(mx.take(x, a, outer), b, inner)
        assert mx.array_equal(mapped[a, b], run(element, w[b])).item()


def test_three_levels():
    run = function(INDEX + "out[i] = x[i] + x_shape[0] * threads_per_grid.z;")
    x = floats(2, 3, 4, 5)
    assert mx.array_equal(mx.vmap(mx.vmap(mx.vmap(run)))(x), x + 5).item()


def test_in_a_compiled_function():
    run = function(INDEX + "out[i] = x[i] * y[i];", ("x", "y"))
    x, y = floats(4, 3), floats(3)
    both = mx.compile(lambda x, y: mx.vmap(run, (0, None))(mx.sin(x), y).sum(1))
    assert mx.allclose(both(x, y), (mx.sin(x) * y).sum(1)).item()
    assert mx.allclose(mx.vmap(mx.compile(run), (0, None))(x, y), x * y).item()


def test_among_operations_of_mlx():
    run = function(INDEX + "out[i] = x[i] * y[i];", ("x", "y"))
    x, y = floats(4, 3), floats(4, 3)
    found = mx.vmap(lambda x, y: mx.softmax(run(x + 1, run(x, y)) @ mx.ones((3, 2))))(x, y)
    assert mx.allclose(found, mx.softmax(((x + 1) * x * y) @ mx.ones((3, 2)), 1)).item()


def test_lazy():
    """The batch is a node of the graph like any other; a body's errors come with its evaluation."""
    lazy = mx.vmap(function(INDEX + "out[i] = nothing;"))(floats(3, 4))
    assert lazy.shape == (3, 4)
    with pytest.raises(MetalCompileError, match="nothing"):
        mx.eval(lazy)


def test_streams():
    stream = mx.new_stream(mx.cpu)
    run = function(INDEX + "out[i] = x[i] + 1;", stream=stream)
    check(run, [floats(3, 4)])


# Bodies


@pytest.mark.parametrize(
    "body",
    [
        INDEX + "if (i > 2) return;\nout[i] = x[i];",
        INDEX + "out[i] = x[i]; // no newline follows",
        INDEX + "out[i] = x[i]; /* ... */",
        "// thread_position_in_grid, out_shape, x_strides\n" + INDEX + "out[i] = x[i];\n\n",
        "\n\n" + INDEX + "out[i] = x[i];\\\n",
        INDEX + "#define PUT out[i]\nPUT = x[i];\n#undef PUT",
        INDEX + "#if 1\nout[i] = x[i];\n#else\nnonsense\n#endif",
        "#define GID thread_position_in_grid.x\nout[GID] = x[GID];",
        INDEX.replace("\n", "\r\n") + "out[i] = x[i];\r\n",
    ],
    ids=["return", "comment", "block", "mentions", "backslash", "macro", "if", "alias", "crlf"],
)
def test_bodies(body):
    check(function(body, init_value=0), [floats(3, 5)])


@pytest.mark.parametrize("opening", ["", "\n\n", "#pragma METAL fp contract(off)\n"])
@pytest.mark.parametrize("levels", [1, 2])
def test_errors_name_the_line_of_the_body(opening, levels):
    run = function(opening + INDEX + "float y = x[i];\nout[i] = y + nonsense;\n")
    line = 3 + opening.count("\n")
    for _ in range(levels):
        run = mx.vmap(run)
    with pytest.raises(MetalCompileError) as error:
        mx.eval(run(floats(2, 3, 4)))
    assert f"k: source:{line}:14: error: use of undeclared identifier 'nonsense'" in str(
        error.value
    )
    assert f"{line} | out[i] = y + nonsense;" in str(error.value)


# Errors


def test_a_threadgroup_across_elements():
    run = function(INDEX + "out[i] = x[i];", grid=(4, 1, 6), threadgroup=(4, 1, 4))
    assert run(floats(4)).shape == (4,)
    with pytest.raises(ValueError, match=r"^\[vmap\] Kernel `k` .* 6 threads in z, .* of 4, "):
        mx.vmap(run)(floats(3, 4))


@pytest.mark.filterwarnings(f"ignore::{AnyMetalWarning.__module__}.{AnyMetalWarning.__name__}")
def test_size_of_an_input():
    run = function(INDEX + "out[i] = x[i] * x_size;")
    assert run(mx.ones(4)).tolist() == [4] * 4
    with pytest.raises(ValueError, match=r"^\[vmap\] Kernel `k` .* `<input>_size`\. Pass the"):
        mx.vmap(run)(floats(3, 4))


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ({"threadgroup": (2048, 1, 1), "grid": (4096, 1, 1)}, "Thread group size"),
        ({"grid": (-4, 1, 1)}, "sizes cannot be negative"),
        ({"grid": (4, 1, -1)}, "sizes cannot be negative"),
        ({"threadgroup": (4, 1, -1)}, r"Thread group size \(-4\)"),
        ({"threadgroup": (-4, 1, -1)}, "sizes cannot be negative"),
    ],
)
def test_impossible_launches(launch, message):
    run = function(INDEX + "out[i] = x[i];", **launch)
    with pytest.raises(KernelLaunchError, match=message):
        mx.eval(mx.vmap(run)(floats(3, 4)))


@pytest.mark.parametrize("value", ["sequential", "", True, 0])
def test_the_option_is_checked(value):
    with pytest.raises(ValueError, match=r'^\[metal_kernel\] `vmap` must be None or "batch", got '):
        function("out[0] = x[0];", vmap=value)


# Kernels without the option: as MLX has them


def test_without_the_option():
    run = function(INDEX + "out[i] = x[i];", vmap=None)
    mapped = mx.vmap(run)(floats(3, 4))
    assert mapped.shape == (3, 4)
    with pytest.raises(ValueError, match=r"^\[Primitive::vmap\] Not implemented for CustomKernel"):
        mx.eval(mapped)
    with pytest.raises(ValueError, match=r"^\[Primitive::vmap\] Not implemented for CustomKernel"):
        mx.eval(mx.compile(mx.vmap(run))(floats(3, 4)))
    constant = floats(4)
    assert mx.allclose(
        mx.vmap(lambda x: x + run(constant))(floats(3, 4) * 0), mx.broadcast_to(constant, (3, 4))
    ).item()


@pytest.mark.parametrize("out_axis", [0, 1])
def test_a_rule_of_ones_own(out_axis):
    doubled = function(INDEX + "out[i] = 2 * x[i];", vmap=None)
    run = mx.custom_function(doubled)
    seen = []

    @run.vmap
    def rule(x, axis):
        seen.append(axis)
        return doubled(x), axis

    x = floats(3, 4)
    assert mx.array_equal(mx.vmap(run, 1, out_axis)(x), 2 * (x if out_axis else x.T)).item()
    assert seen == [1]


# All at once


@st.composite
def launches(draw: st.DrawFn) -> dict[str, Any]:
    grid = tuple(draw(st.integers(1, 6)) for _ in range(2))
    depth = draw(st.integers(1, 3))
    group = draw(st.integers(1, 3))
    axes = draw(st.lists(st.sampled_from([None, 0, 1]), min_size=2, max_size=2).filter(any_axis))
    return {
        "grid": (*grid, depth * group),
        "threadgroup": (draw(st.integers(1, 8)), draw(st.integers(1, 8)), group),
        "axes": axes,
        "batch": draw(st.integers(1, 4)),
        "strided": draw(st.booleans()),
        "small": draw(st.booleans()),
        "dtype": draw(st.sampled_from([mx.float32, mx.int32, mx.float16])),
    }


def any_axis(axes: Sequence[int | None]) -> bool:
    return any(axis is not None for axis in axes)


GENERAL = """
uint3 p = thread_position_in_grid;
uint at = (p.z * threads_per_grid.y + p.y) * threads_per_grid.x + p.x;
uint r = p.x % x_shape[0], c = p.y % x_shape[1];
sum[at] = x[r * x_strides[0] + c * x_strides[1]] + w[at % w_shape[0]];
where[at] = threadgroup_position_in_grid.z * 64 + threadgroups_per_grid.z * 8
          + thread_position_in_threadgroup.z;
"""


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(launches())
def test_any_launch(launch):
    shape = (launch["grid"][0], launch["grid"][1])
    batch, axes = launch["batch"], launch["axes"]
    width = 3 if launch["small"] else 10
    x = mx.arange(batch * math.prod(shape), dtype=launch["dtype"]).reshape(batch, *shape)
    w = mx.arange(batch * width, dtype=launch["dtype"]).reshape(batch, width) * 100
    x = x[0] if axes[0] is None else mx.moveaxis(x, 0, axes[0])
    w = w[0] if axes[1] is None else mx.moveaxis(w, 0, axes[1])
    if launch["strided"]:
        x = mx.repeat(x, 2, -1)[..., ::2]
    run = function(
        GENERAL,
        ("x", "w"),
        ("sum", "where"),
        construction={"ensure_row_contiguous": not launch["strided"]},
        grid=launch["grid"],
        threadgroup=launch["threadgroup"],
        output_shapes=[launch["grid"]] * 2,
        output_dtypes=[launch["dtype"], mx.int32],
    )
    if launch["strided"]:  # the kernel knows no strides of w
        w = w if axes[1] is None else mx.contiguous(w)
        if axes[1] == 1 and batch > 1:
            return
    check(run, [x, w], axes)


# What the compiler does by line and column


@pytest.mark.parametrize("levels", [1, 2])
def test_repairs_find_their_place(levels):
    """Clang refuses such casts, so that they are rewritten where it says."""
    run = function(INDEX + "\n\nout[i] = bfloat((half)x[i] + (half)(x[i] * x[i]));")
    for _ in range(levels):
        run = mx.vmap(run)
    x = mx.ones((2, 3, 4), mx.bfloat16)
    assert mx.array_equal(run(x), x * 2).item()


@pytest.mark.parametrize("levels", [1, 2])
def test_what_metal_forbids_is_found_in_the_line_of_the_body(levels):
    run = function(INDEX + "\n\n  long long y = x[i];\nout[i] = y;")
    for _ in range(levels):
        run = mx.vmap(run)
    with pytest.raises(MetalCompileError, match=r"k: source:4:3: error: 'long long'"):
        mx.eval(run(floats(2, 3, 4)))
