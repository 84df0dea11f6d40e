"""Launches that the main thread runs itself, and the stream's thread with it (runtime/companion.h).

Where a launch runs must not show in any result. `SIZE` threads are many threadgroups, and
enough work to be worth the main thread's while; the first launch tells how long one takes.
"""

from __future__ import annotations

import threading

import mlx.core as mx
import numpy as np
import pytest

from anymetal.errors import KernelMemoryError
from tests.graph.kernels import double, kernel, minus_sin, run

SIZE = 300_001
VALUES = np.random.default_rng(5).standard_normal(SIZE).astype(np.float32)

_scatter = kernel(
    "scatter_add",
    "atomic_fetch_add_explicit(&out[places[i]], 1, memory_order_relaxed);",
    ("places",),
    atomic_outputs=True,
)
_store_at = kernel("store_at", "out[(long)where[0] * (1l << 45) + i] = x[i];", ("x", "where"))


def evaluated(values: np.ndarray) -> mx.array:
    """An array that MLX has computed, but does not know to be available."""
    array = mx.array(values) + 0
    mx.eval(array)
    return array


def through_the_graph(values: np.ndarray) -> mx.array:
    return mx.array(values) + 0


INPUTS = [mx.array, evaluated, through_the_graph]


@pytest.fixture(autouse=True)
def known_kernels():
    for launch in (double, minus_sin):
        mx.eval(launch(mx.array(VALUES)))


@pytest.mark.parametrize("given", INPUTS)
def test_one_launch(given):
    """AnyMetal: a result does not depend on which thread runs a launch."""
    for _ in range(20):
        assert np.array_equal(double(given(VALUES)), 2 * VALUES)


@pytest.mark.parametrize("given", INPUTS)
def test_a_chain(given):
    """AnyMetal: nor do those of launches that need each other."""
    y = given(VALUES)
    for _ in range(12):
        y = double(y) - mx.array(VALUES)
    assert np.array_equal(y, VALUES)


@pytest.mark.parametrize("given", INPUTS)
def test_launches_side_by_side_and_what_mlx_makes_of_them(given):
    """AnyMetal: nor do those of launches and operations of MLX side by side."""
    x = given(VALUES)
    parts = [double(x), minus_sin(x), double(x[::-1]), double(minus_sin(x))]
    total = mx.stack(parts).sum(axis=0)
    sine = np.sin(VALUES.astype(np.float64))
    wanted = 2.0 * VALUES - sine + 2.0 * VALUES[::-1] - 2 * sine
    assert np.allclose(total, wanted, rtol=1e-5, atol=1e-5)


def test_behind_what_takes_long():
    """AnyMetal: where the stream's thread comes too late, a launch is a task like any other."""
    x = mx.array(VALUES)
    for rows in (1, 30):
        product = mx.tile(x[:1000], (rows, 1)) @ mx.ones((1000, SIZE // 100))
        y = double(mx.broadcast_to(product[:, :1], (rows, SIZE)))
        wanted = 2 * VALUES[:1000].astype(np.float64).sum()
        assert np.allclose(y[-1, -10:], wanted, rtol=1e-3, atol=1e-3)


def test_async_evaluation_and_other_streams_in_between():
    """AnyMetal: nor do those of `async_eval` and of other streams in between."""
    other = mx.new_stream(mx.cpu)
    x = mx.array(VALUES)
    for _ in range(10):
        first = double(x)
        mx.async_eval(first)
        second = double(first, stream=other)
        third = double(second)
        assert np.array_equal(third, 8 * VALUES)
        assert np.array_equal(first, 2 * VALUES)


def test_more_streams_than_there_are_companions():
    """AnyMetal: nor do those of as many streams as there may be."""
    x = mx.array(VALUES)
    for _ in range(20):
        assert np.array_equal(double(x, stream=mx.new_stream(mx.cpu)), 2 * VALUES)


def test_while_other_threads_evaluate():
    """AnyMetal: nor do those of threads that evaluate at the same time."""
    x = mx.array(VALUES)
    stop = threading.Event()
    wrong: list[int] = []

    def work() -> None:
        stream = mx.new_stream(mx.cpu)
        mine = mx.array(VALUES)
        while not stop.is_set():
            if not np.array_equal(double(mine, stream=stream), 2 * VALUES):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(60):
        assert np.array_equal(double(double(x)), 4 * VALUES)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_filled_outputs_and_copied_inputs():
    """AnyMetal: outputs are filled and inputs copied before, whoever runs the launch."""
    places = np.random.default_rng(6).integers(0, 1000, SIZE).astype(np.uint32)
    wide = mx.array(np.stack([places, places + 1], axis=1))
    for _ in range(5):
        (counts,) = run(
            _scatter, wide[:, 0], output_shapes=[(100_000,)], dtype=mx.int32, init_value=0
        )
        assert np.array_equal(counts, np.bincount(places, minlength=100_000))


def test_what_goes_wrong_is_an_error_of_this_evaluation():
    """AnyMetal: nothing behind it counts as evaluated, and the next launch is as before."""
    x = mx.array(VALUES)
    for where in (0, 0, 1, 0, 1):
        (y,) = run(_store_at, x, mx.array([where], mx.int32))
        behind = y + 1
        if where:
            with pytest.raises(KernelMemoryError):
                mx.eval(behind)
            with pytest.raises(KernelMemoryError):
                mx.eval(behind)
        else:
            assert np.array_equal(behind, VALUES + 1)


def test_in_a_callback_of_mlx():
    """AnyMetal: launches may be evaluated inside of functions with a rule of their own."""
    x = mx.array(VALUES)

    @mx.custom_function
    def function(x: mx.array) -> mx.array:
        inner = double(x)
        mx.eval(inner)
        return double(inner)

    assert np.array_equal(function(x), 4 * VALUES)
