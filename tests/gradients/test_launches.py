"""`anymetal.differentiable`: outputs, launches and forms of a call."""

from __future__ import annotations

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
    product,
    run,
)

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
