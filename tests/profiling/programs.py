"""A kernel whose time is spent in one line, and how to run it."""

from __future__ import annotations

import mlx.core as mx

import anymetal

HEADER = """
inline float slow(float v, uint n) {
  for (uint j = 0; j < n; ++j)
    v = v * v - 0.7f;
  return v;
}
"""
BODY = """
uint i = thread_position_in_grid.x;
float v = x[i];
y[i] = slow(v, n);
z[i] = half(v);
"""
heavy = anymetal.metal_kernel("heavy", ["x", "n"], ["y", "z"], BODY, HEADER)
double = anymetal.metal_kernel(
    "double", ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = x[i] * T(2) + T(1);"
)


def launch_heavy(size: int, rounds: int) -> list[mx.array]:
    return heavy(
        inputs=[mx.linspace(0, 1, size), rounds],
        grid=(size, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[(size,), (size,)],
        output_dtypes=[mx.float32, mx.float16],
    )


def run_heavy(size: int, rounds: int) -> None:
    mx.eval(launch_heavy(size, rounds))


def run_double(size: int, dtype: mx.Dtype, threads: int | None = None, **options: object) -> None:
    made = double(
        inputs=[mx.ones(size, dtype)],
        template=[("T", dtype)],
        grid=(threads or size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[dtype],
        **options,  # type: ignore[arg-type]
    )
    mx.eval(made)
