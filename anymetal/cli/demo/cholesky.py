"""Cholesky factorization in blocks of 32 columns, with two Metal kernels.

The algorithm is the right-looking one. Each round factors the first 32 rows of what is left of
the matrix and updates the rest:

    panel:  U = [R  inv(R)ᵀ A₁₂]   with Rᵀ R = A₁₁      every SIMD-group: 32 columns
    update: A₂₂ - Uᵀ U              (upper triangle)    every thread: 8 rows of one column

It works on the upper triangle, where the columns that the lanes of a SIMD-group hold lie side by
side in memory, and transposes in the end.
"""

from __future__ import annotations

import mlx.core as mx
import numpy as np

import anymetal
from anymetal.cli.demo.oracle import distance
from anymetal.cli.demo.screen import Screen
from anymetal.timing import interleaved

BLOCK = 32
ROWS = 8

# One SIMD-group per threadgroup. Each factors the diagonal block again for itself, which takes
# less time than a launch of its own: lane c holds column c, pivots travel by shuffle.
_PANEL = """
    threadgroup float top[32][32];
    uint n = a_shape[0];
    uint lane = thread_index_in_simdgroup, column = thread_position_in_grid.x;

    float diagonal[32];
    for (uint row = 0; row < 32; ++row) {
        diagonal[row] = a[row * n + lane];
    }
    for (uint row = 0; row < 32; ++row) {
        float pivot = simd_shuffle(diagonal[row], row);
        float scaled = diagonal[row] / metal::sqrt(pivot);
        top[row][lane] = scaled;
        for (uint below = row + 1; below < 32; ++below) {
            diagonal[below] -= simd_shuffle(scaled, below) * scaled;
        }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);

    float x[32];
    for (uint row = 0; row < 32; ++row) {
        x[row] = a[row * n + column];
    }
    for (uint row = 0; row < 32; ++row) {
        x[row] /= top[row][row];
        for (uint below = row + 1; below < 32; ++below) {
            x[below] -= top[row][below] * x[row];
        }
        panel[row * n + column] = row <= column ? x[row] : 0.0f;
    }
"""

_UPDATE = """
    uint n = a_shape[0], m = n - 32;
    uint column = thread_position_in_grid.x, row = thread_position_in_grid.y * ROWS;
    if (row > thread_position_in_grid.x / 32 * 32 + 31) {
        return;  // the whole SIMD-group lies below the diagonal, where nobody looks
    }
    float sum[ROWS] = {0};
    for (uint k = 0; k < 32; ++k) {
        const device float* u = panel + k * n + 32;
        float right = u[column];
        for (uint r = 0; r < ROWS; ++r) {
            sum[r] += u[row + r] * right;
        }
    }
    for (uint r = 0; r < ROWS; ++r) {
        rest[(row + r) * m + column] = a[(row + r + 32) * n + column + 32] - sum[r];
    }
"""

_panel = anymetal.metal_kernel(
    name="demo_cholesky_panel", input_names=["a"], output_names=["panel"], source=_PANEL
)
_update = anymetal.metal_kernel(
    name="demo_cholesky_update",
    input_names=["a", "panel"],
    output_names=["rest"],
    source=_UPDATE,
)


def cholesky(a: mx.array) -> mx.array:
    """The lower triangle L with L Lᵀ = a, for a symmetric positive definite float32 matrix."""
    size = a.shape[0]
    missing = -size % BLOCK
    if missing:  # up to whole blocks, with ones on the diagonal
        a = mx.pad(a, [(0, missing), (0, missing)])
        index = mx.arange(size + missing)
        a = mx.where((index[:, None] == index) & (index >= size), 1.0, a)
    panels = []
    for left in range(size + missing, 0, -BLOCK):
        (panel,) = _panel(
            inputs=[a],
            grid=(left, 1, 1),
            threadgroup=(BLOCK, 1, 1),
            output_shapes=[(BLOCK, left)],
            output_dtypes=[a.dtype],
        )
        panels.append(mx.pad(panel, [(0, 0), (size + missing - left, 0)]))
        if left > BLOCK:
            rest = left - BLOCK
            (a,) = _update(
                inputs=[a, panel],
                template=[("ROWS", ROWS)],
                grid=(rest, rest // ROWS, 1),
                threadgroup=(BLOCK, 8, 1),
                output_shapes=[(rest, rest)],
                output_dtypes=[a.dtype],
            )
    return mx.concatenate(panels).T[:size, :size]


def show_cholesky(screen: Screen, size: int, seconds: float) -> None:
    """Error and time beside MLX's and NumPy's own."""
    screen.heading(f"Cholesky of a {size} × {size} matrix")
    launches = 2 * -(-size // BLOCK) - 1
    screen.text(
        f"Two kernels in {launches} launches: one factors {BLOCK} columns with shuffles, "
        "threadgroup memory and private arrays, one updates the rest "
        "(anymetal/cli/demo/cholesky.py).\n"
    )
    random = mx.random.normal((size, size))
    a = random @ random.T / size + mx.eye(size) / 10
    mx.eval(a)
    array = np.array(a)
    exact = np.linalg.cholesky(array.astype(np.float64))
    theirs = distance(mx.linalg.cholesky(a, stream=mx.cpu), exact)
    screen.check("L beside NumPy in float64", distance(cholesky(a), exact), 1e-5)
    screen.text(f"      (mx.linalg.cholesky: {theirs:.1e})")
    with screen.console.status("measuring"):
        timings = interleaved(
            {
                "AnyMetal": lambda: mx.eval(cholesky(a)),
                "mx.linalg.cholesky": lambda: mx.eval(mx.linalg.cholesky(a, stream=mx.cpu)),
                "numpy.linalg.cholesky": lambda: np.linalg.cholesky(array),
            },
            seconds,
        )
    rate = size**3 / 3 / timings[0].median / 1e9
    screen.text(f"\n  In float32, {rate:.1f} GFLOP/s:")
    screen.comparison(timings)
