"""Structs, operators and templates in `header`: Newton's method that differentiates by itself.

A dual number carries a value and its derivative. With operators for it, a function written once as
a template gives f(x) for floats, and f(x) together with f'(x) for dual numbers.
"""

import mlx.core as mx

import anymetal

HEADER = """
template <typename T>
struct Dual {
    T value, slope;
};

template <typename T>
Dual<T> operator+(Dual<T> a, Dual<T> b) { return {a.value + b.value, a.slope + b.slope}; }

template <typename T>
Dual<T> operator-(Dual<T> a, T b) { return {a.value - b, a.slope}; }

template <typename T>
Dual<T> operator*(Dual<T> a, Dual<T> b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}

template <typename T>
Dual<T> exp(Dual<T> a) {
    T e = metal::exp(a.value);
    return {e, e * a.slope};
}

// x * exp(x) + x: any type will do that has the operators and exp.
struct Curve {
    template <typename X>
    X operator()(X x) const { return x * exp(x) + x; }
};

// Solves f(x) = y.
template <typename T, int Steps, typename Function>
T solve(Function f, T y, T x) {
    for (int step = 0; step < Steps; ++step) {
        Dual<T> at = f(Dual<T>{x, T(1)}) - y;
        x -= at.value / at.slope;
    }
    return x;
}
"""

kernel = anymetal.metal_kernel(
    name="invert",
    input_names=["y"],
    output_names=["x"],
    header=HEADER,
    source="""
        uint i = thread_position_in_grid.x;
        x[i] = solve<T, STEPS>(Curve(), T(y[i]), T(0.5));
    """,
)


def invert(y: mx.array, steps: int = 8) -> mx.array:
    """The x with x exp(x) + x = y, for y >= 0."""
    (x,) = kernel(
        inputs=[y],
        template=[("T", y.dtype), ("STEPS", steps)],
        grid=(y.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[y.shape],
        output_dtypes=[y.dtype],
    )
    return x


if __name__ == "__main__":
    y = mx.linspace(0, 10, 1001)
    for steps in (1, 2, 4, 8):
        x = invert(y, steps)
        error = float(mx.abs(x * mx.exp(x) + x - y).max())
        print(f"{steps} steps: largest error {error:.1e}")
    assert error < 1e-5
    half = invert(y.astype(mx.float16))
    difference = float(mx.abs(half.astype(mx.float32) - x).max())
    print(f"the same template in float16: {difference:.1e} away")
    assert difference < 1e-2
