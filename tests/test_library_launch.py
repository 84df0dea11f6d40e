"""Library kernels in MLX's graph: lazy, with copies of what they change, under transformations."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal import targets
from anymetal.errors import (
    KernelLaunchError,
    KernelLoadError,
    MetalCompileError,
    StrayAccessWarning,
    UnsupportedFeatureError,
)
from anymetal.runtime.bridge import loader
from anymetal.sanitizer.launches import SanitizingTarget
from anymetal.targets.apple import AppleTarget
from anymetal.targets.graph import new_epoch
from tests.library_kernels import FLOATS, TEXT, Line, random, run

INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
DTYPES = (*INTEGERS, "float16", "bfloat16", "float32")


@pytest.fixture(scope="module")
def library() -> anymetal.MetalLibrary:
    return anymetal.metal_library(TEXT, name="x.metal")


@pytest.fixture(params=["graph", "at once"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, built_bridge: Path) -> str:
    """With and without the bridge to MLX."""
    if request.param == "at once":
        leave_out_the_bridge(monkeypatch)
    return str(request.param)


def leave_out_the_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "native", lambda: None)
    new_epoch()  # calls that were kept would not ask


def exact(array: mx.array) -> Any:
    return np.array(array.astype(mx.float32) if array.dtype == mx.bfloat16 else array)


# -- what comes out ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 31, 1000])
def test_every_dtype(library: Any, way: str, dtype: str, size: int) -> None:
    """A new array begins with zeros, or with what the given one holds; that stays as it is."""
    x, y = random((size,), dtype), random((size,), dtype, 1)
    kernel = library[f"add_{dtype}"]
    (fresh_one,) = run(kernel, x, (x.shape, x.dtype), threads=size)
    (copied,) = run(kernel, x, y, threads=size)
    assert (copied.shape, copied.dtype) == (y.shape, y.dtype)
    np.testing.assert_array_equal(exact(fresh_one), exact(x))
    np.testing.assert_array_equal(exact(copied), exact(x) + exact(y))
    np.testing.assert_array_equal(exact(y), exact(random((size,), dtype, 1)))


LAYOUTS = {
    "rows": lambda a: a,
    "transposed": lambda a: a.T,
    "every second": lambda a: a[:, ::2],
    "backwards": lambda a: a[::-1, ::-1],
    "in the middle": lambda a: a[1:-1, 3:-3],
    "one for all": lambda a: mx.broadcast_to(a[:, :1], a.shape),
    "one axis": lambda a: a.reshape(-1)[5:],
    "no axis": lambda a: a[3, 4],
    "no element": lambda a: a[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
@pytest.mark.parametrize("shape", [(9, 13), (300, 301)])
def test_copies_of_every_layout(
    library: Any, way: str, layout: str, dtype: str, shape: tuple[int, int]
) -> None:
    """Small ones, and those whose rows several threads copy."""
    begins, x = LAYOUTS[layout](random(shape, dtype)), random(shape, dtype, 1)
    x = LAYOUTS[layout](x)
    (y,) = run(library[f"add_{dtype}"], x, begins, threads=begins.size)
    assert y.shape == begins.shape
    np.testing.assert_array_equal(np.array(y), np.array(begins) + np.array(x))


def test_booleans_begin_with_what_is_given(library: Any, way: str) -> None:
    y = mx.array([True, False, True])
    (inverted,) = run(library.invert, y, threads=3)
    assert (inverted.tolist(), y.tolist()) == ([False, True, False], [True, False, True])


def test_several_arrays_some_of_them_copies(library: Any, way: str) -> None:
    x, total = random((100,), "int32"), mx.array([1000], mx.int32)
    every = random((60,), "int32", 2)
    values = x, ((100,), mx.int32), total, every, None
    outputs = run(library.several, *values, threads=100, constants={"stride": 3, "has_more": False})
    twice, added, third, more = outputs
    n, expected = np.array(x), np.array(every)
    expected[:34] = n[::3]
    np.testing.assert_array_equal(np.array(twice), 2 * n)
    assert added.item() == 1000 + n.sum()
    np.testing.assert_array_equal(np.array(third), expected)
    assert more is None
    *_, more = run(
        library.several,
        *values[:4],
        ((100,), mx.int32),
        threads=100,
        constants={"stride": 2, "has_more": True},
    )
    np.testing.assert_array_equal(np.array(more), 3 * n)


@pytest.mark.parametrize(
    "of", [Line(2, 3), bytes(Line(2, 3)), mx.array([2.0, 3.0]), np.array([2, 3], np.float32)]
)
def test_structs(library: Any, way: str, of: Any) -> None:
    (y,) = run(library.line, mx.arange(40.0), of, ((40,), mx.float32), threads=40)
    assert y.tolist() == [2 * i + 3 for i in range(40)]


def test_threadgroup_memory(library: Any, way: str) -> None:
    x, y = random((96,)), mx.array([1.0, 2.0, 3.0])
    (sums,) = run(library.sums, x, y, threads=96, threadgroup_memory={0: 128})
    np.testing.assert_array_equal(
        np.array(sums), np.array(x).reshape(3, 32).sum(1) + np.arange(1, 4)
    )


@pytest.mark.parametrize(("given", "expected"), [({}, 0), ({"init_value": 2.5}, 2.5)])
def test_init_value(library: Any, way: str, given: Any, expected: float) -> None:
    """Of arrays given by their shape only."""
    (y,) = run(library.add_float32, mx.ones(40), ((40,), mx.float32), threads=30, **given)
    assert y.tolist() == [1 + expected] * 30 + [expected] * 10
    (y,) = run(library.add_float32, mx.ones(40), mx.ones(40), threads=30, **given)
    assert y.tolist() == [2] * 30 + [1] * 10


def test_undefined_contents_cost_nothing(library: Any) -> None:
    x = random((40,))
    (y,) = run(library.line, x, Line(1, 1), (x.shape, x.dtype), threads=40, init_value=None)
    np.testing.assert_array_equal(np.array(y), np.array(x) + 1)


@pytest.mark.parametrize("launch", [{"grid": 0}, {"threadgroup": 0}, {"grid": (4, 0, 2)}])
def test_no_thread(library: Any, way: str, launch: Any) -> None:
    y = random((200, 200))[:, ::-1]
    (same,) = run(library.add_float32, y, y, threads=8, **launch)
    (zeros,) = run(library.add_float32, y, FLOATS, threads=8, **launch)
    np.testing.assert_array_equal(np.array(same), np.array(y))
    assert zeros.tolist() == [0] * 8


def test_launches_one_behind_the_other(library: Any, way: str) -> None:
    start = y = random((5000,))
    x = mx.ones(5000)
    for _ in range(20):
        (y,) = run(library.add_float32, x, y, threads=5000)
    (other,) = run(library.add_float32, x, start, threads=5000)
    np.testing.assert_array_equal(np.array(y), np.array(start) + 20)
    np.testing.assert_array_equal(np.array(other), np.array(start) + 1)


def test_one_array_is_read_and_begins_others(library: Any, way: str) -> None:
    x = random((100,), "int32")
    values = x, x, ((1,), mx.int32), x, None
    twice, total, every, _ = run(
        library.several, *values, threads=100, constants={"stride": 1, "has_more": False}
    )
    n = np.array(x)
    assert (twice.tolist(), total.item(), every.tolist()) == ((2 * n).tolist(), n.sum(), n.tolist())


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int64, np.uint8])
def test_structs_are_the_bytes_of_any_array(library: Any, way: str, dtype: Any) -> None:
    """MLX itself would make float32 of float64."""
    values = np.frombuffer(np.array([2, 3, 5, 7], np.float32).tobytes(), dtype).copy()
    (y,) = run(library.line, mx.arange(8.0), values, FLOATS, threads=8)
    assert y.tolist() == [2 * i + 3 for i in range(8)]


# -- in the graph -----------------------------------------------------------------------------


def test_nothing_runs_before_somebody_asks(library: Any) -> None:
    ticks = mx.zeros(1, mx.int32)
    mx.eval(ticks)
    seen = np.array(ticks, copy=False)
    calls = [run(library.tick, ticks, ((1,), mx.int32), threads=1) for _ in range(3)]
    assert seen[0] == 0
    assert calls[1][0].item() == 7
    assert calls[1][0].item() == 7
    assert seen[0] == 1


def test_what_numpy_has_is_read_by_the_call(library: Any) -> None:
    for x in (np.ones(8, np.float32), np.ones(16, np.float32)[::2]):
        (y,) = run(library.add_float32, x, FLOATS, threads=8)
        x[:] = 5
        assert y.tolist() == [1] * 8


def test_compiled_functions(library: Any) -> None:
    calls = itertools.count()

    @mx.compile
    def function(x: mx.array, y: mx.array) -> mx.array:
        next(calls)
        (z,) = run(library.add_float32, x * 2, y, threads=x.size)
        (z,) = run(library.line, z, Line(1, 5), (z.shape, z.dtype), threads=z.size)
        return z - 1

    for size, seed in [(8, 0), (8, 1), (33, 2), (8, 3)]:
        x, y = random((size,), seed=seed), random((size,), seed=seed + 10)
        np.testing.assert_array_equal(np.array(function(x, y)), 2 * np.array(x) + np.array(y) + 4)
    assert next(calls) == 2


def test_shapes_of_outputs_are_no_function_of_the_inputs(library: Any) -> None:
    function = mx.compile(
        lambda x: run(library.add_float32, x, x, threads=x.size)[0], shapeless=True
    )
    with pytest.raises(ValueError, match=r"output_shapes\] CustomKernel cannot infer"):
        mx.eval(function(mx.ones(8)))


@pytest.mark.parametrize("custom", [mx.custom_function, anymetal.custom_function])
def test_gradients_by_another_kernel(library: Any, way: str, custom: Any) -> None:
    of = Line(3, 1)

    @custom
    def line(x: mx.array) -> mx.array:
        return run(library.line, x, of, (x.shape, x.dtype), threads=x.size)[0]

    @line.vjp  # type: ignore[untyped-decorator]
    def gradient(x: mx.array, dy: mx.array, y: mx.array) -> mx.array:
        return run(library.line_gradient, dy, of, (x.shape, x.dtype), threads=x.size)[0]

    x = random((50,))
    value, dx = mx.value_and_grad(lambda x: (line(x) ** 2).sum())(x)
    n = np.array(x)
    np.testing.assert_allclose(value.item(), ((3 * n + 1) ** 2).sum(), rtol=1e-6)
    np.testing.assert_allclose(np.array(dx), 2 * (3 * n + 1) * 3, rtol=1e-6)
    compiled = mx.compile(mx.grad(lambda x: (line(x) ** 2).sum()))
    if way == "graph":
        np.testing.assert_allclose(np.array(compiled(x)), np.array(dx), rtol=1e-6)


TRANSFORMATIONS = {
    "vjp": lambda f: mx.grad(lambda x: f(x).sum())(mx.ones(8)),
    "jvp": lambda f: mx.jvp(f, [mx.ones(8)], [mx.ones(8)])[1],
    "vmap": lambda f: mx.vmap(f)(mx.ones((3, 8))),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations_without_a_rule(library: Any, name: str) -> None:
    """As those of a metal_kernel: an error, and no zeros."""

    def function(x: mx.array) -> mx.array:
        return run(library.add_float32, x, x, threads=8)[0]  # type: ignore[no-any-return]

    with pytest.raises(ValueError, match=rf"\[Primitive::{name}\] Not implemented for CustomKern"):
        mx.eval(TRANSFORMATIONS[name](function))


def test_gradients_without_the_bridge(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_the_bridge(monkeypatch)
    with pytest.raises(ValueError, match=r"\[Primitive::vjp\] Not implemented for CustomKernel"):
        mx.grad(lambda x: run(library.add_float32, mx.ones(8), x, threads=8)[0].sum())(mx.ones(8))


def test_streams(library: Any) -> None:
    x, stream = random((3000,)), mx.new_stream(mx.cpu)
    (y,) = run(library.add_float32, x, x + 1, threads=3000, stream=stream)
    (z,) = run(library.add_float32, y, y, threads=3000)
    (z,) = run(library.add_float32, z, x, threads=3000, stream=mx.cpu)
    np.testing.assert_array_equal(np.array(z), 2 * (2 * np.array(x) + 1) + np.array(x))
    with pytest.raises(TypeError, match="`stream` must be a stream, a device or None, got str"):
        run(library.add_float32, x, x, threads=3000, stream="cpu")


def test_an_export(library: Any, tmp_path: Path) -> None:
    def function(x: mx.array) -> mx.array:
        return run(library.add_float32, x, x, threads=8)[0]  # type: ignore[no-any-return]

    with pytest.raises(UnsupportedFeatureError, match=r"`add_float32` .* cannot be exported"):
        mx.export_function(str(tmp_path / "f.mlxfn"), function, mx.ones(8))


# -- what goes wrong --------------------------------------------------------------------------


def test_errors_beyond_the_arguments_come_with_the_evaluation(library: Any) -> None:
    (y,) = run(library.broken, FLOATS, threads=1)
    (sums,) = run(library.sums, mx.ones(8), FLOATS, threads=8, threadgroup_memory={0: 40000})
    (z,) = run(library.add_float32, mx.ones(8), y, threads=8)
    for _ in range(2):
        with pytest.raises(MetalCompileError, match=r"x\.metal:\d+:\d+: error: .*'float'"):
            mx.eval(z)
    with pytest.raises(KernelLoadError, match=r"\(40000\) exceeds"):
        mx.eval(sums)


def test_errors_without_the_bridge_come_with_the_call(library: Any, monkeypatch: Any) -> None:
    leave_out_the_bridge(monkeypatch)
    with pytest.raises(MetalCompileError, match=r"x\.metal:\d+:\d+: error: .*'float'"):
        run(library.broken, FLOATS, threads=1)


def test_a_kernel_that_faults_begins_anew(library: Any) -> None:
    """Its arrays begin with what they were given again: each thread has added 1 once."""
    x, y = mx.full((8,), 10.0), mx.full((8,), 100.0)
    (z,) = run(library.stray, x, 1 << 43, y, threads=8)
    with pytest.warns(StrayAccessWarning, match=r"`stray`: `x` has 8 .* thread \(3, 0, 0\)"):
        mx.eval(z)
    assert z.tolist() == [111, 111, 111, 101, *[111] * 4]
    (z,) = run(library.stray, x, 3, y, threads=8)
    assert z.tolist() == [111] * 8


def test_what_begins_with_a_failed_output(library: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("ANYMETAL_FAULTS", "raise")
    (y,) = run(library.stray, mx.ones(8), 1 << 43, mx.ones(8), threads=8, grid=(8, 2))
    (z,) = run(library.add_float32, mx.ones(8), y, threads=8)
    for array in (z, y, z):
        with pytest.raises(RuntimeError, match="`stray`: `x` has 8 elements"):
            mx.eval(array)


CALLS: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "too few": ((mx.ones(8),), {}, TypeError, r"2 buffers \(x: const float32\*.*, got 1"),
    "too many": ((mx.ones(8), FLOATS, FLOATS), {}, TypeError, "2 buffers .*, got 3"),
    "dtype that is read": ((mx.arange(8), FLOATS), {}, TypeError, "`x` .* float32, got int32"),
    "dtype of a copy": ((mx.ones(8), mx.arange(8)), {}, TypeError, "`y` .* float32, got int32"),
    "dtype of a new array": (
        (mx.ones(8), ((8,), mx.float16)),
        {},
        TypeError,
        "`y` .* float32, got float16",
    ),
    "new array for what is read": (
        (FLOATS, mx.ones(8)),
        {},
        TypeError,
        r"`x` .* only reads its argument: pass an array or numbers; a pair \(shape, dtype\)",
    ),
    "shape alone": ((mx.ones(8), (8,)), {}, TypeError, r"pair \(shape, dtype\).*, not tuple"),
    "negative shape": (
        (mx.ones(8), ((-8,), mx.float32)),
        {},
        KernelLaunchError,
        r"`y` .* shape \(-8,\)",
    ),
    "impossible shape": (
        (mx.ones(8), ((2**30, 2**30), mx.float32)),
        {},
        KernelLaunchError,
        "more than a process can address",
    ),
    "negative grid": ((mx.ones(8), FLOATS), {"grid": -8}, KernelLaunchError, "negative"),
    "threadgroup": ((mx.ones(8), FLOATS), {"threadgroup": 1025}, KernelLaunchError, "greater"),
    "init_value": ((mx.ones(8), FLOATS), {"init_value": "0"}, TypeError, "`init_value` must be a"),
    "nothing": ((None, FLOATS), {}, TypeError, "`x` is None"),
    "nothing to write to": ((mx.ones(8), None), {}, TypeError, "`y` is None"),
}


@pytest.mark.parametrize(("values", "options", "error", "match"), CALLS.values(), ids=CALLS.keys())
def test_wrong_calls(library: Any, values: Any, options: Any, error: Any, match: str) -> None:
    """The call raises them, whatever is evaluated when."""
    with pytest.raises(error, match=match):
        run(library.add_float32, *values, threads=8, **options)


# -- at once ----------------------------------------------------------------------------------


def test_kernels_that_write_in_place_run_at_once(library: Any) -> None:
    x, twice, total = mx.arange(8), np.zeros(8, np.int32), mx.array([5])
    constants = {"stride": 1, "has_more": False}
    every: Any = ((8,), mx.int32)
    values: Any = x, twice, total, every, None
    outputs = run(library.several, *values, threads=8, constants=constants)
    assert twice.tolist() == [2 * i for i in range(8)]
    assert outputs[0] is twice and outputs[1].tolist() == [33]
    assert outputs[2].tolist() == list(range(8))
    with pytest.raises(ValueError, match="`several` writes to an array in place, so it runs at on"):
        run(library.several, *values, threads=8, constants=constants, stream=mx.cpu)


IN_PLACE = "`{}` {}, so it runs at once and can be no part of mx.grad, mx.compile"


def test_kernels_that_run_at_once_are_no_part_of_transformations(library: Any) -> None:
    def in_place(x: mx.array) -> mx.array:
        run(library.add_float32, x, np.ones(8, np.float32), threads=8)
        return x.sum()

    def nothing(x: mx.array) -> mx.array:
        run(library.silent, x, threads=8)
        return x.sum()

    for function, name, what in [
        (in_place, "add_float32", "writes to an array in place"),
        (nothing, "silent", "writes to no buffer"),
    ]:
        assert function(mx.ones(8)).item() == 8
        for transformed in (mx.grad(function), mx.compile(function)):
            with pytest.raises(UnsupportedFeatureError, match=IN_PLACE.format(name, what)):
                transformed(mx.ones(8))
    assert run(library.silent, mx.ones(8), threads=8) == []


# -- targets ----------------------------------------------------------------------------------


def test_apple_gpus(library: Any) -> None:
    targets.select(AppleTarget())
    try:
        for values in [(mx.ones(8), mx.ones(8)), (mx.ones(8), np.ones(8, np.float32))]:
            with pytest.raises(UnsupportedFeatureError, match="cannot run on an Apple GPU"):
                run(library.add_float32, *values, threads=8)
    finally:
        targets.select(None)


def test_a_session_of_the_sanitizer(library: Any) -> None:
    """Its launches run at once, and are told of with file and line."""
    line = 1 + TEXT[: TEXT.index("y[i] += x[i == 3")].count("\n")
    with anymetal.sanitize("report") as found:
        (y,) = run(library.stray, mx.ones(8), 8, mx.ones(8), threads=8)
    (one,) = found.findings
    assert (one.kernel, one.code, one.place.file, one.place.line) == (
        "stray",
        "bounds-read",
        "x.metal",
        line,
    )
    assert (one.details["buffer"], y.tolist()[3]) == ("x", 2)


def test_a_call_from_before_a_session(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may open one while the launch is on its way: it belongs to none."""
    y = mx.full((8,), 5.0)
    with anymetal.sanitize("report") as found:
        monkeypatch.setattr(SanitizingTarget, "lazy", True)
        (z,) = run(library.add_float32, mx.ones(8), y, threads=8)
        assert z.tolist() == [6] * 8
    assert found.launches == 0


def test_a_function_compiled_in_a_session(library: Any) -> None:
    """What it has traced would run unobserved."""
    with anymetal.sanitize("report"):
        mx.enable_compile()
        function = mx.compile(lambda x: run(library.add_float32, x, x, threads=8)[0])
        with pytest.raises(
            UnsupportedFeatureError, match=r"`add_float32` was traced by mx\.compile"
        ):
            mx.eval(function(mx.ones(8)))
