"""Derivatives and batches of kernels: errors without rules, custom_function, nn, optimisers."""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
import pytest

from tests.graph.kernels import Ticks, double, endless, kernel, minus_sin, run

X = mx.arange(8, dtype=mx.float32)
_multiply = kernel("multiply", "out[i] = x[i] * y[i];", ("x", "y"))
_fma = kernel("fma", "out[i] = x[i] * y[i] + z[i];", ("x", "y", "z"))


def multiply(x: mx.array, y: mx.array) -> mx.array:
    return run(_multiply, x, y)[0]


def close(a: mx.array, b: mx.array) -> bool:
    return a.shape == b.shape and mx.allclose(a, b, rtol=1e-5, atol=1e-6).item()


def with_vjp():
    """x · y with the derivative as a kernel of its own."""
    product = mx.custom_function(multiply)

    @product.vjp
    def vjp(primals, cotangent, _):
        x, y = primals
        return multiply(cotangent, y), multiply(cotangent, x)

    return product


# ---- Without rules


@pytest.mark.parametrize(
    ("name", "transformed"),
    [
        ("vjp", lambda: mx.grad(lambda x: double(x).sum())(X)),
        ("vjp", lambda: mx.value_and_grad(lambda x: double(x).sum())(X)),
        ("vjp", lambda: mx.vjp(double, [X], [X])),
        ("vjp", lambda: mx.compile(mx.grad(lambda x: double(x).sum()))(X)),
        ("jvp", lambda: mx.jvp(double, [X], [X])),
        ("vmap", lambda: mx.vmap(double)(mx.ones((2, 8)))),
        ("vmap", lambda: mx.vmap(double, in_axes=1)(mx.ones((8, 2)))),
    ],
    ids=["grad", "value_and_grad", "vjp", "compiled grad", "jvp", "vmap", "vmap of columns"],
)
def test_transformations_without_a_rule(name, transformed):
    """Function transforms of a kernel: "ValueError: [Primitive::vjp] Not implemented for
    CustomKernel.", and the like for jvp and vmap.
    """
    with pytest.raises(ValueError) as caught:
        mx.eval(transformed())
    assert str(caught.value) == f"[Primitive::{name}] Not implemented for CustomKernel."


def test_gradients_that_do_not_pass_through_the_kernel():
    """Function transforms: only what depends on the arguments is differentiated."""
    y = double(X)
    gradient = mx.grad(lambda x: (x * y).sum())(X)
    assert gradient.tolist() == y.tolist()


def test_stop_gradient():
    """stop_gradient: "The operation is the identity but it prevents gradients from flowing"."""
    gradient = mx.grad(lambda x: (x * mx.stop_gradient(double(x))).sum())(X)
    assert gradient.tolist() == [2 * i for i in range(8)]


def test_a_vmapped_function_with_a_kernel_beside():
    """vmap: what is not mapped is computed once."""
    y = double(X)
    assert mx.vmap(lambda x: x + y)(mx.ones((3, 8))).tolist() == [[2 * i + 1 for i in range(8)]] * 3


# ---- custom_function: vjp


def test_a_custom_function_without_rules_is_the_function():
    """custom_function: "Instances are callables that behave identically to the wrapped function."""
    assert mx.custom_function(double)(X).tolist() == double(X).tolist()


def test_a_vjp_rule():
    """custom_function: "functions defined via custom_function.vjp ... are used instead of the
    default transformation".
    """
    x, y = mx.random.normal((2, 33))
    product = with_vjp()
    gradients = mx.grad(lambda x, y: product(x, y).sum(), argnums=(0, 1))(x, y)
    assert close(gradients[0], y) and close(gradients[1], x)


def test_value_and_grad():
    """Function transforms: value_and_grad computes the forward pass once."""
    ticks = Ticks()
    fun = mx.custom_function(ticks)
    fun.vjp(lambda x, cotangent, _: double(cotangent))
    value, gradient = mx.value_and_grad(lambda x: fun(x).sum())(X)
    assert (value.item(), gradient.tolist()) == (28, [2] * 8)
    assert ticks.count == 1


def test_the_forward_kernel_is_dropped_where_only_the_gradient_is_used():
    """Lazy Evaluation: the forward kernel is not computed if the gradient does not need it."""
    fun = mx.custom_function(endless)
    fun.vjp(lambda x, cotangent, _: double(cotangent))
    assert mx.grad(lambda x: fun(x).sum())(X).tolist() == [2] * 8


def test_a_single_argument_arrives_bare():
    """custom_function: primals are "the single positional argument itself if the call had exactly
    one", and so are outputs and cotangents.
    """
    seen = []
    fun = mx.custom_function(double)

    @fun.vjp
    def vjp(primals, cotangents, outputs):
        seen.extend([primals, cotangents, outputs])
        return double(cotangents)

    mx.eval(mx.vjp(fun, [X], [X + 1]))
    assert all(isinstance(each, mx.array) for each in seen)
    assert seen[1].tolist() == (X + 1).tolist()
    assert seen[2].tolist() == double(X).tolist()


def test_several_arguments_some_no_arrays():
    """custom_function: else "the tuple of positional arguments; non-array positionals are kept in
    place".
    """
    scale = kernel("scaled", "out[i] = x[i] * N + y[i];", ("x", "y"))

    @mx.custom_function
    def fun(x, n, y):
        return run(scale, x, y, template=[("N", n)])[0]

    @fun.vjp
    def vjp(primals, cotangent, _):
        _x, n, _y = primals
        assert n == 3
        return n * cotangent, cotangent

    gradients = mx.grad(lambda x, y: fun(x, 3, y).sum(), argnums=(0, 1))(X, X)
    assert [g.tolist() for g in gradients] == [[3] * 8, [1] * 8]


def test_keyword_arguments():
    """custom_function: "Keyword arguments arrive as keyword arguments of the rule"."""
    fun = mx.custom_function(lambda x, y: multiply(x, y))

    @fun.vjp
    def vjp(x, cotangent, _, *, y):
        return multiply(cotangent, y), multiply(cotangent, x)

    def loss(x, y):
        return fun(x, y=y).sum()

    gradients = mx.grad(loss, argnums=(0, 1))(X, X + 1)
    assert [g.tolist() for g in gradients] == [(X + 1).tolist(), X.tolist()]


@pytest.mark.parametrize("kind", [tuple, list])
def test_several_outputs_of_a_rule(kind):
    """custom_function: cotangents have "the same pytree as the function's return value"; "Outputs
    not used downstream have zero cotangents".
    """
    both = kernel("sum_product", "s[i] = x[i] + y[i]; p[i] = x[i] * y[i];", ("x", "y"), ("s", "p"))
    fun = mx.custom_function(lambda x, y: kind(run(both, x, y)))

    @fun.vjp
    def vjp(primals, cotangents, outputs):
        (x, y), (ds, dp) = primals, cotangents
        assert isinstance(cotangents, kind) and len(outputs) == 2
        return run(_fma, dp, y, ds)[0], run(_fma, dp, x, ds)[0]

    x, y = X, X + 2
    for which, expected in ((0, (mx.ones(8), mx.ones(8))), (1, (y, x))):
        gradients = mx.grad(lambda x, y, w=which: fun(x, y)[w].sum(), argnums=(0, 1))(x, y)
        assert [g.tolist() for g in gradients] == [e.tolist() for e in expected]


def test_a_dictionary_as_output():
    """custom_function: outputs may be any tree of arrays."""
    fun = mx.custom_function(lambda x: {"twice": double(x), "same": [x + 0]})
    fun.vjp(lambda x, cotangent, _: double(cotangent["twice"]) + cotangent["same"][0])

    def loss(x):
        result = fun(x)
        return result["twice"].sum() + 10 * result["same"][0].sum()

    assert mx.grad(loss)(X).tolist() == [12] * 8


def test_a_tree_as_input():
    """custom_function: so may inputs, "in the flatten order"."""
    fun = mx.custom_function(lambda tree: multiply(tree["a"], tree["b"][0]))

    @fun.vjp
    def vjp(tree, cotangent, _):
        return {
            "a": multiply(cotangent, tree["b"][0]),
            "b": [multiply(cotangent, tree["a"])],
        }

    gradient = mx.grad(lambda tree: fun(tree).sum())({"a": X, "b": [X + 1]})
    assert gradient["a"].tolist() == (X + 1).tolist()
    assert gradient["b"][0].tolist() == X.tolist()


def test_captured_arrays_have_no_gradient():
    """custom_function: "any variables captured will be treated as constants and no gradients will
    be computed with respect to the captured arrays."
    """

    def fun(x, y):
        inner = mx.custom_function(lambda x: multiply(x, y))
        inner.vjp(lambda x, cotangent, _: multiply(cotangent, y))
        return inner(x).sum()

    assert mx.grad(fun, argnums=0)(X, X + 1).tolist() == (X + 1).tolist()
    assert mx.grad(fun, argnums=1)(X, X + 1).tolist() == [0] * 8


def test_an_exception_in_a_rule():
    """custom_function: "Exceptions in the rule propagate unchanged"."""
    fun = mx.custom_function(double)

    @fun.vjp
    def vjp(*_):
        raise LookupError("in the rule")

    with pytest.raises(LookupError, match="in the rule"):
        mx.grad(lambda x: fun(x).sum())(X)


def test_second_derivatives():
    """custom_function: "Second order works when the rule is differentiable"."""
    product = with_vjp()  # its rule calls the kernel itself ...
    square = mx.custom_function(lambda x: multiply(x, x))
    square.vjp(lambda x, cotangent, _: 2 * product(cotangent, x))  # ... this one, what has a rule
    first = mx.grad(lambda x: square(x).sum())
    second = mx.grad(lambda x: first(x).sum())
    assert first(X).tolist() == (2 * X).tolist()
    assert second(X).tolist() == [2] * 8


def test_a_rule_that_is_missing():
    """custom_function: "Undefined transformations fall back to the default behaviour"."""
    fun = with_vjp()
    with pytest.raises(ValueError, match=r"^\[Primitive::jvp\] Not implemented for CustomKernel"):
        mx.eval(mx.jvp(fun, [X, X], [X, X]))


# ---- custom_function: jvp and vmap


def test_a_jvp_rule():
    """custom_function: jvp rules get "primals and tangents" and return the outputs' tangents."""
    sine = mx.custom_function(lambda x: -minus_sin(x))
    sine.jvp(lambda x, tangent: multiply(mx.cos(x), tangent))
    values, tangents = mx.jvp(sine, [X], [X + 1])
    assert close(values[0], mx.sin(X)) and close(tangents[0], mx.cos(X) * (X + 1))


def test_a_jvp_rule_of_two_arguments():
    """custom_function: "tangents mirrors the positional structure"."""
    product = mx.custom_function(multiply)

    @product.jvp
    def jvp(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return run(_fma, x, dy, multiply(dx, y))[0]

    x, y = X, X + 3
    _, (tangent,) = mx.jvp(product, [x, y], [mx.ones(8), 2 * mx.ones(8)])
    assert tangent.tolist() == (y + 2 * x).tolist()


def test_a_vmap_rule():
    """custom_function: a vmap rule returns "a tuple with 2 items", outputs and axes."""
    seen = []
    fun = mx.custom_function(double)

    @fun.vmap
    def vmap(x, axis):
        seen.append(axis)
        return double(x), axis

    x = mx.arange(24.0).reshape(4, 6)
    assert mx.vmap(fun)(x).tolist() == (2 * x).tolist()
    assert mx.vmap(fun, in_axes=1, out_axes=1)(x).tolist() == (2 * x).tolist()
    assert seen == [0, 1]


def test_a_vmap_rule_of_what_is_not_mapped():
    """custom_function: "Axis is int or None (unmapped)"."""
    product = mx.custom_function(multiply)

    @product.vmap
    def vmap(inputs, axes):
        (x, y), (ax, ay) = inputs, axes
        assert (ax, ay) == (0, None)
        return multiply(x, mx.broadcast_to(y, x.shape)), 0

    x, y = mx.random.normal((5, 8)), mx.random.normal((8,))
    assert close(mx.vmap(product, in_axes=(0, None))(x, y), x * y)


def test_a_wrong_vmap_rule():
    """custom_function: "[custom vmap] Vmap function should return a tuple with 2 items."""
    fun = mx.custom_function(double)
    fun.vmap(lambda x, axis: double(x))
    with pytest.raises(ValueError, match="return a tuple with 2 items"):
        mx.vmap(fun)(mx.ones((2, 8)))


def test_vmap_of_a_gradient():
    """Function transforms: "Any of the MLX function transformations can be composed in any order to
    any depth."
    """

    def mapped(function):
        fun = mx.custom_function(function)
        fun.vmap(lambda x, axis: (function(x), axis))
        return fun

    sine = mx.custom_function(mapped(lambda x: -minus_sin(x)))
    sine.vjp(lambda x, cotangent, _: cotangent * mx.cos(x))
    sine.vmap(lambda x, axis: (-minus_sin(x), axis))
    x = mx.random.normal((3, 8))
    per_row = mx.vmap(mx.grad(lambda row: sine(row).sum()))
    assert close(per_row(x), mx.cos(x))
    assert close(mx.compile(per_row)(x), mx.cos(x))


# ---- checkpoint, modules, optimisers


def test_checkpoint_recomputes():
    """checkpoint: "A callable that recomputes intermediate states during gradient computation."""
    ticks = Ticks()
    fun = mx.custom_function(ticks)
    fun.vjp(lambda x, cotangent, _: cotangent)

    def loss(x):
        return (mx.exp(fun(x) / 8) * 2).sum()

    expected = mx.grad(loss)(X)
    mx.eval(expected)
    once = ticks.count
    value, gradient = mx.value_and_grad(mx.checkpoint(loss))(X)
    mx.eval(value, gradient)
    assert close(gradient, expected)
    assert ticks.count == once + 2


class Snake(nn.Module):
    """x + sin²(ax) / a as one kernel each way; a is a parameter."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.a = mx.ones((features,))
        forward = kernel(
            "snake",
            "float a = rate[i % rate_shape[0]], s = metal::sin(a * x[i]); out[i] = x[i] + s*s/a;",
            ("x", "rate"),
        )
        backward = kernel(
            "snake_vjp",
            "float a = rate[i % rate_shape[0]], s = metal::sin(a * x[i]);"
            "float w = metal::sin(2 * a * x[i]);"
            "dx[i] = dy[i] * (1 + w); da[i] = dy[i] * (x[i] * w - s * s / a) / a;",
            ("x", "rate", "dy"),
            ("dx", "da"),
        )
        self._snake = mx.custom_function(lambda x, a: run(forward, x, a)[0])

        @self._snake.vjp
        def vjp(primals, cotangent, _):
            x, a = primals
            dx, da = run(backward, x, a, cotangent)
            return dx, da.reshape(-1, a.size).sum(0)

    def __call__(self, x: mx.array) -> mx.array:
        return self._snake(x, self.a)


def snake(x: mx.array, a: mx.array) -> mx.array:
    return x + mx.square(mx.sin(a * x)) / a


def test_kernels_in_modules():
    """Function transforms: nn.value_and_grad takes derivatives by a module's parameters."""
    layer = Snake(6)
    layer.a = mx.random.uniform(0.5, 2, (6,))
    x = mx.random.normal((5, 6))
    loss, gradients = nn.value_and_grad(layer, lambda x: mx.square(layer(x)).sum())(x)

    def reference(a):
        return mx.square(snake(x, a)).sum()

    expected, gradient = mx.value_and_grad(reference)(layer.a)
    assert np.isclose(loss.item(), expected.item(), rtol=1e-5)
    assert mx.allclose(gradients["a"], gradient, rtol=1e-4, atol=1e-5).item()


@pytest.mark.parametrize("optimizer", [optim.SGD(0.01, momentum=0.9), optim.Adam(0.01)])
def test_optimisers(optimizer):
    """Lazy Evaluation: "optimizer.update(model, grad)" evaluates nothing; the parameters
    then follow the same path as with MLX's operations.
    """

    def train(layer: nn.Module) -> list[float]:
        mx.random.seed(5)
        model = nn.Sequential(nn.Linear(3, 8), layer, nn.Linear(8, 1))
        x, y = mx.random.normal((20, 3)), mx.random.normal((20, 1))
        step = nn.value_and_grad(model, lambda x, y: mx.square(model(x) - y).mean())
        fresh = type(optimizer)(0.01)
        losses = []
        for _ in range(10):
            loss, gradients = step(x, y)
            fresh.update(model, gradients)
            mx.eval(model.parameters(), fresh.state)
            losses.append(loss.item())
        return losses

    class Operations(Snake):
        def __call__(self, x: mx.array) -> mx.array:
            return snake(x, self.a)

    ours, theirs = train(Snake(8)), train(Operations(8))
    assert ours[-1] < ours[0]
    assert np.allclose(ours, theirs, rtol=1e-4)


def test_a_frozen_parameter():
    """Function transforms: frozen parameters take no part in nn.value_and_grad."""
    layer = Snake(4)
    layer.freeze()
    model = nn.Sequential(nn.Linear(4, 4), layer)
    _, gradients = nn.value_and_grad(model, lambda x: model(x).sum())(mx.ones((2, 4)))
    assert set(gradients["layers"][0]) == {"weight", "bias"} and not gradients["layers"][1]
