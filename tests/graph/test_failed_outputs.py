"""Arrays of launches that failed, and what is computed from them: they never become readable."""

from __future__ import annotations

import threading
from collections.abc import Callable

import mlx.core as mx
import numpy as np
import pytest

from anymetal.errors import KernelMemoryError, KernelTimeoutError
from anymetal.kernel import MetalKernel
from anymetal.runtime.pool import pool
from tests.graph.kernels import answer, double, endless, kernel, run

GOOD, BAD = mx.ones(8), mx.ones(8) * 9
mx.eval(GOOD, BAD)


def moody(name: str, **options: object) -> MetalKernel:
    """2 * x; it writes where no memory is if x has nines."""
    return kernel(name, "out[x[i] > 5 ? (1l << 45) + i : i] = 2 * x[i];", **options)


def proven(name: str) -> MetalKernel:
    """One that has gone well before, as most kernels have when they fail."""
    twice = moody(name)
    assert run(twice, GOOD)[0].tolist() == [2] * 8
    return twice


def fails(look: Callable[[], object]) -> None:
    with pytest.raises(KernelMemoryError, match=r"was stopped by|outside"):
        look()


READERS = {
    "eval": lambda y: mx.eval(y),
    "item": lambda y: y.item() if y.size == 1 else y[0].item(),
    "tolist": lambda y: y.tolist(),
    "numpy": lambda y: np.array(y),
    "print": lambda y: str(y),
    "computed from": lambda y: mx.eval(mx.sum(y) + 1),
    "a kernel": lambda y: mx.eval(double(y)),
    "compiled": lambda y: mx.eval(mx.compile(lambda v: v * 2 + 1)(y)),
    "another stream": lambda y: mx.eval(mx.add(y, 1, stream=mx.new_stream(mx.cpu))),
    "async_eval": lambda y: (mx.async_eval(y + 1), mx.synchronize()),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("first", [proven, moody], ids=["went well before", "never ran"])
def test_the_output_of_a_failed_launch_raises_whenever_it_is_asked(reader, first):
    """eval: an array that nobody could compute has no value, however often it is asked for."""
    y = run(first("asked_again"), BAD)[0]
    for _ in range(3):
        fails(lambda: reader(y))
    assert double(GOOD).tolist() == [2] * 8


@pytest.mark.parametrize("depth", [1, 2, 30])
def test_what_is_computed_from_a_launch_that_fails_raises(depth):
    """Lazy Evaluation: what depends on an array without a value has none, either."""
    y = run(moody(f"depended_on_{depth}"), BAD)[0]
    z = y
    for _ in range(depth):
        z = mx.abs(z) + 1
    total = z.sum()
    for array in (total, total, z, y, total * 2):
        fails(lambda array=array: mx.eval(array))
    with pytest.raises(KernelMemoryError):
        total.item()


def test_only_what_depends_on_it_is_lost():
    """eval: of arrays that are evaluated together, those that did not fail can be read."""
    a, b = run(proven("one_of_two"), BAD)[0], GOOD * 3
    fails(lambda: mx.eval(a, b))
    assert b.tolist() == [3] * 8
    fails(lambda: a.tolist())


def test_all_outputs_of_a_launch():
    """eval: of a kernel with several outputs all are lost."""
    body = "a[i] = x[i]; b[x[i] > 5 ? (1l << 45) + i : i] = x[i];"
    two = kernel("two_outputs", body, outputs=("a", "b"))
    mx.eval(run(two, GOOD))
    a, b = run(two, BAD)
    fails(lambda: mx.eval(a))
    fails(lambda: a.tolist())
    fails(lambda: b.tolist())


def test_launches_that_were_scheduled_behind_it():
    """Streams: kernels that wait for a failed one do not run on what it left, on any stream."""
    first, second = proven("first_of_chain"), mx.new_stream(mx.cpu)
    y = run(first, BAD)[0]
    near, far = double(y), double(y, stream=second)
    turned = double(y.reshape(2, 4).T)
    fails(lambda: mx.eval(near, far, turned))
    for array in (near, far, turned, y, near, far):
        fails(lambda array=array: array.tolist())
    mx.synchronize(second)


def test_what_mlx_computes_behind_a_launch_that_went_well_before():
    """AnyMetal: where MLX would let it be read it holds no plausible numbers."""
    y = run(proven("late_failure"), BAD)[0]
    total = (y * 2).sum()
    fails(lambda: mx.eval(total))
    fails(lambda: y.tolist())
    assert np.isnan(total.item())


def test_after_async_eval():
    """async_eval: the error comes with the first array that is read, and with the others, too."""
    twice = proven("under_way")
    arrays = [run(twice, BAD + i)[0] for i in range(3)]
    for array in arrays:
        fails(lambda array=array: (mx.async_eval(array), mx.synchronize()))
    for array in arrays * 2:
        fails(lambda array=array: array.tolist())


def test_another_thread_asks():
    """Evaluation on Metal: nor has it a value for another thread."""
    y = run(proven("asked_elsewhere"), BAD)[0]
    fails(lambda: mx.eval(y))
    caught: list[type] = []

    def ask() -> None:
        for _ in range(2):
            try:
                y.tolist()
            except KernelMemoryError as error:
                caught.append(type(error))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert caught == [KernelMemoryError] * 2


def test_a_time_limit():
    """AnyMetal: an array whose kernel was stopped is computed anew, if it is asked for again."""
    y = endless(GOOD)
    total = y.sum()
    pool().set_time_limit(0.1)
    try:
        for array in (total, total, y):
            with pytest.raises(KernelTimeoutError):
                mx.eval(array)
    finally:
        pool().set_time_limit(None)


def test_ctrl_c():
    """AnyMetal: after Ctrl-C the next cell of a notebook reads no unfinished numbers."""
    text = """
gate = Gate()
y = gate(x)
total = y.sum()
ctrl_c(gate)
try:
    total.item()
except KeyboardInterrupt:
    print("stopped")
gate.open()
print(total.item())
"""
    assert answer(text) == ["stopped", "8.0"]


def test_a_kernel_that_failed_works_again():
    """eval: a failure belongs to a launch, not to its kernel."""
    twice = proven("forgiven")
    for _ in range(3):
        fails(lambda: mx.eval(run(twice, BAD)))
        assert run(twice, GOOD)[0].tolist() == [2] * 8
        assert mx.abs(run(twice, GOOD)[0]).sum().item() == 16


def test_memory_of_failed_launches():
    """Memory: what failed is let go with its arrays."""
    twice, x = proven("much_memory"), mx.ones((1 << 16,)) * 9
    mx.eval(x, run(twice, mx.ones((1 << 16,))))

    def fail() -> None:
        fails(lambda: mx.eval(run(twice, x)[0].sum()))

    fail()
    before = mx.get_active_memory()
    for _ in range(20):
        fail()
    assert mx.get_active_memory() <= before + (1 << 18)
