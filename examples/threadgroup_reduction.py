"""Threadgroup memory and barriers: mean and variance of every row in one pass.

The threads of a threadgroup share one row. Each takes every 128th element and keeps a running
mean; then halves of the threadgroup merge with each other, a barrier before every step, because a
thread reads what another one wrote.
"""

import mlx.core as mx

import anymetal

kernel = anymetal.metal_kernel(
    name="row_moments",
    input_names=["x"],
    output_names=["mean", "variance"],
    header="""
        struct Moments {
            float count, mean, squares;  // squares: sum of squared distances from the mean
        };

        // Two sets of numbers seen as one. Unlike sum(x * x) - mean * mean this loses no digits.
        Moments merge(Moments a, Moments b) {
            float count = a.count + b.count;
            if (count == 0.0f) {
                return a;
            }
            float distance = b.mean - a.mean, share = b.count / count;
            return {count, a.mean + distance * share,
                    a.squares + b.squares + distance * distance * a.count * share};
        }
    """,
    source="""
        threadgroup Moments parts[128];
        uint thread_id = thread_position_in_threadgroup.x;
        uint row = threadgroup_position_in_grid.y;
        uint columns = x_shape[1];

        Moments own = {0.0f, 0.0f, 0.0f};
        for (uint column = thread_id; column < columns; column += 128) {
            own = merge(own, {1.0f, x[row * columns + column], 0.0f});
        }
        parts[thread_id] = own;
        for (uint half_size = 64; half_size > 0; half_size /= 2) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (thread_id < half_size) {
                parts[thread_id] = merge(parts[thread_id], parts[thread_id + half_size]);
            }
        }
        if (thread_id == 0) {
            mean[row] = parts[0].mean;
            variance[row] = parts[0].squares / parts[0].count;
        }
    """,
)


def row_moments(x: mx.array) -> list[mx.array]:
    """Mean and variance of each row of a float32 matrix."""
    rows = x.shape[0]
    return kernel(
        inputs=[x],
        grid=(128, rows, 1),
        threadgroup=(128, 1, 1),
        output_shapes=[(rows,), (rows,)],
        output_dtypes=[mx.float32, mx.float32],
    )


if __name__ == "__main__":
    # Far from zero, where the textbook formula in float32 has no digits left.
    x = 1000 + mx.random.normal((64, 1000))
    mean, variance = row_moments(x)
    centred = x - x.mean(axis=1, keepdims=True)
    exact = (centred * centred).mean(axis=1)
    naive = (x * x).mean(axis=1) - x.mean(axis=1) ** 2
    print(f"row 0: mean {mean[0].item():.4f}, variance {variance[0].item():.4f}")
    error, naive_error = (float(mx.abs(v / exact - 1).max()) for v in (variance, naive))
    print(f"error of the variance: {error:.0e}; of mean(x²) - mean(x)²: {naive_error:.0e}")
    assert mx.allclose(mean, x.mean(axis=1))
    assert error < 1e-3 < naive_error
