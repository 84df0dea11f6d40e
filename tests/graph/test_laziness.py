"""When kernels run, and when they do not."""

from __future__ import annotations

import pickle

import mlx.core as mx
import numpy as np
import pytest

from tests.graph.kernels import (
    Gate,
    Ticks,
    active_memory,
    broken,
    double,
    endless,
    kernel,
    run,
)


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture
def lazy(ticks: Ticks) -> mx.array:
    """Twelve small numbers from a kernel that has not run."""
    return ticks(mx.arange(12, dtype=mx.float32))


def test_a_call_computes_nothing(ticks, lazy):
    """Lazy Evaluation: "no computation actually happens. Instead a compute graph is recorded."""
    assert (lazy.shape, lazy.dtype) == ((12,), mx.float32)
    assert ticks.count == 0


def test_a_call_does_not_evaluate_its_inputs():
    """Lazy Evaluation: "no computation actually happens": nor that of the inputs."""
    ticks = Ticks()
    y = double(ticks(mx.ones(4)))
    assert ticks.count == 0
    mx.eval(y)
    assert ticks.count == 1


def test_eval_computes(ticks, lazy):
    """Lazy Evaluation: "The actual computation only happens if an eval() is performed."""
    mx.eval(lazy)
    assert ticks.count == 1
    assert lazy.tolist() == list(range(12))


def test_eval_of_a_tree(ticks):
    """eval: "Each argument can be a single array or a tree of arrays. ... Leaves which are not
    arrays are ignored."
    """
    tree = {"a": [ticks(mx.ones(4)), "text"], "b": (ticks(mx.ones(5)), {"c": ticks(mx.ones(6))})}
    mx.eval(tree, None, 3)
    assert ticks.count == 3


def test_what_is_evaluated_is_not_computed_again(ticks, lazy):
    """Lazy Evaluation: an evaluated array keeps its value."""
    for _ in range(3):
        mx.eval(lazy)
        lazy.tolist()
    mx.eval(lazy + 1, double(lazy))
    assert ticks.count == 1


def test_unused_results_are_never_computed():
    """Lazy Evaluation: "you do not need to worry as much about computing outputs that are never
    used."
    """
    x = mx.ones(8)

    def fun() -> tuple[mx.array, mx.array]:
        a = double(x)
        return a, broken(endless(a))  # either would be noticed

    y, _ = fun()
    assert y.tolist() == [2] * 8


def test_a_dead_kernel_costs_no_memory():
    """Lazy Evaluation: "lazy evaluation can be beneficial for saving memory"."""
    before = active_memory()
    dead = [double(mx.zeros((1 << 20,))) for _ in range(10)]
    assert mx.get_active_memory() - before < 1 << 20
    del dead


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(print, id="print"),
        pytest.param(str, id="str"),
        pytest.param(repr, id="repr"),
        pytest.param(np.array, id="numpy.array"),
        pytest.param(np.asarray, id="numpy.asarray"),
        pytest.param(memoryview, id="memoryview"),
        pytest.param(lambda y: y.tolist(), id="tolist"),
        pytest.param(lambda y: y[3].item(), id="item"),
        pytest.param(lambda y: bool((y < 20).all()), id="bool"),
        pytest.param(lambda y: int(y[3]), id="int"),
        pytest.param(lambda y: float(y.sum()), id="float"),
        pytest.param(pickle.dumps, id="pickle"),
        pytest.param(lambda y: [float(v) for v in y], id="iteration"),
        pytest.param(lambda y: y.__dlpack__(), id="dlpack"),
    ],
)
def test_looking_at_values_evaluates(ticks, lazy, look):
    """Lazy Evaluation: "Anytime you print an array, convert it to a numpy.ndarray, or otherwise
    access its memory via memoryview, the graph will be evaluated. ... Calling array.item() on a
    scalar array will also evaluate it."
    """
    look(lazy)
    assert ticks.count == 1


@pytest.mark.parametrize("save", [mx.save, lambda path, y: mx.savez(path, y=y)], ids=["npy", "npz"])
def test_saving_evaluates(ticks, lazy, tmp_path, save):
    """Lazy Evaluation: "Saving arrays via save() (or any other MLX saving functions) will also
    evaluate the array."
    """
    save(str(tmp_path / "y"), lazy)
    assert ticks.count == 1


def test_safetensors_evaluate(ticks, lazy, tmp_path):
    """Lazy Evaluation: the same of save_safetensors."""
    path = str(tmp_path / "y.safetensors")
    mx.save_safetensors(path, {"y": lazy})
    assert ticks.count == 1
    assert mx.load(path)["y"].tolist() == list(range(12))


def test_a_kernel_reads_what_is_loaded_lazily(lazy, tmp_path):
    """Lazy Evaluation: loaded weights are arrays that are not evaluated yet."""
    path = str(tmp_path / "y.npy")
    mx.save(path, lazy)
    assert double(mx.load(path)).tolist() == list(range(0, 24, 2))


def test_control_flow_evaluates(ticks, lazy):
    """Lazy Evaluation: "Using arrays for control-flow will cause an evaluation."""
    z = double(lazy) if lazy[0] == 0 else broken(lazy)
    assert ticks.count == 1
    assert z[1].item() == 2


def test_shape_dtype_and_size_do_not_evaluate(ticks, lazy):
    """Lazy Evaluation: what a graph knows without computing needs no evaluation."""
    assert (lazy.size, lazy.ndim, lazy.nbytes, len(lazy)) == (12, 1, 48, 12)
    assert lazy.reshape(3, 4).T.shape == (4, 3)
    assert ticks.count == 0


def test_partial_evaluation(ticks, lazy):
    """Lazy Evaluation: to look at the loss first is "a partial evaluation computing only the
    forward pass".
    """
    after = Ticks()
    y = after(lazy)
    lazy.tolist()
    assert (ticks.count, after.count) == (1, 0)
    mx.eval(y)
    assert (ticks.count, after.count) == (1, 1)


def test_shared_work_is_done_once(ticks, lazy):
    """Lazy Evaluation: a node of the graph runs once, however many use it."""
    mx.eval(lazy + 1, double(lazy), double(lazy) + lazy)
    assert ticks.count == 1


def test_thousands_of_kernels_in_one_graph():
    """Lazy Evaluation: "anything from a few tens of operations to many thousands of operations per
    eval should be okay."
    """
    x = mx.zeros((4,))
    for _ in range(3000):
        x = double(x) * 0.5 + 1
    assert x.tolist() == [3000] * 4


def test_a_kernel_in_the_middle_of_a_graph():
    """Custom Metal kernels: a kernel is an operation like any other."""
    x = mx.arange(6, dtype=mx.float32).reshape(2, 3)
    y = (double(x @ x.T) + 1).sum(axis=0)
    expected = (2 * (np.arange(6).reshape(2, 3) @ np.arange(6).reshape(2, 3).T) + 1).sum(0)
    assert y.tolist() == expected.tolist()


def test_several_outputs_run_the_kernel_once():
    """Custom Metal kernels: outputs are "a list"; one launch writes them all."""
    ticks = Ticks()
    both = kernel("both", "a[i] = x[i] + 1; b[i] = int(x[i]) - 1;", outputs=("a", "b"))
    a, b = run(both, ticks(mx.arange(5.0)), output_dtypes=[mx.float32, mx.int32])
    assert b.tolist() == [-1, 0, 1, 2, 3]
    assert a.tolist() == [1, 2, 3, 4, 5]
    assert (a.dtype, b.dtype, ticks.count) == (mx.float32, mx.int32, 1)


def test_an_output_that_nobody_keeps():
    """Custom Metal kernels: an output that is not used is written and forgotten."""
    both = kernel("both", "a[i] = x[i] + 1; b[i] = int(x[i]) - 1;", outputs=("a", "b"))
    before = active_memory()
    x = mx.arange(5.0)
    a = run(both, x, output_dtypes=[mx.float32, mx.int32])[0]
    assert a.tolist() == [1, 2, 3, 4, 5]
    del a, x
    assert active_memory() == before


def test_depends_orders_kernels():
    """depends: "The outputs are identical to inputs but with dependencies on dependencies."""
    first, second = Ticks(), Ticks()
    y = mx.depends(second(mx.ones(4)), first(mx.ones(4)))
    assert y.tolist() == [1] * 4
    assert (first.count, second.count) == (1, 1)


def test_async_eval_returns_before_the_kernel_has_run():
    """async_eval: "Asynchronously evaluate an array or tree of array."""
    gate = Gate()
    y = gate(mx.ones(8))
    z = double(y)
    mx.async_eval(y)
    mx.async_eval([z, {"y": y}])
    gate.open()
    assert z.tolist() == [2] * 8
    assert y.tolist() == [1] * 8


def test_async_eval_runs_without_being_asked_again():
    """async_eval: the computation is under way when it returns."""
    ticks = Ticks()
    y = ticks(mx.ones(8))
    mx.async_eval(y)
    mx.synchronize()
    assert ticks.count == 1
    del y


def test_what_async_eval_works_on_may_be_let_go():
    """async_eval: arrays live as long as a running kernel needs them."""
    before = active_memory()
    gate, stream = Gate(), mx.new_stream(mx.cpu)
    x = mx.ones((1 << 16,))
    mx.eval(x)
    mx.async_eval(gate(x, stream=stream))
    del x
    others = [mx.full((1 << 16,), 3.0) for _ in range(4)]  # would get memory that was freed
    mx.eval(others)
    gate.open()
    mx.synchronize(stream)
    assert all((other == 3).all().item() for other in others)
    del others, gate
    assert active_memory() == before
