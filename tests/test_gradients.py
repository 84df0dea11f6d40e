"""`anymetal.differentiable`: kernels that are paired with the kernel of their gradient."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers
import pytest

import anymetal
from anymetal.testing.gradients import check_grads

INDEX = "uint i = thread_position_in_grid.x; "


def kernel(
    name: str, inputs: Sequence[str], outputs: Sequence[str], body: str, **options: Any
) -> Any:
    return anymetal.metal_kernel(name, list(inputs), list(outputs), INDEX + body, **options)


def run(function: Any, *inputs: Any, **call: Any) -> Any:
    """A call with outputs like the first input; one output comes without a list."""
    shape, dtype = inputs[0].shape, inputs[0].dtype
    count = call.pop("count", 1)
    results = function(
        inputs=list(inputs),
        **{
            "output_shapes": [shape] * count,
            "output_dtypes": [dtype] * count,
            "grid": (math.prod(shape), 1, 1),
            "threadgroup": (32, 1, 1),
            **call,
        },
    )
    return results[0] if count == 1 else results


def normal(*shape: int, seed: int = 0) -> mx.array:
    return mx.random.normal(shape, key=mx.random.key(seed))


def close(found: Any, expected: Any, **tolerance: float) -> bool:
    pairs = zip(found, expected, strict=True)
    return all(
        mx.allclose(a, b, **{"rtol": 1e-5, "atol": 1e-6, **tolerance}).item() for a, b in pairs
    )


PRODUCT = kernel("product", ["x", "w"], ["y"], "y[i] = x[i] * w[i];", vmap="batch")
PRODUCT_BACKWARD = kernel(
    "product_backward",
    ["x", "w", "y_grad"],
    ["x_grad", "w_grad"],
    "x_grad[i] = y_grad[i] * w[i]; w_grad[i] = y_grad[i] * x[i];",
    vmap="batch",
)
product = anymetal.differentiable(PRODUCT, PRODUCT_BACKWARD)


def gradients(function: Any, *inputs: mx.array) -> list[mx.array]:
    """Of a function, weighted such that each element of its results counts differently."""

    def loss(*inputs: mx.array) -> mx.array:
        results = function(*inputs)
        results = [results] if isinstance(results, mx.array) else results
        return sum(mx.sum(mx.sin(y + mx.arange(y.size).reshape(y.shape))) for y in results)

    found = mx.grad(loss, argnums=list(range(len(inputs))))(*inputs)
    return [found] if len(inputs) == 1 else list(found)


# Names


@pytest.mark.parametrize("inputs", list(itertools.permutations(["x", "w", "y_grad"])), ids="-".join)
@pytest.mark.parametrize(
    "outputs", list(itertools.permutations(["x_grad", "w_grad"])), ids="-".join
)
def test_names_in_any_order(inputs, outputs):
    backward = kernel(
        "backward", inputs, outputs, "x_grad[i] = y_grad[i] * w[i]; w_grad[i] = y_grad[i] * x[i];"
    )
    function = anymetal.differentiable(PRODUCT, backward)
    x, w = normal(5, 7), normal(5, 7, seed=1)
    assert mx.array_equal(run(function, x, w), x * w)
    found = gradients(lambda x, w: run(function, x, w), x, w)
    assert close(found, gradients(lambda x, w: x * w, x, w))


def test_a_single_input():
    exp = anymetal.differentiable(
        kernel("e", ["x"], ["y"], "y[i] = metal::exp(x[i]);"),
        kernel("e_backward", ["y", "cotangent"], ["x_grad"], "x_grad[i] = y[i] * cotangent[i];"),
    )
    x = normal(40)
    assert close(gradients(lambda x: run(exp, x), x), gradients(mx.exp, x))
    check_grads(lambda x: run(exp, x), [x])


def test_an_output_by_its_name():
    """`y` is the output where the backward kernel takes it, whatever else has its name."""
    tanh = anymetal.differentiable(
        kernel("t", ["x", "s"], ["y"], "y[i] = metal::tanh(x[i] * s);"),
        kernel(
            "t_back",
            ["s", "y_grad", "y"],
            ["x_grad"],
            "x_grad[i] = s * (1 - y[i] * y[i]) * y_grad[i];",
        ),
    )
    x, s = normal(33), mx.array(0.5)
    (found,) = gradients(lambda x: run(tanh, x, s), x)
    (expected,) = gradients(lambda x: mx.tanh(x * s), x)
    assert mx.allclose(found, expected, atol=1e-5)


def test_an_input_that_is_called_like_a_cotangent():
    """The names of inputs go first."""
    function = anymetal.differentiable(
        kernel("f", ["x", "cotangent"], ["y"], "y[i] = x[i] * cotangent[i];"),
        kernel("b", ["cotangent", "y_grad"], ["x_grad"], "x_grad[i] = cotangent[i] * y_grad[i];"),
    )
    x, w = normal(9), normal(9, seed=1)
    (found,) = gradients(lambda x: run(function, x, w), x)
    assert close([found], gradients(lambda x: x * w, x))


def test_inputs_without_a_gradient():
    backward = kernel("b", ["w", "y_grad"], ["x_grad"], "x_grad[i] = y_grad[i] * w[i];")
    function = anymetal.differentiable(PRODUCT, backward)
    x, w = normal(3, 4), normal(3, 4, seed=1)
    x_grad, w_grad = gradients(lambda x, w: run(function, x, w), x, w)
    assert close([x_grad], gradients(lambda x: x * w, x))
    assert mx.array_equal(w_grad, mx.zeros((3, 4)))


def test_integer_inputs():
    """Indices have no gradient; the values that they choose do."""
    gather = anymetal.differentiable(
        kernel("gather", ["x", "index"], ["y"], "y[i] = x[index[i]];"),
        kernel(
            "scatter",
            ["index", "y_grad"],
            ["x_grad"],
            "atomic_fetch_add_explicit(&x_grad[index[i]], y_grad[i], memory_order_relaxed);",
            atomic_outputs=True,
        ),
    )
    x, index = normal(20), mx.random.randint(0, 20, (50,), key=mx.random.key(0))
    call = {"output_shapes": [(50,)], "grid": (50, 1, 1)}
    found = gradients(lambda x: run(gather, x, index, **call), x)
    assert close(found, gradients(lambda x: x[index], x))
    check_grads(lambda x, index: run(gather, x, index, **call), [x, index])


# Outputs


SINCOS = anymetal.differentiable(
    kernel(
        "sincos",
        ["x"],
        ["s", "c", "scaled"],
        "s[i] = metal::precise::sin(x[i]); c[i] = metal::precise::cos(x[i]); scaled[i] = 3 * x[i];",
    ),
    kernel(
        "sincos_backward",
        ["scaled_grad", "s_grad", "c_grad", "s", "c"],
        ["x_grad"],
        "x_grad[i] = s_grad[i] * c[i] - c_grad[i] * s[i] + 3 * scaled_grad[i];",
    ),
)


@pytest.mark.parametrize(
    "used",
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)],
    ids=lambda u: "".join(map(str, u)),
)
def test_outputs_that_are_not_used(used):
    def ours(x):
        outputs = run(SINCOS, x, count=3)
        return [outputs[i] for i in used]

    def theirs(x):
        outputs = mx.sin(x), mx.cos(x), 3 * x
        return [outputs[i] for i in used]

    x = normal(50)
    assert close(gradients(ours, x), gradients(theirs, x), rtol=1e-4, atol=1e-5)
    check_grads(ours, [x])


def test_an_output_whose_cotangent_nobody_takes():
    function = anymetal.differentiable(
        kernel("f", ["x"], ["y", "aux"], "y[i] = 2 * x[i]; aux[i] = 5;"),
        kernel("b", ["y_grad"], ["x_grad"], "x_grad[i] = 2 * y_grad[i];"),
    )
    x = normal(10)
    found = mx.grad(lambda x: run(function, x, count=2)[0].sum())(x)
    assert found.tolist() == [2] * 10


# Atomic outputs


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_atomic_gradients(dtype):
    """They start at 0, and are summed in float32 whatever the type of the input."""
    scale = anymetal.differentiable(
        kernel("scale", ["x", "s"], ["y"], "y[i] = x[i] * s[i % 4];"),
        kernel(
            "scale_backward",
            ["x", "s", "y_grad"],
            ["x_grad", "s_grad"],
            "float g = y_grad[i], u = s[i % 4], v = x[i];"
            "atomic_fetch_add_explicit(&x_grad[i], g * u, memory_order_relaxed);"
            "atomic_fetch_add_explicit(&s_grad[i % 4], g * v, memory_order_relaxed);",
            atomic_outputs=True,
        ),
    )
    x, s = normal(1000, 4).astype(dtype), normal(4, seed=1).astype(dtype)
    x_grad, s_grad = mx.grad(lambda x, s: run(scale, x, s).sum(), argnums=(0, 1))(x, s)
    assert (x_grad.dtype, s_grad.dtype) == (dtype, dtype)
    assert mx.array_equal(x_grad, mx.broadcast_to(s, (1000, 4)))
    exact = x.astype(mx.float32).sum(0)
    assert mx.allclose(s_grad.astype(mx.float32), exact.astype(dtype).astype(mx.float32), rtol=1e-2)


# Launches


ROWS = kernel(
    "rows", ["x"], ["y"], "float s = 0; for (int k = 0; k < N; ++k) s += x[i * N + k]; y[i] = s;"
)
ROWS_BACKWARD = kernel("rows_backward", ["y_grad"], ["x_grad"], "x_grad[i] = y_grad[i / N] * M;")


@pytest.mark.parametrize(
    "launch",
    [
        {"grid": (60, 1, 1), "template": [("N", 10), ("M", 1)]},
        lambda inputs, template, **_: {
            "grid": (inputs[0].size, 1, 1),
            "threadgroup": (8, 1, 1),
            "template": [*template, ("M", 1)],
        },
    ],
    ids=["mapping", "function"],
)
def test_a_launch_of_its_own(launch):
    function = anymetal.differentiable(ROWS, ROWS_BACKWARD, launch=launch)
    x = normal(6, 10)

    def ours(x):
        call = {"grid": (6, 1, 1), "output_shapes": [(6,)], "template": [("N", 10)]}
        return run(function, x, **call)

    assert close(gradients(ours, x), gradients(lambda x: x.sum(1), x))


def test_the_function_gets_all_that_the_call_got():
    seen = {}

    def launch(**call):
        seen.update(call)
        return {}

    function = anymetal.differentiable(PRODUCT, PRODUCT_BACKWARD, launch=launch)
    x = normal(4)
    mx.eval(
        gradients(lambda x: run(function, x, 2.0, stream=mx.cpu) if 0 else run(function, x, x), x)
    )
    assert set(seen) == {"inputs", "output_shapes", "output_dtypes", "grid", "threadgroup"}
    assert [a.shape for a in seen["inputs"]] == [(4,), (4,)]
    assert seen["grid"] == (4, 1, 1)


def test_init_value_and_dtypes_of_the_backward_launch():
    backward = kernel("b", ["y_grad"], ["x_grad"], "if (i % 2 == 0) x_grad[i] = y_grad[i];")
    launch = {"init_value": 7, "output_dtypes": [mx.int32]}
    function = anymetal.differentiable(
        kernel("f", ["x"], ["y"], "y[i] = x[i];"), backward, launch=launch
    )
    found = mx.grad(lambda x: run(function, x).sum())(mx.ones(5))
    assert (found.dtype, found.tolist()) == (mx.float32, [1, 7, 1, 7, 1])


def test_the_template_is_handed_on():
    function = anymetal.differentiable(
        kernel("f", ["x"], ["y"], "y[i] = T(x[i] * N);"),
        kernel("b", ["y_grad"], ["x_grad"], "x_grad[i] = T(y_grad[i] * N);"),
    )
    template = [("T", mx.float32), ("N", 3)]
    assert (
        mx.grad(lambda x: run(function, x, template=template).sum())(mx.ones(3)).tolist() == [3] * 3
    )


def test_streams():
    stream = mx.new_stream(mx.cpu)
    x = normal(5)
    assert close(
        gradients(lambda x: run(product, x, x, stream=stream), x), gradients(lambda x: x * x, x)
    )


# Forms of a call


def test_numbers_as_inputs():
    power = anymetal.differentiable(
        kernel("p", ["x", "n", "s"], ["y"], "y[i] = s; for (int k = 0; k < n; ++k) y[i] *= x[i];"),
        kernel(
            "p_backward",
            ["x", "n", "s", "y_grad"],
            ["x_grad"],
            "float p = n * s * y_grad[i]; for (int k = 1; k < n; ++k) p *= x[i]; x_grad[i] = p;",
        ),
    )
    x = normal(9)
    assert close(gradients(lambda x: run(power, x, 3, 0.5), x), gradients(lambda x: x**3 / 2, x))


def test_without_a_gradient_it_is_the_kernel():
    x = normal(5)
    results = product(
        inputs=(x, x),
        output_shapes=[(5,)],
        output_dtypes=[mx.float32],
        grid=(5, 1, 1),
        threadgroup=(1, 1, 1),
        template=None,
        init_value=None,
        verbose=False,
    )
    assert isinstance(results, list)
    assert mx.array_equal(results[0], x * x)
    assert repr(product) == "<differentiable <metal_kernel product(x, w) -> (y)>>"
    with pytest.raises(TypeError, match=r"^__call__\(\): incompatible function arguments"):
        run(product, x, x, thread_group=3)
    with pytest.raises(ValueError, match=r"Expected `inputs` to have size 2 but got size 1"):
        run(product, x)


def test_the_same_array_twice():
    x = normal(8)
    assert close(gradients(lambda x: run(product, x, x), x), gradients(lambda x: x * x, x))


# Other transformations


def test_in_a_compiled_function():
    x, w = normal(4, 5), normal(4, 5, seed=1)
    ours = mx.compile(
        mx.value_and_grad(lambda x, w: mx.exp(run(product, mx.sin(x), w)).sum(), (0, 1))
    )
    theirs = mx.value_and_grad(lambda x, w: mx.exp(mx.sin(x) * w).sum(), (0, 1))
    for seed in range(3):
        x = normal(4, 5, seed=seed)
        (loss, found), (expected, others) = ours(x, w), theirs(x, w)
        assert close([loss, *found], [expected, *others])


def test_the_gradient_of_a_compiled_function():
    x = normal(7)
    found = gradients(mx.compile(lambda x: run(product, x, x)), x)
    assert close(found, gradients(lambda x: x * x, x))


def test_checkpoint():
    x = normal(7)
    found = gradients(mx.checkpoint(lambda x: run(product, mx.sin(x), x)), x)
    assert close(found, gradients(lambda x: mx.sin(x) * x, x))


def test_a_forward_derivative_is_an_error():
    x = normal(7)
    with pytest.raises(ValueError, match=r"^\[Primitive::jvp\] Not implemented for CustomKernel"):
        mx.eval(mx.jvp(lambda x: run(product, x, x), [x], [x]))


def test_a_second_derivative_is_an_error_unless_the_backward_kernel_has_one():
    x = normal(7)
    with pytest.raises(ValueError, match=r"^\[Primitive::vjp\] Not implemented for CustomKernel"):
        mx.grad(lambda x: mx.grad(lambda x: run(product, x, x).sum())(x).sum())(x)


MAPPED = [(0, 0), (1, 1), (1, 0), (0, None), (1, None), (None, 0), (None, 1)]


@pytest.mark.parametrize("axes", MAPPED, ids=str)
def test_the_gradient_of_a_batch(axes):
    x, w = (normal(4) if axis is None else mx.moveaxis(normal(3, 4), 0, axis) for axis in axes)
    found = gradients(mx.vmap(lambda x, w: run(product, x, w), axes), x, w)
    assert close(found, gradients(mx.vmap(lambda x, w: x * w, axes), x, w))


@pytest.mark.parametrize("axes", MAPPED, ids=str)
def test_a_batch_of_gradients(axes):
    x, w = (normal(4) if axis is None else mx.moveaxis(normal(3, 4), 0, axis) for axis in axes)
    ours = mx.vmap(lambda *a: tuple(gradients(lambda x, w: run(product, x, w), *a)), axes)
    theirs = mx.vmap(lambda *a: tuple(gradients(lambda x, w: x * w, *a)), axes)
    assert close(ours(x, w), theirs(x, w))


def test_the_gradient_of_a_batch_of_batches_compiled():
    x, w = normal(2, 3, 4), normal(2, 3, seed=1)

    def nested(f):
        return mx.compile(lambda x, w: gradients(mx.vmap(mx.vmap(f), (2, None)), x, w))

    found = nested(lambda x, w: run(product, x, w))(x, w)
    assert close(found, nested(lambda x, w: x * w)(x, w))


def test_a_batch_with_one_input_and_several_outputs():
    sincos = anymetal.differentiable(
        kernel("f", ["x"], ["s", "d"], "s[i] = x[i] * x[i]; d[i] = 2 * x[i];", vmap="batch"),
        kernel(
            "b",
            ["x", "s_grad", "d_grad"],
            ["x_grad"],
            "x_grad[i] = 2 * x[i] * s_grad[i] + 2 * d_grad[i];",
            vmap="batch",
        ),
    )
    x = normal(3, 4)
    found = gradients(lambda x: mx.vmap(lambda x: tuple(run(sincos, x, count=2)), 1, 0)(x), x)
    assert close(found, gradients(lambda x: ((x * x).T, (2 * x).T), x))


def test_a_batch_without_the_option():
    function = anymetal.differentiable(
        kernel("f", ["x"], ["y"], "y[i] = x[i];"),
        kernel("b", ["y_grad"], ["x_grad"], "x_grad[i] = y_grad[i];"),
    )
    with pytest.raises(ValueError, match=r"^\[Primitive::vmap\] Not implemented for CustomKernel"):
        mx.eval(gradients(mx.vmap(lambda x: run(function, x)), normal(3, 4)))


# Training


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 8)
        self.scale = mx.ones((8,))

    def __call__(self, x: mx.array, ours: bool) -> mx.array:
        y = self.linear(x)
        scale = mx.broadcast_to(self.scale, y.shape)
        return run(product, y, scale) if ours else y * scale


def train(ours: bool, compiled: bool) -> list[float]:
    mx.random.seed(0)
    model = Gate()
    optimizer = mlx.optimizers.SGD(0.1)
    x, target = normal(16, 6), normal(16, 8, seed=1)
    state = [model.state, optimizer.state]

    def step() -> mx.array:
        loss, grads = nn.value_and_grad(model, lambda: ((model(x, ours) - target) ** 2).mean())()
        optimizer.update(model, grads)
        return loss

    run_step = mx.compile(step, inputs=state, outputs=state) if compiled else step
    losses = []
    for _ in range(5):
        loss = run_step()
        mx.eval(loss, state)
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("compiled", [False, True])
def test_training_a_module(compiled):
    losses = train(True, compiled)
    assert losses == pytest.approx(train(False, compiled), rel=1e-5)
    assert losses[-1] < losses[0]


# Errors


NAMES = {
    "input": (
        (["z"], ["x_grad"]),
        r"Input `z` of backward kernel `b` is nothing of kernel `product`; there are: y_grad, "
        r"cotangent, y, x, w\.$",
    ),
    "output": (
        (["w"], ["x"]),
        r"Output `x` of backward kernel `b` is the gradient of no input of kernel `product`; "
        r"there may be: x_grad, w_grad\.$",
    ),
    "gradient of an output": ((["w"], ["y_grad"]), "Output `y_grad` of backward kernel"),
}


@pytest.mark.parametrize(("names", "message"), NAMES.values(), ids=NAMES.keys())
def test_errors_in_the_names(names, message):
    with pytest.raises(ValueError, match=r"^\[differentiable\] " + message):
        anymetal.differentiable(PRODUCT, kernel("b", *names, ""))


def test_the_cotangent_of_several_outputs():
    forward = kernel("f", ["x"], ["y", "z"], "")
    with pytest.raises(
        ValueError, match=r"Input `cotangent` .* there are: y_grad, z_grad, y, z, x"
    ):
        anymetal.differentiable(forward, kernel("b", ["cotangent"], ["x_grad"], ""))


def test_errors_in_the_launch():
    function = anymetal.differentiable(PRODUCT, PRODUCT_BACKWARD, launch={"grids": 1, "inputs": []})
    assert run(function, normal(3), normal(3)).shape == (3,)
    message = (
        r"^\[differentiable\] `launch` of kernel `product_backward` sets grids, inputs; it may set "
        "grid, init_value, output_dtypes, template, threadgroup"
    )
    with pytest.raises(ValueError, match=message):
        gradients(lambda x: run(function, x, x), normal(3))


def test_errors_of_the_backward_kernel():
    broken = anymetal.differentiable(
        PRODUCT, kernel("b", ["y_grad"], ["x_grad"], "x_grad[i] = no;")
    )
    assert run(broken, normal(3), normal(3)).shape == (3,)
    with pytest.raises(anymetal.MetalCompileError, match="b: source:1:"):
        mx.eval(gradients(lambda x: run(broken, x, x), normal(3)))
