"""What goes wrong at evaluation, and what works afterwards."""

from __future__ import annotations

import threading

import mlx.core as mx
import pytest

from anymetal.errors import (
    KernelLaunchError,
    KernelLoadError,
    KernelMemoryError,
    KernelTimeoutError,
    MetalCompileError,
)
from anymetal.runtime.pool import pool
from tests.graph.kernels import active_memory, broken, double, endless, faulty, kernel, run

X = mx.ones(8)


@pytest.fixture
def time_limit():
    pool().set_time_limit(0.1)
    yield
    pool().set_time_limit(None)


def works() -> bool:
    return double(mx.ones(3)).tolist() == [2] * 3


def test_a_compile_error_is_raised_by_eval():
    """Evaluation on Metal: "All errors ... surface at evaluation": not at the call."""
    y = broken(X)
    with pytest.raises(MetalCompileError, match="undeclared identifier 'nonsense'"):
        mx.eval(y)
    assert works()


def test_the_text_of_a_compile_error():
    """Evaluation on Metal: "RuntimeError: [metal::Device] Unable to build metal library from
    source\\n<compiler diagnostics>"
    """
    with pytest.raises(RuntimeError, match=r"^\[metal::Device\] Unable to build metal library"):
        mx.eval(broken(X))


@pytest.mark.parametrize(
    "look",
    [print, mx.async_eval, lambda y: y.tolist(), lambda y: y[0].item(), lambda y: bool(y.any())],
    ids=["print", "async_eval", "tolist", "item", "bool"],
)
def test_whatever_evaluates_raises(look):
    """Evaluation on Metal: errors come with "mx.eval, print, .item(), async_eval", "on the
    caller's thread".
    """
    with pytest.raises(MetalCompileError):
        look(broken(X))
    assert works()


def test_the_same_error_again():
    """Evaluation on Metal: an array whose kernel does not compile never has a value."""
    y = broken(X)
    for _ in range(3):
        with pytest.raises(MetalCompileError, match="nonsense"):
            mx.eval(y)
    with pytest.raises(MetalCompileError, match="nonsense"):
        (y + 1).tolist()


def test_arrays_evaluated_earlier_in_the_batch_stay_valid():
    """Evaluation on Metal: "arrays evaluated earlier in the same batch stay valid"."""
    a = X + 1
    b = double(a)
    bad = broken(b)
    with pytest.raises(MetalCompileError):
        mx.eval(a, b, bad)
    assert a.tolist() == [2] * 8
    assert b.tolist() == [4] * 8


def test_arrays_behind_the_failure_can_be_evaluated_later():
    """Evaluation on Metal: what a failed batch did not reach is as it was."""
    bad, c, d = broken(X), double(X), mx.exp(X * 0)
    with pytest.raises(MetalCompileError):
        mx.eval(bad, double(c), d)
    assert c.tolist() == [2] * 8
    assert d.tolist() == [1] * 8
    assert double(c).tolist() == [4] * 8


@pytest.mark.parametrize("evaluate", [mx.eval, mx.async_eval], ids=["eval", "async_eval"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 3, 0, 4, 1)])
def test_a_failed_batch_on_two_streams(evaluate, order):
    """Evaluation on Metal: nor does a batch on several streams leave anybody waiting."""
    first, second = mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)
    a = mx.add(X, 1, stream=first)
    b = double(a, stream=second)
    bad = broken(b, stream=first)
    d = double(X, stream=first)
    e = mx.add(bad, d, stream=second)
    with pytest.raises(MetalCompileError):
        evaluate([(a, b, bad, d, e)[i] for i in order])
    assert [y.tolist() for y in (a, b, d)] == [[2] * 8, [4] * 8, [2] * 8]
    with pytest.raises(MetalCompileError):
        mx.eval(e)


def test_many_failed_evaluations_leave_no_memory_behind():
    """Evaluation on Metal: a failed evaluation gives its memory back."""
    before = active_memory()
    for _ in range(20):
        x = mx.zeros((10_000,))
        with pytest.raises(MetalCompileError):
            mx.eval(double(x), broken(double(x)))
    del x
    assert active_memory() == before


def test_too_much_threadgroup_memory():
    """Evaluation on Metal: "Unable to load kernel <NAME>\\n<reason>", at evaluation."""
    heavy = kernel("heavy", "threadgroup float all[9000]; all[i] = x[i]; out[i] = all[7 - i];")
    y = run(heavy, X)[0]
    with pytest.raises(KernelLoadError, match="Unable to load kernel") as caught:
        mx.eval(y)
    assert "exceeds the maximum threadgroup memory allowed (32768)" in str(caught.value)
    assert works()


def test_too_many_threads_in_a_threadgroup():
    """Evaluation on Metal: "ValueError: Thread group size (2048) is greater than  the maximum
    allowed threads per threadgroup (1024)."
    """
    y = double(X, threadgroup=(2048, 1, 1))
    with pytest.raises(ValueError, match=r"Thread group size \(2048\) is greater than  the max"):
        mx.eval(y)
    with pytest.raises(KernelLaunchError):
        mx.eval(y)
    assert works()


def test_negative_sizes_of_a_launch():
    """Evaluation on Metal: "Negative products compare as huge unsigned values → same error", at
    evaluation.
    """
    y = double(X, threadgroup=(-1, 1, 1))
    with pytest.raises(KernelLaunchError):
        mx.eval(y)
    assert works()


def test_a_fault_is_raised_by_eval():
    """Evaluation on Metal: "GPU runtime faults: [METAL] Command buffer execution failed" become a
    RuntimeError of eval.
    """
    y = faulty(X)
    with pytest.raises(KernelMemoryError, match="`faulty`: `out` has 8 elements; thread"):
        mx.eval(y)
    assert works()


def test_a_fault_deep_in_a_graph():
    """Evaluation on Metal: one error for the evaluation, whoever depends on the kernel."""
    y = double(faulty(double(X)) + 1)
    with pytest.raises(KernelMemoryError, match="`faulty`"):
        mx.eval(y, X + 1)
    assert works()


def test_a_fault_after_async_eval_is_raised_where_the_program_waits():
    """async_eval: errors of work under way are raised by a later evaluation."""
    y = faulty(X)
    with pytest.raises(KernelMemoryError):  # from the first line only if the kernel is quick
        mx.async_eval(y)
        mx.synchronize()
    mx.synchronize()
    assert works()


def test_every_stream_that_waited_for_a_fault_raises_it():
    """Streams: "Evaluated operations on the same stream run in order": behind a fault, too."""
    first, second = mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)
    y = faulty(X, stream=first)
    mx.async_eval(double(y, stream=second))
    for stream in (second, first):  # the one that waits first: who raises an error forgets it
        with pytest.raises(KernelMemoryError, match="`faulty`: `out` has 8 elements"):
            mx.synchronize(stream)
    for stream in (first, second):
        assert double(X, stream=stream).tolist() == [2] * 8


def test_a_fault_while_kernels_behind_it_are_still_compiled():
    """Streams: a fault leaves nobody waiting, however early it comes."""
    first, second = mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)
    fresh = kernel("behind_a_fault", "out[i] = x[i] * 17 + 4;")
    y = run(fresh, faulty(X, stream=first), stream=second)[0]
    for _ in range(2):
        with pytest.raises(KernelMemoryError):
            mx.eval(y)
    assert run(fresh, X, stream=second)[0].tolist() == [21] * 8


def test_a_time_limit_ends_a_kernel(time_limit):
    """AnyMetal: ANYMETAL_TIME_LIMIT stops kernels, and eval raises KernelTimeoutError."""
    y = endless(X)
    with pytest.raises(KernelTimeoutError, match=r"`endless` ran longer than 0\.1 s"):
        mx.eval(y)
    with pytest.raises(TimeoutError):
        mx.eval(double(endless(X)))
    assert works()


def test_a_time_limit_ends_two_kernels_on_two_streams(time_limit):
    """AnyMetal: each launch has the time limit for itself."""
    first, second = mx.new_stream(mx.cpu), mx.new_stream(mx.cpu)
    y, z = endless(X, stream=first), endless(X, stream=second)
    mx.async_eval(y, z)
    for stream in (first, second):
        with pytest.raises(KernelTimeoutError):
            mx.synchronize(stream)
    assert works()


def test_errors_of_a_python_thread_are_raised_there():
    """Evaluation on Metal: errors surface "on the caller's thread"."""
    caught: list[BaseException] = []

    def work(function) -> None:
        try:
            mx.eval(function(mx.ones(8)))
        except Exception as error:
            caught.append(error)

    for function in (broken, faulty, double, faulty):
        thread = threading.Thread(target=work, args=[function])
        thread.start()
        thread.join()
    kinds = [type(error) for error in caught]
    assert kinds == [MetalCompileError, KernelMemoryError, KernelMemoryError]
    assert works()


def test_the_traceback_shows_the_evaluation():
    """Evaluation on Metal: an error belongs to the line that evaluates, not to the call."""
    y = broken(X)
    with pytest.raises(MetalCompileError) as caught:
        y.tolist()
    assert caught.traceback[0].frame.code.name == "test_the_traceback_shows_the_evaluation"
    assert caught.value.kernel == "broken"


def test_a_keyboard_interrupt_while_a_kernel_is_compiled(monkeypatch):
    """AnyMetal: Ctrl-C during the compilation of a kernel ends mx.eval; the next one compiles."""
    from anymetal.targets.cpu import plan

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    y = run(kernel("interrupted", "out[i] = x[i] + 40;"), X)[0]
    with monkeypatch.context() as patch:
        patch.setattr(plan, "code_of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mx.eval(y)
    assert y.tolist() == [41] * 8


def test_argument_errors_are_raised_by_the_call():
    """Custom Metal kernels: what is wrong with the arguments is said by the call itself."""
    with pytest.raises(ValueError, match="Expected `inputs` to have size 1 but got size 2"):
        run(kernel("double", "out[i] = 2 * x[i];"), X, X)
    with pytest.raises(ValueError, match="float64 is not supported on the GPU"):
        double(X, dtype=mx.float64)
