"""Kernels inside of functions that MLX compiles."""

from __future__ import annotations

import gc
from functools import partial

import mlx.core as mx
import pytest

import anymetal
from anymetal.errors import KernelMemoryError, MetalCompileError
from tests.graph.kernels import (
    Ticks,
    active_memory,
    broken,
    double,
    faulty,
    kernel,
    minus_sin,
    run,
)

X = mx.arange(8, dtype=mx.float32)
DOUBLED = [2 * i for i in range(8)]


def test_compiled_and_regular_calls_agree():
    """Compilation: "The output of both the regular function and the compiled function is the same
    up to numerical precision."
    """

    def fun(x, y):
        return mx.exp(-double(x)) + minus_sin(y)

    x, y = mx.random.normal((2, 33))
    assert mx.allclose(mx.compile(fun)(x, y), fun(x, y), atol=1e-6).item()


def test_a_compiled_function_is_lazy():
    """Lazy Evaluation: a call of a compiled function computes nothing either."""
    ticks = Ticks()
    y = mx.compile(ticks)(X)
    assert ticks.count == 0
    assert y.tolist() == X.tolist()
    assert ticks.count == 1


def test_traced_once():
    """Compilation: "calling a compiled function multiple times will not initiate a new
    compilation."
    """
    traces = []

    @mx.compile
    def fun(x):
        traces.append(x.shape)
        return double(x)

    for i in range(5):
        assert fun(X + i).tolist() == [2 * (v + i) for v in range(8)]
    assert traces == [(8,)]


def test_what_the_launch_is_like_is_decided_while_tracing():
    """Compilation: "traced with placeholder inputs": grid and template are those of the trace."""
    fill = kernel("fill", "if (i < threads_per_grid.x) out[i] = x[i] + N;")
    threads, number = 3, 10

    @mx.compile
    def fun(x):
        launch = {"grid": (threads, 1, 1), "template": [("N", number)], "init_value": -1}
        return run(fill, x, **launch)[0]

    expected = [10, 11, 12, -1, -1, -1, -1, -1]
    assert fun(X).tolist() == expected
    threads, number = 8, 20
    assert fun(X).tolist() == expected
    assert fun(mx.arange(9.0)).tolist() == [20 + i for i in range(8)] + [-1]


@pytest.mark.parametrize(
    "other",
    [mx.ones((9,)), mx.ones((2, 4)), mx.ones((8,), mx.int32), mx.array(1.0)],
    ids=["shape", "dimensions", "type", "scalar"],
)
def test_other_inputs_are_traced_again(other):
    """Compilation: "cases ... that can cause a function to be recompiled: Changing the shape or
    number of dimensions. Changing the type of any of the inputs".
    """
    traces = []

    @mx.compile
    def fun(x):
        traces.append(x.shape)
        return double(x.reshape(-1), dtype=x.dtype)

    assert fun(X).tolist() == DOUBLED
    assert fun(other).tolist() == [2] * other.size
    assert fun(X).tolist() == DOUBLED
    assert len(traces) == 2


def test_the_number_of_inputs():
    """Compilation: "Changing the number of inputs to the function" traces again."""
    fun = mx.compile(lambda *xs: [double(x) for x in xs])
    assert [y.tolist() for y in fun(X)] == [DOUBLED]
    assert [y.tolist() for y in fun(X, X + 1)] == [DOUBLED, [v + 2 for v in DOUBLED]]


def test_kernels_are_not_merged():
    """Compilation: "merging common work" leaves kernels alone: two equal calls are two launches."""
    ticks = Ticks()
    fun = mx.compile(lambda x: ticks(x) + ticks(x))
    assert fun(X).tolist() == DOUBLED
    assert ticks.count == 2


def test_kernels_are_not_fused():
    """Compilation: "fusing certain operations" fuses around a kernel, not across it."""
    ticks = Ticks()

    @mx.compile
    def fun(x):
        return mx.exp(ticks(mx.exp(x * 0) * 2 + 1) - 3) * 5

    for number in range(1, 4):
        assert fun(X).tolist() == [5] * 8
        assert ticks.count == number


def test_unused_outputs_of_a_compiled_function():
    """Compilation: an output of a compiled function that nobody uses is not computed ... unless it
    comes out of the same kernel.
    """
    ticks = Ticks()
    fun = mx.compile(lambda x: (double(x), ticks(x)))
    y, _ = fun(X)
    assert y.tolist() == DOUBLED
    assert ticks.count == 0


def test_dead_kernels_of_a_trace():
    """Compilation: "Function compilation results in smaller graphs": what is not returned is not
    in the graph.
    """

    @mx.compile
    def fun(x):
        faulty(x)
        broken(x)
        return double(x)

    assert fun(X).tolist() == DOUBLED
    assert fun(X + 1).tolist() == [v + 2 for v in DOUBLED]


def test_some_outputs_of_a_kernel():
    """Compilation: a kernel with several outputs of which only one is returned."""
    three = kernel("three", "a[i] = x[i]; b[i] = -x[i]; c[i] = int(x[i]);", outputs=("a", "b", "c"))

    @mx.compile
    def fun(x):
        return run(three, x, output_dtypes=[mx.float32, mx.float16, mx.int32])[1] * 2

    for _ in range(3):
        assert fun(X).tolist() == [-v for v in DOUBLED]


def test_shapeless_compilation_is_refused():
    """Custom Metal kernels under shapeless compilation: "[Primitive::output_shapes] CustomKernel
    cannot infer output shapes."
    """
    with pytest.raises(ValueError) as caught:
        mx.compile(double, shapeless=True)(X)
    assert (
        str(caught.value) == "[Primitive::output_shapes] CustomKernel cannot infer output shapes."
    )


def test_evaluating_a_placeholder():
    """Compilation: "you can't evaluate arrays (for example to print their contents) inside compiled
    functions": "[eval] Attempting to eval an array during function transformations ..."
    """

    @mx.compile
    def fun(x):
        y = double(x)
        print(y)
        return y

    text = (
        "[eval] Attempting to eval an array during function transformations like compile or vmap "
        "is not allowed."
    )
    with pytest.raises(ValueError) as caught:
        fun(X)
    assert str(caught.value) == text


def test_compilation_can_be_disabled():
    """Compilation: with disable_compile "the following is okay even though fun is compiled"."""
    seen = []

    @mx.compile
    def fun(x):
        y = double(x)
        seen.append(y.tolist())
        return y

    mx.disable_compile()
    try:
        assert fun(X).tolist() == DOUBLED
    finally:
        mx.enable_compile()
    assert seen == [DOUBLED]


def test_captured_arrays_are_constants():
    """Compilation: "Compiled functions will also treat any inputs not in the parameter list as
    constants."
    """
    state = [mx.array([1.0])]
    fun = mx.compile(lambda x: double(x) + double(state[0]))
    assert fun(X).tolist() == [v + 2 for v in DOUBLED]
    state[0] = mx.array([5.0])
    assert fun(X).tolist() == [v + 2 for v in DOUBLED]


def test_captured_inputs():
    """Compilation: inputs="..." "Tell compile to capture state as an input"."""
    state = [mx.array([1.0])]
    fun = partial(mx.compile, inputs=state)(lambda x: double(x) + double(state[0]))
    assert fun(X).tolist() == [v + 2 for v in DOUBLED]
    state[0] = mx.array([5.0])
    assert fun(X).tolist() == [v + 10 for v in DOUBLED]


def test_captured_outputs():
    """Compilation: outputs="..." "Tell compile to capture state as an output"."""
    state: list[mx.array] = []

    @partial(mx.compile, outputs=state)
    def fun(x):
        state.append(double(x))
        return minus_sin(x * 0)

    fun(X)
    assert state[0].tolist() == DOUBLED


def test_state_that_is_input_and_output():
    """Compilation: "an update to a container of arrays, as is commonly done when training"."""
    state = {"sum": mx.zeros((8,)), "steps": mx.array(0)}

    @partial(mx.compile, inputs=state, outputs=state)
    def fun(x):
        state["sum"] = state["sum"] + double(x)
        state["steps"] = state["steps"] + 1
        return state["sum"].sum()

    for number in range(1, 6):
        assert fun(X).item() == number * sum(DOUBLED)
    assert state["steps"].item() == 5
    assert state["sum"].tolist() == [5 * v for v in DOUBLED]


def test_random_state():
    """Compilation: "make sure you also include mx.random.state in the state captured"."""

    @partial(mx.compile, inputs=mx.random.state, outputs=mx.random.state)
    def fun():
        return double(mx.random.uniform(shape=(8,)))

    mx.random.seed(3)
    first, second = fun().tolist(), fun().tolist()
    mx.random.seed(3)
    again = (2 * mx.random.uniform(shape=(8,))).tolist()
    assert first == again
    assert first != second


def test_a_kernel_of_constants():
    """Compilation: a kernel whose inputs are no inputs of the function runs in each call."""
    ticks = Ticks()
    constant = mx.arange(8.0)
    fun = mx.compile(lambda x: x + ticks(constant))
    for number in range(1, 4):
        assert fun(X).tolist() == DOUBLED
        assert ticks.count <= number
    assert ticks.count >= 1


def test_a_kernel_without_inputs():
    """Compilation: so does a kernel that has no inputs at all."""
    count = kernel("count", "out[i] = i * 1.5f;", inputs=())
    fun = mx.compile(lambda x: x + run(count, shape=(8,))[0])
    for _ in range(2):
        assert fun(X).tolist() == [2.5 * i for i in range(8)]


def test_python_numbers_inside():
    """Compilation: a Python number is a constant of the trace."""
    scale = kernel("scale", "out[i] = x[i] * factor + float(flag);", ("x", "factor", "flag"))
    factor = 3.0
    fun = mx.compile(lambda x: run(scale, x, factor, True)[0])
    assert fun(X).tolist() == [3 * i + 1 for i in range(8)]
    factor = 4.0
    assert fun(X).tolist() == [3 * i + 1 for i in range(8)]


def test_python_numbers_as_arguments():
    """Compilation: arguments that are no arrays are part of what decides about tracing again."""
    fun = mx.compile(lambda x, n: double(x) + n)
    assert fun(X, 1).tolist() == [v + 1 for v in DOUBLED]
    assert fun(X, 2).tolist() == [v + 2 for v in DOUBLED]


def test_arguments_may_be_trees():
    """compile: "A function which takes a variable number of array or trees of array"."""
    fun = mx.compile(lambda tree: {"a": double(tree["x"][0]), "b": [minus_sin(tree["x"][1])]})
    result = fun({"x": [X, X * 0]})
    assert result["a"].tolist() == DOUBLED
    assert result["b"][0].tolist() == [0] * 8


def test_compiled_functions_inside_compiled_functions():
    """Compilation: "You can also compile functions which themselves call compiled functions."""
    inner = mx.compile(lambda x: double(x) + 1)
    outer = mx.compile(lambda x: inner(inner(x)))
    assert outer(X).tolist() == [4 * i + 3 for i in range(8)]


def test_a_kernel_that_runs_first_inside_a_compiled_function():
    """Compilation: it does not matter who calls a kernel first."""
    fresh = kernel("inside_first", "out[i] = x[i] - 11;")
    assert mx.compile(lambda x: run(fresh, x)[0])(X).tolist() == [i - 11 for i in range(8)]
    assert run(fresh, X)[0].tolist() == [i - 11 for i in range(8)]


def test_compile_errors_come_at_evaluation():
    """Evaluation on Metal: inside a compiled function, too, errors "surface at evaluation"."""
    fun = mx.compile(lambda x: double(broken(x)))
    for _ in range(2):
        y = fun(X)
        with pytest.raises(MetalCompileError, match="nonsense"):
            mx.eval(y)
    assert mx.compile(double)(X).tolist() == DOUBLED


def test_faults_inside_a_compiled_function():
    """Evaluation on Metal: a fault, too; the function works on."""
    which = kernel("which", "out[x[i] > 0 ? (1l << 45) + i : i] = x[i];")
    fun = mx.compile(lambda x: run(which, x)[0] + 1)
    assert fun(X * 0).tolist() == [1] * 8
    with pytest.raises(KernelMemoryError):
        mx.eval(fun(X))
    assert fun(X * 0).tolist() == [1] * 8


def test_an_exception_while_tracing():
    """Compilation: an exception of the function is the caller's; the next call traces anew."""
    fail = True

    @mx.compile
    def fun(x):
        y = double(x)
        if fail:
            raise KeyError("while tracing")
        return y

    with pytest.raises(KeyError, match="while tracing"):
        fun(X)
    fail = False
    assert fun(X).tolist() == DOUBLED


def test_a_wrong_call_while_tracing():
    """Custom Metal kernels: what is wrong with the arguments is said while tracing."""

    @mx.compile
    def fun(x):
        return double(x, dtype=mx.float64)

    with pytest.raises(ValueError, match="float64 is not supported on the GPU"):
        fun(X)


def test_streams_inside():
    """Compilation: operations stay on the streams on which they were traced."""
    stream = mx.new_stream(mx.cpu)
    fun = mx.compile(lambda x: double(double(x, stream=stream) + 1))
    for _ in range(3):
        assert fun(X).tolist() == [4 * i + 2 for i in range(8)]


def test_many_calls_in_flight():
    """async_eval: compiled functions may be under way many times at once."""
    fun = mx.compile(lambda x: double(minus_sin(x) * 0 + x))
    results = []
    for i in range(100):
        results.append(fun(X + i))
        mx.async_eval(results[-1])
    for i, result in enumerate(results):
        assert result.tolist() == [2 * (v + i) for v in range(8)]


def test_a_compiled_gradient():
    """Compilation: "Compiling transformed functions works just as expected"."""
    sine = mx.custom_function(lambda x: -minus_sin(x))
    sine.vjp(lambda x, cotangent, _: cotangent * mx.cos(x))
    gradient = mx.grad(lambda x: sine(x).sum())
    x = mx.random.normal((50,))
    assert mx.allclose(mx.compile(gradient)(x), gradient(x), atol=1e-6).item()
    assert mx.allclose(gradient(x), mx.cos(x), atol=1e-6).item()


def test_the_gradient_of_a_compiled_function():
    """Compilation: "a transformation of a compiled function will not by default be compiled"."""
    sine = mx.custom_function(lambda x: -minus_sin(x))
    sine.vjp(lambda x, cotangent, _: cotangent * mx.cos(x))
    compiled = mx.compile(lambda x: sine(x).sum())
    x = mx.random.normal((50,))
    assert mx.allclose(mx.grad(compiled)(x), mx.cos(x), atol=1e-6).item()


def test_shapeless_with_a_rule():
    """custom_function: shapeless, "CustomTransforms cannot infer output shapes"."""
    fun = mx.custom_function(double)
    fun.vjp(lambda x, cotangent, _: double(cotangent))
    with pytest.raises(ValueError, match="cannot infer output shapes"):
        mx.compile(fun, shapeless=True)(X)


def test_strided_inputs_inside():
    """Compilation: a kernel sees the layout that its input has in the call at hand."""
    fun = mx.compile(lambda x: double(x))
    x = mx.arange(24.0).reshape(4, 6)
    for given in (x, x.T.reshape(6, 4).T, x[:, ::-1][:, ::-1], mx.contiguous(x.T).T):
        assert fun(given).tolist() == (2 * given).tolist()


def test_constants_of_a_trace_are_freed_with_it():
    """Compilation: what a compiled function captured lives as long as the function."""
    before = active_memory()

    def make():
        constant = mx.ones((1000,))
        return mx.compile(lambda x: double(x) + constant)

    fun = make()
    mx.eval(fun(mx.ones((1000,))))
    del fun
    gc.collect()
    mx.compile(lambda x: x + 1)(mx.ones(1))
    assert active_memory() - before <= 64


def test_a_kernel_can_be_made_inside():
    """Compilation: a kernel object that is made while tracing outlives the trace's locals."""

    @mx.compile
    def fun(x):
        local = anymetal.metal_kernel(
            "local", ["x"], ["out"], "uint i = thread_position_in_grid.x; out[i] = x[i] / 2;"
        )
        return run(local, x)[0]

    for _ in range(2):
        assert fun(X).tolist() == [i / 2 for i in range(8)]
        gc.collect()
