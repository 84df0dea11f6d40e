"""custom_function with vjp: an activation with a parameter per channel, trained with the network.

"Snake" is x + sin²(ax) / a, for data that repeats itself. Forward and backward are one kernel each;
the backward one adds the gradient of `a` up over all rows, with simd_sum and atomics. A small
network then learns a wave, `a` included.
"""

import math
from typing import cast

import mlx.core as mx

import anymetal

forward = anymetal.metal_kernel(
    name="snake",
    input_names=["x", "a"],
    output_names=["out"],
    source="""
        uint channel = thread_position_in_grid.x;
        uint i = thread_position_in_grid.y * threads_per_grid.x + channel;
        float s = metal::sin(a[channel] * x[i]);
        out[i] = x[i] + s * s / a[channel];
    """,
)

# One SIMD-group for one channel and 32 rows.
backward = anymetal.metal_kernel(
    name="snake_vjp",
    input_names=["x", "a", "cotangent"],
    output_names=["x_grad", "a_grad"],
    source="""
        uint row = thread_position_in_grid.x, channel = thread_position_in_grid.y;
        float from_a = 0;
        if (row < uint(x_shape[0])) {
            uint i = row * x_shape[1] + channel;
            float rate = a[channel], s = metal::sin(rate * x[i]);
            float wave = metal::sin(2 * rate * x[i]);
            atomic_store_explicit(&x_grad[i], cotangent[i] * (1 + wave), memory_order_relaxed);
            from_a = cotangent[i] * (x[i] * wave - s * s / rate) / rate;
        }
        from_a = simd_sum(from_a);
        if (thread_index_in_simdgroup == 0) {
            atomic_fetch_add_explicit(&a_grad[channel], from_a, memory_order_relaxed);
        }
    """,
    atomic_outputs=True,
)


@mx.custom_function
def snake(x: mx.array, a: mx.array) -> mx.array:
    """x + sin²(ax) / a for a (rows, channels) matrix, with one `a` per channel."""
    rows, channels = x.shape
    (out,) = forward(
        inputs=[x, a],
        grid=(channels, rows, 1),
        threadgroup=(32, 8, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )
    return out


@snake.vjp
def snake_vjp(primals: list[mx.array], cotangent: mx.array, _: mx.array) -> list[mx.array]:
    x, a = primals
    rows, channels = x.shape
    return backward(
        inputs=[x, a, cotangent],
        grid=(-(-rows // 32) * 32, channels, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[x.shape, a.shape],
        output_dtypes=[x.dtype, a.dtype],
        init_value=0,
    )


def snake_ops(x: mx.array, a: mx.array) -> mx.array:
    """The same with MLX's operations."""
    return x + mx.square(mx.sin(a * x)) / a


def check_gradients() -> None:
    """Compare with what MLX differentiates by itself."""
    x, a = mx.random.normal((45, 10)), mx.random.uniform(0.5, 2, (10,))
    cotangent = mx.random.normal(x.shape)
    outputs, gradients = mx.vjp(snake, [x, a], [cotangent])
    expected, exact = mx.vjp(snake_ops, [x, a], [cotangent])
    pairs = zip(outputs + gradients, expected + exact, strict=True)
    error = max(float(mx.abs(got - right).max()) for got, right in pairs)
    print(f"result and gradients, difference to MLX's operations: {error:.1e}")
    assert error < 1e-4


def train(steps: int, width: int = 32) -> tuple[float, float, mx.array]:
    """Fit sin(3x) + x/2 by gradient descent with momentum; the first and last loss, and `a`."""
    x = mx.linspace(-3, 3, 200)[:, None]
    y = mx.sin(3 * x) + x / 2
    weights = [
        mx.random.normal((1, width)),
        mx.zeros((width,)),
        mx.ones((width,)),  # a
        mx.random.normal((width, 1)) / math.sqrt(width),
    ]
    velocity = [mx.zeros_like(w) for w in weights]

    def loss(first: mx.array, bias: mx.array, a: mx.array, last: mx.array) -> mx.array:
        hidden = cast(mx.array, snake(x @ first + bias, a))  # MLX's types say `object`
        return mx.square(hidden @ last - y).mean()

    losses = []
    for _ in range(steps):
        value, slopes = mx.value_and_grad(loss, argnums=(0, 1, 2, 3))(*weights)
        velocity = [0.9 * v - 0.01 * g for v, g in zip(velocity, slopes, strict=True)]
        weights = [w + v for w, v in zip(weights, velocity, strict=True)]
        mx.eval(weights, velocity)
        losses.append(float(value))
    return losses[0], losses[-1], weights[2]


if __name__ == "__main__":
    mx.random.seed(0)
    check_gradients()
    first, last, a = train(steps=400)
    low, high = float(a.min()), float(a.max())
    print(f"loss {first:.1f} -> {last:.1e} in 400 steps; `a` was 1, is {low:.2f} to {high:.2f}")
    assert last < first / 100
