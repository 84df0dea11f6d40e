"""Threads and signal handlers that call one kernel in different ways, all the time.

Python switches between threads after every microsecond, and a timer interrupts the main thread up
to a thousand times a second with a handler that calls the kernel as well. Each thread makes chains
of calls with template values, sizes and streams drawn at random, and NumPy does the same.
"""

from __future__ import annotations

import random
import signal
import sys
import threading

import mlx.core as mx
import numpy as np
import pytest

from tests.graph.kernels import answer, kernel

PRIME = 8191
_step = kernel("step", f"out[i] = (x[i] * FACTOR + int(i) % MODULUS) % {PRIME};")
_batched = kernel("batched_step", f"out[i] = (x[i] * FACTOR + 1) % {PRIME};", vmap="batch")


def step(x: mx.array, factor: int, modulus: int, stream: mx.Stream | None) -> mx.array:
    (size,) = x.shape
    (out,) = _step(
        inputs=[x],
        output_shapes=[(size,)],
        output_dtypes=[mx.int32],
        grid=(size, 1, 1),
        threadgroup=(64, 1, 1),
        template=[("FACTOR", factor), ("MODULUS", modulus)],
        stream=stream,
    )
    return out


def chain(rng: random.Random, calls: int, stream: mx.Stream) -> bool:
    """Whether a graph of so many calls has NumPy's result."""
    size = rng.choice((32, 64, 256, 1024))
    index = np.arange(size, dtype=np.int32)
    x, expected = mx.array(index), index
    for _ in range(calls):
        factor, modulus = rng.randrange(1, 5), rng.choice((1, 5, 7))
        x = step(x, factor, modulus, rng.choice((None, stream)))
        expected = (expected * factor + index % modulus) % PRIME
    return np.array_equal(np.array(x), expected)


def graphs(threads: int, each: int, calls: int) -> None:
    """Prints how many graphs were made, and how many of them were wrong."""
    wrong: list[int] = []
    made: list[int] = []

    def work(seed: int) -> None:
        rng, stream = random.Random(seed), mx.new_stream(mx.cpu)
        for _ in range(each):
            if not chain(rng, calls, stream):
                wrong.append(seed)
            made.append(seed)

    handled: list[bool] = []

    def handler(*_: object) -> None:
        ours = step(mx.zeros((64,), mx.int32), 3, 5, None)
        handled.append(ours.tolist() == [i % 5 for i in range(64)])
        signal.setitimer(signal.ITIMER_REAL, 0.001)  # not sooner: handlers would pile up

    chain(random.Random(0), 10, mx.new_stream(mx.cpu))  # imports are not for signal handlers
    sys.setswitchinterval(1e-6)
    signal.signal(signal.SIGALRM, handler)
    workers = [threading.Thread(target=work, args=[seed]) for seed in range(threads)]
    for worker in workers:
        worker.start()
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    while any(worker.is_alive() for worker in workers):
        handled.append(chain(random.Random(len(made)), 10, mx.default_stream(mx.cpu)))
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    print(len(made), len(wrong), handled.count(False))


@pytest.mark.parametrize("each", [12, pytest.param(1500, marks=pytest.mark.slow)])
def test_graphs_of_eight_threads(each):
    """Streams: what a thread does changes nothing for another, however they take turns."""
    text = f"from tests.graph import test_threads\ntest_threads.graphs(8, {each}, 200)\n"
    assert answer(text, timeout=600) == [f"{8 * each} 0 0"]


def test_a_kernel_that_is_let_go_while_the_program_waits():
    """synchronize: whoever waits for a stream has let Python's lock go, which a rule for mx.vmap
    needs that ends on the stream's thread.
    """
    text = """
import gc
from anymetal import targets
gate = kernel("let_go", '''
device atomic_int* gate = (device atomic_int*)open;
while (atomic_load_explicit(gate, memory_order_relaxed) == 0) {}
out[i] = x[i];''', ("x", "open"), vmap="batch")
opened = mx.zeros((8,), mx.int32)
mx.eval(opened, x)
memory = np.array(opened, copy=False)
y = run(gate, x, opened)[0]
mx.async_eval(y)
del y, gate
gc.collect()
targets.active()._lazy_plans._known.clear()
threading.Timer(0.3, lambda: memory.__setitem__(0, 1)).start()
mx.synchronize()
print("done")
"""
    assert answer(text) == ["done"]
