"""The demo's elementwise kernels: exp, first over contiguous arrays, then over any strides."""

from __future__ import annotations

import contextlib
import io
import time

import mlx.core as mx
import numpy as np

import anymetal
from anymetal.cli.demo.screen import Screen
from anymetal.timing import duration, interleaved

_EXP = """\
uint i = thread_position_in_grid.x;
out[i] = metal::exp(inp[i]);
"""

_STRIDED = """\
uint2 at = thread_position_in_grid.xy;
out[at.y * inp_shape[1] + at.x] =
    metal::exp(inp[at.y * inp_strides[0] + at.x * inp_strides[1]]);
"""

_exp_kernel = anymetal.metal_kernel(
    name="demo_exp", input_names=["inp"], output_names=["out"], source=_EXP
)
_strided_kernel = anymetal.metal_kernel(
    name="demo_exp_strided",
    input_names=["inp"],
    output_names=["out"],
    source=_STRIDED,
    ensure_row_contiguous=False,
)


def exp(x: mx.array, verbose: bool = False) -> mx.array:
    """exp of every element, in any float type."""
    (out,) = _exp_kernel(
        inputs=[x],
        grid=(x.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
        verbose=verbose,
    )
    return out


def exp_strided(x: mx.array) -> mx.array:
    """The same of a matrix; elements of a view are read where they are, without a copy."""
    (out,) = _strided_kernel(
        inputs=[x],
        grid=(x.shape[1], x.shape[0], 1),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )
    return out


def show_exp(screen: Screen, size: int, seconds: float) -> None:
    """Source, results in three types, speed."""
    screen.heading("Elementwise exp")
    screen.text("You write the body. AnyMetal makes the kernel of it that MLX would make:\n")
    x = mx.random.normal((size,))
    mx.eval(x)
    printed = io.StringIO()
    start = time.perf_counter()
    with contextlib.redirect_stdout(printed):
        mx.eval(exp(x, verbose=True))
    first = time.perf_counter() - start
    screen.source(printed.getvalue().split("```")[1].strip())
    screen.text(f"\n  First call, compiled or found in the cache: {duration(first)}\n")

    for dtype, limit in ((mx.float32, 1e-6), (mx.float16, 2e-3), (mx.bfloat16, 2e-2)):
        values = x[: size // 16].astype(dtype)
        error = _difference(exp(values), mx.exp(values.astype(mx.float32)))
        name = str(dtype).removeprefix("mlx.core.")
        screen.check(f"{name} beside mx.exp", error, limit)

    with screen.console.status("measuring"):
        array = np.array(x)
        timings = interleaved(
            {
                "AnyMetal": lambda: mx.eval(exp(x)),
                "mx.exp": lambda: mx.eval(mx.exp(x)),
                "numpy.exp": lambda: np.exp(array),
            },
            seconds,
        )
    screen.text(f"\n  {size:,} elements in float32:")
    screen.comparison(timings)


def show_strided(screen: Screen, side: int, seconds: float) -> None:
    """A view read in place."""
    screen.heading("The same over a view")
    screen.text(
        "With ensure_row_contiguous=False the kernel gets the middle of a matrix, upside down, as "
        "it is, with its shape and strides:\n"
    )
    screen.source(_STRIDED.strip())
    screen.text("")
    quarter = side // 4
    middle = slice(None, None, -1), slice(quarter, -quarter)
    matrix = mx.random.normal((side, side))
    view = matrix[middle]
    mx.eval(matrix, view)
    screen.check("float32 beside mx.exp", _difference(exp_strided(view), mx.exp(view)), 1e-6)
    with screen.console.status("measuring"):
        array = np.array(matrix)[middle]
        timings = interleaved(
            {
                "AnyMetal, in place": lambda: mx.eval(exp_strided(view)),
                "AnyMetal, copied first": lambda: mx.eval(exp(view)),
                "mx.exp": lambda: mx.eval(mx.exp(view)),
                "numpy.exp": lambda: np.exp(array),
            },
            seconds,
        )
    screen.text(f"\n  {view.size:,} elements of {side} × {side} in float32:")
    screen.comparison(timings)


def _difference(got: mx.array, expected: mx.array) -> float:
    """The largest relative difference."""
    return float(np.array(mx.abs(got.astype(mx.float32) / expected - 1).max()))
