"""Streams, threads of Python, and the order of things."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import mlx.core as mx
import numpy as np
import pytest

from anymetal.runtime.pool import pool
from tests.graph.kernels import Gate, Ticks, double, kernel, run, slow

X = mx.arange(8, dtype=mx.float32)
DOUBLED = [2 * i for i in range(8)]


@pytest.fixture
def streams() -> tuple[mx.Stream, mx.Stream]:
    return mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that does not stay closed when a test fails."""
    gate = Gate()
    pool().set_time_limit(20)
    yield gate
    gate.open()
    mx.synchronize()
    pool().set_time_limit(None)


@pytest.mark.parametrize(
    "stream",
    [None, mx.cpu, mx.gpu, mx.Device(mx.cpu, 0), mx.default_stream(mx.cpu)],
    ids=["None", "mx.cpu", "mx.gpu", "device", "default stream"],
)
def test_every_stream_will_do(stream):
    """Streams: "All operations ... take an optional keyword argument stream. ... A Device can also
    be used as the stream argument". (What asks for a GPU runs on the CPU.)
    """
    assert double(X, stream=stream).tolist() == DOUBLED


def test_a_stream_of_ones_own(streams):
    """new_stream: "Make a new stream on the given device."""
    for stream in streams:
        assert double(X, stream=stream).tolist() == DOUBLED


def test_a_thread_local_stream():
    """Streams: a ThreadLocalStream stands for a stream of each thread."""
    stream = mx.new_thread_local_stream(mx.cpu)

    def work(number: float) -> list[float]:
        return double(mx.full((3,), number, stream=stream), stream=stream).tolist()

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(work, [1.0, 2.0, 3.0])) == [[2] * 3, [4] * 3, [6] * 3]
    assert double(X, stream=stream).tolist() == DOUBLED


@pytest.mark.parametrize("wrong", ["cpu", 1.5, [], object()])
def test_what_is_no_stream_is_an_error(wrong):
    """Streams: the argument is a Stream or a Device."""
    with pytest.raises(TypeError):
        double(X, stream=wrong)


def test_the_context_decides_where_no_stream_is_given(streams, gate):
    """stream: "Create a context manager to set the default device and stream."""
    ticks = Ticks()
    with mx.stream(streams[0]):
        mx.async_eval(gate(X))
        y = ticks(X)
        mx.async_eval(y)
    assert double(X).tolist() == DOUBLED
    assert ticks.count == 0  # in the queue, behind the closed gate
    gate.open()
    mx.synchronize(streams[0])
    assert ticks.count == 1


def test_one_stream_runs_in_order(streams, gate):
    """Streams: "Evaluated operations on the same stream run in order"."""
    ticks = Ticks()
    mx.async_eval(gate(X, stream=streams[0]))
    mx.async_eval(ticks(X, stream=streams[0]))
    assert ticks.count == 0
    gate.open()
    mx.synchronize(streams[0])
    assert ticks.count == 1


def test_two_streams_overlap(streams, gate):
    """Streams: "operations on different streams may overlap"."""
    ticks = Ticks()
    y = gate(X, stream=streams[0])
    mx.async_eval(y)
    mx.eval(ticks(X, stream=streams[1]))
    assert ticks.count == 1
    gate.open()
    assert y.tolist() == X.tolist()


def test_dependencies_across_streams(streams):
    """Streams: MLX orders operations on different streams that depend on each other."""
    first, second = streams
    y = slow(mx.ones(1000), 100_000, stream=first)
    for _ in range(10):
        y = double(y, stream=second)
        y = y.__mul__(0.5)
        y = double(y, stream=first) - 1
    assert (y == 1).all().item()


def test_a_fan_of_dependencies(streams):
    """Streams: one result may be waited for by many, and many by one."""
    first, second = streams
    shared = slow(mx.ones(64), 1_000_000, stream=first)
    parts = [double(shared, stream=(first, second)[i % 2]) + i for i in range(20)]
    total = sum(parts[1:], parts[0])
    assert (total == 40 + sum(range(20))).all().item()


def test_synchronize_waits(streams):
    """synchronize: "Synchronize with the given stream."""
    stream, _ = streams
    ticks = Ticks()
    mx.async_eval(ticks(slow(X, 5_000_000, stream=stream), stream=stream))
    mx.synchronize(stream)
    assert ticks.count == 1


def test_the_default_stream_can_be_another(streams, gate):
    """Streams: "If it is unspecified, the operation uses the default stream of the default
    device"."""
    before = mx.default_stream(mx.cpu)
    ticks = Ticks()
    try:
        mx.set_default_stream(streams[0])
        mx.async_eval(gate(X))
        mx.async_eval(ticks(X))
        assert double(X, stream=before).tolist() == DOUBLED
        assert ticks.count == 0
        gate.open()
        mx.synchronize(streams[0])
        assert ticks.count == 1
    finally:
        mx.set_default_stream(before)


def test_other_threads_cannot_evaluate_what_this_thread_made():
    """new_stream: "The stream can only be used on the thread where it was created on, using it in
    any other thread would result in errors": MLX's own, for kernels as for operations.
    """

    def text(y: mx.array) -> str:
        with ThreadPoolExecutor(1) as thread, pytest.raises(RuntimeError) as caught:
            thread.submit(y.tolist).result()
        return str(caught.value)

    assert text(double(X)) == text(X + 1)


def test_evaluation_from_several_python_threads():
    """Streams: each thread of Python has its own default stream, and may evaluate on it."""

    def work(number: int) -> bool:
        x = mx.full((500,), float(number))
        for step in range(30):
            x = double(x) - number
            if step % 7 == 0:
                mx.eval(x)
            if step % 11 == 0:
                mx.async_eval(x)
        return (x == number).all().item()

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(work, range(12))) == [True] * 12


def test_arrays_of_other_threads_are_inputs_once_they_are_evaluated():
    """Streams: an evaluated array belongs to no thread."""
    results: list[mx.array] = []
    mx.eval(X)  # of this thread; whether a test before this one has done so is chance

    def work() -> None:
        results.append(double(X))
        mx.eval(results)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert double(results[0]).tolist() == [4 * i for i in range(8)]


def test_threads_that_meet_at_a_new_kernel():
    """Streams: threads may evaluate the same kernel for the first time at the same time."""
    fresh = kernel("meeting", "out[i] = x[i] * 3 + 7;")
    start = threading.Barrier(6)

    def work(number: int) -> list[float]:
        x = mx.full((3,), float(number))
        start.wait()
        return run(fresh, x)[0].tolist()

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(work, range(6))) == [[3 * n + 7] * 3 for n in range(6)]


@pytest.mark.parametrize(
    "evaluate",
    [mx.eval, lambda y: y.tolist(), lambda y: y[0].item(), np.array, str],
    ids=["eval", "tolist", "item", "numpy", "str"],
)
def test_python_goes_on_while_a_kernel_runs(evaluate, gate):
    """eval: MLX lets other threads of Python run while it computes; so does a kernel."""
    y = gate(mx.ones(8))
    thread = threading.Timer(0.05, gate.open)  # needs the interpreter while the kernel waits for it
    thread.start()
    evaluate(y)
    thread.join()


def test_a_kernel_is_compiled_while_another_runs(streams, gate):
    """async_eval: scheduling goes on while kernels run."""
    mx.async_eval(gate(X, stream=streams[0]))
    fresh = kernel("meanwhile", "out[i] = x[i] - 5;")
    assert run(fresh, X, stream=streams[1])[0].tolist() == [i - 5 for i in range(8)]
    gate.open()
    mx.synchronize(streams[0])
