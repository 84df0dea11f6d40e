"""The cache of calls of library kernels: those like earlier ones are not looked at again."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.library_launch import LibraryLaunch
from anymetal.targets.graph import new_epoch
from tests.library_kernels import FLOATS, TEXT, Line, random, run


@pytest.fixture(scope="module")
def library() -> anymetal.MetalLibrary:
    return anymetal.metal_library(TEXT, name="x.metal")


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[LibraryLaunch]:
    """The launches of calls that were like no earlier one."""
    launches: list[LibraryLaunch] = []
    run = LibraryLaunch.run

    def noted(launch: LibraryLaunch, keep: Any) -> list[Any]:
        launches.append(launch)
        return run(launch, keep)

    monkeypatch.setattr(LibraryLaunch, "run", noted)
    new_epoch()
    return launches


def test_calls_like_earlier_ones_are_not_looked_at(library: Any, looked_at: Any) -> None:
    """With a number, a struct, and arrays whose order in the launch is another one."""
    for seed in range(3):
        x, y = random((20,), seed=seed), random((20,), seed=seed + 5)
        (z,) = run(library.stray, x, 3, y, threads=20)
        (line,) = run(library.line, z, bytes(Line(2, 1)), (z.shape, z.dtype), threads=20)
        np.testing.assert_array_equal(np.array(line), 2 * (np.array(x) + np.array(y) + 1) + 1)
    assert len(looked_at) == 2


#: Values and options of two calls that must not count as alike.
OTHERS: dict[str, Any] = {
    "number": (((mx.ones(8), 3, mx.ones(8)), {}), ((mx.ones(8), 4, mx.ones(8)), {})),
    "type of a number": (((mx.ones(8), 1, mx.ones(8)), {}), ((mx.ones(8), True, mx.ones(8)), {})),
    "shape": (((mx.ones(8), 3, mx.ones(8)), {}), ((mx.ones(8), 3, mx.ones(9)), {})),
    "new array": (((mx.ones(8), 3, mx.ones(8)), {}), ((mx.ones(8), 3, FLOATS), {})),
    "shape of a new array": (
        ((mx.ones(8), 3, FLOATS), {}),
        ((mx.ones(8), 3, ((2, 4), mx.float32)), {}),
    ),
    "array for a number": (
        ((mx.ones(8), 3, FLOATS), {}),
        ((mx.ones(8), mx.array([3], mx.int64), FLOATS), {}),
    ),
    "grid": (((mx.ones(8), 3, FLOATS), {}), ((mx.ones(8), 3, FLOATS), {"grid": 4})),
    "init_value": (((mx.ones(8), 3, FLOATS), {}), ((mx.ones(8), 3, FLOATS), {"init_value": 2})),
    "no init_value": (
        ((mx.ones(8), 3, FLOATS), {"init_value": 2}),
        ((mx.ones(8), 3, FLOATS), {}),
    ),
}


@pytest.mark.parametrize(("first", "second"), OTHERS.values(), ids=OTHERS)
def test_calls_that_differ(library: Any, looked_at: Any, first: Any, second: Any) -> None:
    for values, options in (first, second, first, second):
        (z,) = run(library.stray, *values, **({"threads": 8} | options))
        start, threads = options.get("init_value", 0), options.get("grid", 8)
        begin, shape = np.full(8, start, np.float32), (8,)
        if isinstance(values[2], mx.array):
            begin, shape = np.array(values[2]), values[2].shape
        else:
            shape = values[2][0]
        begin[:threads] += 2
        np.testing.assert_array_equal(np.array(z), begin.reshape(shape))
    assert len(looked_at) == 2


def test_constants_and_lengths(library: Any, looked_at: Any) -> None:
    """Dictionaries count by what is in them."""
    x = random((20,), "int32")
    values = x, ((20,), mx.int32), mx.array([0], mx.int32), ((20,), mx.int32), ((20,), mx.int32)
    constants: dict[str, Any] = {"stride": 2, "has_more": True}
    for stride in (2, 4, 2, 4, True):
        constants["stride"] = stride
        *_, every, _ = run(library.several, *values, threads=20, constants=constants)
        assert every.tolist()[: 20 // stride] == x.tolist()[::stride]
    assert len(looked_at) == 3
    for memory in ({0: 128}, {0: 256}, {0: 128}):
        (y,) = run(library.sums, mx.ones(32), FLOATS, threads=32, threadgroup_memory=memory)
        assert y.tolist()[0] == 32
    assert len(looked_at) == 5


def test_the_same_array_twice_and_two_arrays(library: Any, looked_at: Any) -> None:
    x, y = random((20,)), random((20,), seed=1)
    for left, right in [(x, x), (x, y), (y, x), (y, y), (x, y)]:
        (z,) = run(library.add_float32, left, right, threads=20)
        np.testing.assert_array_equal(np.array(z), np.array(left) + np.array(right))


def test_lists_may_change(library: Any, looked_at: Any) -> None:
    grid, shape, of = [8], [8], [2.0, 1.0]
    x = mx.arange(8.0)
    text = "kernel void f(device const float* x, constant float2& of, device float* y,\n"
    text += "uint i [[thread_position_in_grid]]) { y[i] = of.x * x[i] + of.y; }"
    function = anymetal.metal_library(text).f
    for count in (8, 5, 8):
        grid[0], shape[0], of[1] = count, count, count
        (y,) = function(x, of, (shape, mx.float32), grid=grid, threadgroup=32)
        assert y.tolist() == [2 * i + count for i in range(count)]
    assert len(looked_at) == 3


def test_arrays_that_are_left_out(library: Any, looked_at: Any) -> None:
    """They are None in the result, each time."""
    constants = {"stride": 1, "has_more": False}
    values = mx.arange(8), ((8,), mx.int32), ((1,), mx.int32), ((8,), mx.int32), None
    for _ in range(2):
        twice, *_, more = run(library.several, *values, threads=8, constants=constants)
        assert (twice.tolist()[7], more) == (14, None)
