"""`anymetal.differentiable`: the names of arguments pair two kernels; errors."""

from __future__ import annotations

import itertools

import mlx.core as mx
import pytest

import anymetal
from anymetal.testing.gradients import check_grads
from tests.gradients.harness import (
    PRODUCT,
    PRODUCT_BACKWARD,
    close,
    gradients,
    kernel,
    normal,
    run,
)

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
