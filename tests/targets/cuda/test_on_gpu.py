"""Launches through MLX on a real NVIDIA GPU; elsewhere nothing here runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import targets
from anymetal.runtime.bridge import loader as bridge
from anymetal.targets.cpu import CpuTarget
from anymetal.targets.cuda.launch import CudaTarget
from anymetal.targets.graph import new_epoch


@pytest.fixture(autouse=True, params=["bridge", "no bridge"])
def with_and_without_bridge(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways to MLX: nodes of ours, which MLX's own node evaluates, and MLX's own."""
    if request.param == "bridge":
        bridge.require()
    else:
        monkeypatch.setattr(bridge, "native", lambda: None)
    new_epoch()


pytestmark = pytest.mark.skipif(not targets.has_cuda(), reason="MLX has no NVIDIA GPU here")

_MIX = """
    uint i = thread_position_in_grid.x;
    uint h = i * 2654435761u ^ as_type<uint>(x[i % x_shape[0]]);
    for (uint k = 0; k < h % 7; ++k) h = rotate(h, k + 1u) + simd_xor(h);
    o[i] = h + simd_prefix_inclusive_sum(h) + thread_index_in_threadgroup;
"""


def _kernel(name: str, source: str, inputs: list[str], **more: Any) -> Any:
    return anymetal.metal_kernel(
        name=name, input_names=inputs, output_names=["o"], source=source, **more
    )


_twice = _kernel("twice", "uint i = thread_position_in_grid.x; o[i] = 2 * x[i];", ["x"])


def twice(x: mx.array, **more: Any) -> mx.array:
    result: mx.array = _twice(
        inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype], grid=(x.size, 1, 1),
        threadgroup=(256, 1, 1), **more,
    )[0]  # fmt: skip
    return result


def test_the_gpu_is_the_target() -> None:
    assert isinstance(targets.active(), CudaTarget)
    assert isinstance(targets.for_stream(None), CudaTarget)
    assert isinstance(targets.for_stream(mx.cpu), CpuTarget)
    assert isinstance(targets.for_stream(mx.new_stream(mx.cpu)), CpuTarget)
    with mx.stream(mx.cpu):
        assert isinstance(targets.for_stream(None), CpuTarget)


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16, mx.int8, mx.uint64])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 1001), (0,)])
def test_dtypes_and_shapes(dtype: mx.Dtype, shape: tuple[int, ...]) -> None:
    x = mx.array(np.random.default_rng().integers(0, 60, shape)).astype(dtype)
    kernel = twice
    if not shape:  # `x` is a number there

        def kernel(x: mx.array) -> mx.array:
            result: mx.array = _kernel("twice", "o[0] = 2 * x;", ["x"])(
                inputs=[x], output_shapes=[()], output_dtypes=[x.dtype], grid=(1, 1, 1),
                threadgroup=(1, 1, 1),
            )[0]  # fmt: skip
            return result

    for _ in range(3):
        assert mx.array_equal(kernel(x), x + x).item()


def test_arrays_that_are_not_contiguous() -> None:
    x = mx.random.normal((37, 53))
    for view in (x.T, x[::2, 3:], mx.broadcast_to(x[:1], (5, 53)), x[::-1]):
        assert mx.array_equal(twice(view), 2 * view).item()


def test_vectors_in_parts_of_arrays() -> None:
    kernel = _kernel(
        "fours",
        "uint i = thread_position_in_grid.x; ((device int4*)o)[i] = ((const device int4*)x)[i];",
        ["x"],
    )
    x = mx.random.normal((1000,))
    for begin in (0, 1, 2, 3, 4, 7):
        part = x[begin : begin + 800]
        mx.eval(part)
        (o,) = kernel(
            inputs=[part], output_shapes=[(800,)], output_dtypes=[mx.float32], grid=(200, 1, 1),
            threadgroup=(64, 1, 1),
        )  # fmt: skip
        assert mx.array_equal(o, part).item()


@pytest.mark.parametrize(("function", "units"), [("rsqrt", 0), ("fast::rsqrt", 2)])
def test_rsqrt_of_every_float_of_two_binades(function: str, units: int) -> None:
    """Within so many units in the last place of the correctly rounded result."""
    source = (
        f"uint i = thread_position_in_grid.x; o[i] = {function}(as_type<float>(0x3f800000 + i));"
    )
    (o,) = _kernel("rsqrts", source, [])(
        inputs=[], output_shapes=[(1 << 24,)], output_dtypes=[mx.float32], grid=(1 << 24, 1, 1),
        threadgroup=(256, 1, 1),
    )  # fmt: skip
    x = np.arange(0x3F800000, 0x3F800000 + (1 << 24), dtype=np.uint32).view(np.float32)
    expected = (1 / np.sqrt(x.astype(np.float64))).astype(np.float32)
    assert np.abs(np.array(o).view(np.int32) - expected.view(np.int32)).max() <= units


def test_graphs_of_many_kernels() -> None:
    x = mx.random.normal((1000,))
    y, expected = x, np.array(x)
    for _ in range(50):
        y = twice(y) - mx.sin(twice(y) * 0)
        y = y / 2 + 1
        expected = expected + 1
    assert np.allclose(np.array(y), expected, atol=1e-3)


def test_compiled_functions() -> None:
    compiled = mx.compile(lambda x: twice(mx.exp(x)) + 1)
    for size in (10, 10, 1000):
        x = mx.random.normal((size,))
        assert mx.allclose(compiled(x), 2 * mx.exp(x) + 1, rtol=1e-5).item()


def test_streams() -> None:
    x = mx.random.normal((10000,))
    one, other = mx.new_stream(mx.gpu), mx.new_stream(mx.gpu)
    y = twice(twice(x, stream=one), stream=other)
    z = twice(y, stream=mx.cpu)
    w = twice(z)
    assert mx.array_equal(w, 16 * x).item()
    with mx.stream(mx.cpu):
        v = twice(twice(w))
    assert mx.array_equal(v, 64 * x).item()


def test_integers_are_those_of_the_cpu() -> None:
    kernel = _kernel("mix", _MIX, ["x"])
    x = mx.random.normal((101,))
    for size, group in ((1, 1), (1000, 96), (4097, 256)):
        call = {
            "inputs": [x], "output_shapes": [(size,)], "output_dtypes": [mx.uint32],
            "grid": (size, 1, 1), "threadgroup": (group, 1, 1),
        }  # fmt: skip
        assert mx.array_equal(kernel(**call)[0], kernel(**call, stream=mx.cpu)[0]).item()


@pytest.mark.parametrize(
    ("grid", "group"),
    [
        ((5, 7, 300), (2, 2, 100)),
        ((1, 70001, 2), (1, 1, 1)),
        ((3, 2, 70001), (2, 1, 3)),
        ((33, 5, 3), (32, 2, 2)),
    ],
)
def test_positions(grid: tuple[int, int, int], group: tuple[int, int, int]) -> None:
    x, y, z = grid
    source = """
        uint3 p = thread_position_in_grid, n = threads_per_grid;
        uint at = (p.z * n.y + p.y) * n.x + p.x;
        uint3 t = thread_position_in_threadgroup, g = threadgroup_position_in_grid;
        uint3 s = threads_per_threadgroup;
        o[at] = at + (thread_index_in_threadgroup != (t.z * s.y + t.y) * s.x + t.x)
            + any(g * dispatch_threads_per_threadgroup + t != p);
    """
    (o,) = _kernel("positions", source, [])(
        inputs=[], output_shapes=[(z, y, x)], output_dtypes=[mx.uint32], grid=grid,
        threadgroup=group,
    )  # fmt: skip
    assert np.array_equal(np.array(o).ravel(), np.arange(x * y * z))


def test_init_value() -> None:
    kernel = _kernel(
        "some", "uint i = thread_position_in_grid.x; if (i % 3 == 0) o[i] = x[i];", ["x"]
    )
    x = mx.random.normal((100,))
    (o,) = kernel(
        inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype], grid=(100, 1, 1),
        threadgroup=(32, 1, 1), init_value=2.5,
    )  # fmt: skip
    expected = np.where(np.arange(100) % 3 == 0, np.array(x), np.float32(2.5))
    assert np.array_equal(np.array(o), expected)


def test_gradients_with_atomics() -> None:
    scatter = anymetal.metal_kernel(
        name="scatter", input_names=["i", "d"], output_names=["o"], atomic_outputs=True,
        source="""uint t = thread_position_in_grid.x;
            atomic_fetch_add_explicit(&o[i[t]], d[t], memory_order_relaxed);""",
    )  # fmt: skip

    @mx.custom_function
    def take(x: mx.array, i: mx.array) -> mx.array:
        return x[i]

    @take.vjp
    def _(primals: Any, cotangent: mx.array, _: Any) -> Any:
        x, i = primals
        (dx,) = scatter(
            inputs=[i, cotangent], output_shapes=[x.shape], output_dtypes=[x.dtype],
            grid=(i.size, 1, 1), threadgroup=(256, 1, 1), init_value=0,
        )  # fmt: skip
        return dx, mx.zeros_like(i)

    x, i = mx.random.normal((50,)), mx.random.randint(0, 50, (3000,))
    dx = mx.grad(lambda x: (take(x, i) * 3).sum())(x)
    assert np.array_equal(np.array(dx), 3 * np.bincount(np.array(i), minlength=50))


def test_batches() -> None:
    bridge.require()
    if bridge.native() is None:
        pytest.skip("MLX's own node knows no mx.vmap")
    kernel = _kernel(
        "rows", "uint i = thread_position_in_grid.x; o[i] = x[i] + s[0];", ["x", "s"], vmap="batch"
    )

    def add(x: mx.array, s: mx.array) -> mx.array:
        result: mx.array = kernel(
            inputs=[x, s], output_shapes=[x.shape], output_dtypes=[x.dtype],
            grid=(x.size, 1, 1), threadgroup=(64, 1, 1),
        )[0]  # fmt: skip
        return result

    x, s = mx.random.normal((9, 100)), mx.random.normal((1,))
    assert mx.array_equal(mx.vmap(add, (0, None))(x, s), x + s).item()


_LIBRARY = """
    kernel void add(device float* o [[buffer(0)]], device const float* x [[buffer(1)]],
                    constant float& by [[buffer(2)]], device atomic_uint* count [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
      o[i] += by * x[i];
      atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
    }
"""


def test_kernels_of_libraries() -> None:
    add = anymetal.metal_library(_LIBRARY).add
    x, o = mx.random.normal((1000,)), mx.random.normal((1000,))
    before = np.array(o)

    def launch(o: Any, count: Any) -> Any:
        return add(o, x, 3.0, count, grid=1000, threadgroup=128)

    fresh, count = launch(((1000,), mx.float32), ((1,), mx.uint32))
    assert np.allclose(np.array(fresh), 3 * np.array(x)) and count.item() == 1000
    few = anymetal.metal_library("kernel void f(device int& o [[buffer(0)]]) { o += 1; }").f(
        mx.array(41), grid=1, threadgroup=1
    )
    assert few[0].item() == 42
    again, count = launch(o, count)
    assert (
        np.allclose(np.array(again), before + 3 * np.array(x), atol=1e-5) and count.item() == 2000
    )
    assert np.array_equal(np.array(o), before)
    both = mx.compile(lambda o, c: (*launch(o, c), *launch(o, c)))(o, count)
    for found, number in (both[:2], both[2:]):
        assert (
            np.allclose(np.array(found), before + 3 * np.array(x), atol=1e-5)
            and number.item() == 3000
        )


def test_kernels_of_libraries_in_memory_of_numpy() -> None:
    add = anymetal.metal_library(_LIBRARY).add
    x, o = np.random.default_rng().random((2, 500), np.float32)
    count = np.zeros(1, np.uint32)
    expected = o + 2 * x
    result, _ = add(o, x, 2.0, count, grid=500, threadgroup=100)
    assert result is o and np.allclose(o, expected) and count[0] == 500


def test_a_profile() -> None:
    pytest.importorskip("cupti", reason="pip install cupti-python")
    x = mx.random.normal((1 << 20,))
    mx.eval(twice(x), x + 1)
    for _ in range(2):  # a second one after the first
        with anymetal.profile() as found:
            for _ in range(5):
                mx.eval(twice(x))
            mx.eval(mx.exp(x))
        titles = {kernel.title: kernel for kernel in found.kernels}
        kernel = titles["twice"]
        assert kernel.launches == 5 and kernel.bytes_read == kernel.bytes_written == 5 * 4 << 20
        assert all(1e-6 < seconds < 1e-3 for seconds in kernel.seconds)
        assert "threadgroups of 256, " in kernel.variant and "100% of the warps" in kernel.variant
        assert titles["(kernels of MLX and others)"].launches >= 1
        assert 1e11 < found.bytes_per_second < 1e14 and 0 < found.seconds < 10
        assert mx.array_equal(twice(x), 2 * x).item()


@pytest.mark.parametrize("mode", ["0", "1", "eager"])
def test_versions_for_a_launch(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits are the same, whichever version runs; the hot one comes between the rounds."""
    monkeypatch.setenv("ANYMETAL_SPECIALISE", mode)
    text = (
        f"// {mode}\n"
        + """
        uint i = thread_position_in_grid.x;
        int rows = x_shape[0], columns = x_shape[1];
        o[i] = x[i / columns * columns] + 3 * x[i % columns] + i / columns / rows;
    """
    )
    flat = _kernel("flat", text, ["x"])
    x = mx.random.normal((37, 59))
    at = np.arange(x.size)
    values = np.array(x).ravel()
    wanted = values[at // 59 * 59] + 3 * values[at % 59]
    for _ in range(3):
        for _ in range(20):
            (out,) = flat(
                inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype], grid=(x.size, 1, 1),
                threadgroup=(64, 1, 1),
            )  # fmt: skip
            assert np.allclose(np.array(out).ravel(), wanted, 1e-6, 1e-6)
        time.sleep(1)


def test_an_export(tmp_path: Path) -> None:
    """Holds Metal, as those of other machines, and not code for this GPU."""
    if bridge.native() is None:
        pytest.skip("only the bridge sees that a function is exported")
    path = str(tmp_path / "twice.mlxfn")
    x = mx.random.normal((1001,))
    mx.eval(twice(x))
    mx.export_function(path, lambda x: twice(x) + 1, x)
    assert b"[[kernel]]" in Path(path).read_bytes()
    (found,) = anymetal.import_function(path)(x)
    assert mx.array_equal(found, 2 * x + 1).item()
    assert mx.array_equal(twice(x), 2 * x).item()
