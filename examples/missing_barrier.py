"""A mistake that no result shows: `anymetal run --sanitize examples/missing_barrier.py` finds it.

Each thread leaves its value in threadgroup memory and reads that of its left neighbour. Between
the two a barrier is missing. On this machine the neighbour always comes first, so the result is
right; a GPU promises nothing.
"""

import mlx.core as mx

import anymetal

kernel = anymetal.metal_kernel(
    name="differences",
    input_names=["x"],
    output_names=["y"],
    source="""
        threadgroup float row[256];
        uint i = thread_position_in_grid.x;
        uint l = thread_position_in_threadgroup.x;
        row[l] = x[i];
        y[i] = l > 0 ? row[l] - row[l - 1] : row[l];
    """,
)


def differences(x: mx.array) -> mx.array:
    """Each element minus the one before, for rows of 256."""
    (y,) = kernel(
        inputs=[x],
        grid=(x.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )
    return y


if __name__ == "__main__":
    x = mx.random.normal((4, 256))
    y = differences(x)
    wrong = mx.sum(mx.abs(y[:, 1:] - (x[:, 1:] - x[:, :-1])) > 1e-6).item()
    print(f"{wrong} of {y.size} differences are wrong here")
