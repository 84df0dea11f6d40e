"""Batches of a kernel: what it can do, and its places in the grid."""

from __future__ import annotations

import math

import mlx.core as mx
import pytest

from anymetal.dtypes import METAL_NAMES
from tests.batching.harness import INDEX, check, floats, function

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
    with mx.stream(mx.cpu):  # where MLX has float64, too
        x = mx.random.randint(0, 100, (3, 9), key=mx.random.key(0)).astype(dtype)
    if dtype == mx.float64:
        with pytest.raises(
            ValueError, match=r"^float64 is not supported on the GPU: input `x` of kernel"
        ):
            mx.vmap(run, (0, None))(x, mx.array(9))
        return
    assert mx.array_equal(mx.vmap(run, (0, None))(x, mx.array(9)), x[:, ::-1]).item()
    assert mx.array_equal(mx.vmap(run, (1, None))(x, mx.array(3)), x[::-1].T).item()
