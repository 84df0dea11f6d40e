"""A small convolutional network with a kernel, trained in three ways that must agree.

The kernel is an activation with a parameter per channel, and its derivative is another kernel. The
network is trained as it stands, wholly under mx.compile, and with the activation made of MLX's
operations.
"""

from __future__ import annotations

from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
import pytest

from tests.graph.kernels import active_memory, kernel, run

_forward = kernel(
    "swish",
    "float s = 1 / (1 + metal::exp(-slope[i % slope_shape[0]] * x[i])); out[i] = x[i] * s;",
    ("x", "slope"),
)
# A threadgroup per channel adds up the derivative of the slope, first in SIMD-groups.
_backward = kernel(
    "swish_vjp",
    """
    uint channels = slope_shape[0], rows = x_shape[0], c = threadgroup_position_in_grid.x;
    float b = slope[c], sum = 0;
    for (uint row = thread_position_in_threadgroup.x; row < rows; row += 64) {
        uint at = row * channels + c;
        float s = 1 / (1 + metal::exp(-b * x[at])), slant = s * (1 - s) * x[at];
        dx[at] = dy[at] * (s + b * slant);
        sum += dy[at] * slant * x[at];
    }
    threadgroup float sums[2];
    sum = simd_sum(sum);
    if (thread_index_in_simdgroup == 0) sums[simdgroup_index_in_threadgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_position_in_threadgroup.x == 0) dslope[c] = sums[0] + sums[1];
    """,
    ("x", "slope", "dy"),
    ("dx", "dslope"),
)


@mx.custom_function
def swish(x: mx.array, slope: mx.array) -> mx.array:
    """x · sigmoid(slope · x), with a slope per channel, the last axis."""
    return run(_forward, x, slope)[0]


@swish.vjp
def swish_vjp(primals, cotangent, _):
    x, slope = primals
    rows = (-1, slope.size)
    dx, dslope = run(
        _backward,
        x.reshape(rows),
        slope,
        cotangent.reshape(rows),
        grid=(64 * slope.size, 1, 1),
        output_shapes=[(x.size // slope.size, slope.size), slope.shape],
    )
    return dx.reshape(x.shape), dslope


def swish_of_operations(x: mx.array, slope: mx.array) -> mx.array:
    return x * mx.sigmoid(slope * x)


class Network(nn.Module):
    """Two convolutions and a classifier for images of 12 × 12."""

    def __init__(self, activation) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.norm = nn.LayerNorm(16)
        self.pool = nn.MaxPool2d(2, 2)
        self.last = nn.Linear(3 * 3 * 16, 4)
        self.slopes = [mx.ones((8,)), mx.ones((16,))]
        self._activation = activation

    def __call__(self, x: mx.array) -> mx.array:
        x = self._activation(self.first(x), self.slopes[0])
        x = self._activation(self.norm(self.second(x)), self.slopes[1])
        return self.last(self.pool(x).reshape(x.shape[0], -1))


def data(count: int = 32) -> tuple[mx.array, mx.array]:
    """Noise with a bright stripe: its place is the class."""
    random = np.random.default_rng(7)
    classes = random.integers(0, 4, count)
    images = random.normal(0, 0.5, (count, 12, 12, 1)).astype(np.float32)
    for image, place in zip(images, classes, strict=True):
        image[3 * place : 3 * place + 2] += 1
    return mx.array(images), mx.array(classes)


def train(activation, optimizer: optim.Optimizer, compiled: bool, steps: int = 12):
    """The losses, and the parameters at the end."""
    mx.random.seed(1)
    model = Network(activation)
    mx.eval(model.parameters())
    state = [model.state, optimizer.state]

    def loss_of(model, x, y):
        return nn.losses.cross_entropy(model(x), y).mean()

    def step(x, y):
        loss, gradients = nn.value_and_grad(model, loss_of)(model, x, y)
        optimizer.update(model, gradients)
        return loss

    if compiled:
        step = partial(mx.compile, inputs=state, outputs=state)(step)
    x, y = data()
    losses = []
    for _ in range(steps):
        loss = step(x, y)
        mx.eval(loss, state)
        losses.append(loss.item())
    return losses, model.parameters()


OPTIMISERS = {
    "SGD": lambda: optim.SGD(0.05, momentum=0.9),
    "Adam": lambda: optim.Adam(0.005),
}


@pytest.mark.parametrize("make", OPTIMISERS.values(), ids=OPTIMISERS.keys())
def test_training_under_compile(make):
    """Compilation: "Compiling Training Graphs": "compile the full forward, backward, and update".

    All runs compute the same in float32, in other orders: mx.compile fuses and thereby leaves out
    roundings, the kernel adds in another order. An error of some 1e-7 per step grows with training;
    twelve steps make less than 1e-5 of it (1e-3 under Adam, which divides tiny gradients by their
    size). A wrong gradient is off by 1e-2 at the second step.
    """
    plain, parameters = train(swish, make(), compiled=False)
    compiled, compiled_parameters = train(swish, make(), compiled=True)
    operations, _ = train(swish_of_operations, make(), compiled=False)
    assert plain[-1] < plain[0] / 2
    tolerance = 1e-5 if make is OPTIMISERS["SGD"] else 1e-3
    assert np.allclose(plain, compiled, rtol=tolerance, atol=1e-6)
    assert np.allclose(plain, operations, rtol=tolerance, atol=1e-6)
    for ours, theirs in zip(parameters["slopes"], compiled_parameters["slopes"], strict=True):
        assert mx.allclose(ours, theirs, rtol=100 * tolerance, atol=1e-4).item()
        assert not mx.allclose(ours, mx.ones(ours.shape), atol=1e-4).item()  # they took part


def test_gradients_agree_with_operations():
    """custom_function: the two kernels are a function and its derivative."""
    mx.random.seed(2)
    x, slope = mx.random.normal((3, 5, 7, 6)), mx.random.uniform(0.5, 2, (6,))
    cotangent = mx.random.normal(x.shape)
    values, gradients = mx.vjp(swish, [x, slope], [cotangent])
    expected, exact = mx.vjp(swish_of_operations, [x, slope], [cotangent])
    for got, right in zip(values + gradients, expected + exact, strict=True):
        assert mx.allclose(got, right, rtol=1e-5, atol=1e-5).item()


def test_training_keeps_no_memory():
    """Memory: a training loop under mx.compile holds its state and nothing else.

    An array that each step leaves behind has four bytes or more, so ten more steps would show 40.
    Less than that is a thread of another test, which makes or drops an array meanwhile.
    """

    def run_steps(steps: int) -> int:
        train(swish, optim.SGD(0.05, momentum=0.9), compiled=True, steps=steps)
        return active_memory()

    run_steps(2)
    held = run_steps(2)
    assert run_steps(12) - held < 10 * mx.float32.size


def test_evaluation_mode_after_training():
    """Compilation: the state that a compiled step captured is the model's own."""
    x, y = data()
    mx.random.seed(3)
    model, optimizer = Network(swish), optim.Adam(0.01)
    state = [model.state, optimizer.state]

    @partial(mx.compile, inputs=state, outputs=state)
    def step(x, y):
        loss, gradients = nn.value_and_grad(
            model, lambda x, y: nn.losses.cross_entropy(model(x), y).mean()
        )(x, y)
        optimizer.update(model, gradients)
        return loss

    for _ in range(30):
        step(x, y)
        mx.async_eval(state)
    assert (model(x).argmax(-1) == y).mean().item() > 0.9
    assert mx.array_equal(mx.compile(model)(x).argmax(-1), model(x).argmax(-1)).item()
