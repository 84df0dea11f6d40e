"""`anymetal.differentiable` under other transformations, and in training."""

from __future__ import annotations

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers
import pytest

import anymetal
from tests.gradients.harness import close, gradients, kernel, normal, product, run

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
