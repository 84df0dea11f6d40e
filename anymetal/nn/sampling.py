"""`grid_sample`: images with the channels last, sampled at arbitrary points, with gradients."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import cast

import mlx.core as mx

from anymetal.custom import CustomFunction, custom_function, in_front
from anymetal.errors import DtypeError
from anymetal.nn import sampling_kernels as kernels
from anymetal.nn.sampling_kernels import MODES, PADDING_MODES, Sampling
from anymetal.nn.sampling_ops import sample_with_ops
from anymetal.routines import routine
from anymetal.tune.switch import choose

_DTYPES = (mx.float32, mx.float16, mx.bfloat16)
_MOST = 2**31 - 1  #: threads along one axis of a launch


@routine
def grid_sample(
    x: mx.array,
    grid: mx.array,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    path: str | None = None,
    explain: bool = False,
) -> mx.array:
    """Sample images at the points of a grid; differentiable in both.

    The same as PyTorch's `grid_sample` (the spatial transformer of Jaderberg et al., 2015,
    section 3.3), apart from the place of the channels. Arithmetic is in float32 whatever the
    dtypes, and so are the sums of the gradients. A coordinate that is NaN lies outside with
    "zeros", and is pixel 0 with "border"; with "reflection" NaN and infinities are some pixel.

    Args:
        x: Images (N, H, W, C) of float32, float16 or bfloat16.
        grid: Points (N, H', W', 2) of one of these dtypes, as (x, y) from -1 to 1 over the image.
        mode: "bilinear", "nearest" (ties to even pixels) or "bicubic" (Keys, 1981, a = -3/4).
        padding_mode: What lies outside of the image: "zeros", the nearest pixel of the "border",
            or the image mirrored by "reflection".
        align_corners: -1 and 1 are the centres of the outer pixels, not their outer edges.
        path: "kernel"; "atomics", which differs in the gradient of x only: every sample adds its
            part, where "kernel" lets every pixel gather its samples; "mlx", operations of MLX.
            None lets the switch choose, by (N, H, W, C, H', W') and the dtype of x.
        explain: Print which path was chosen, and why, to the standard error stream.

    Returns:
        The samples (N, H', W', C), of x's dtype.

    Raises:
        TypeError: Something that is no array.
        DtypeError: Another dtype.
        ValueError: A shape or name that does not fit.
    """
    _check(x, grid, mode, padding_mode)
    choice = choose(
        "grid_sample",
        sizes=(*x.shape, *grid.shape[1:3]),
        dtype=x.dtype,
        among=tuple(_WAYS),
        default="kernel",
        forced=path,
        explain=explain,
    )
    shape = (*grid.shape[:3], x.shape[3])
    if math.prod(shape) == 0:
        return mx.zeros(shape, x.dtype)
    return _WAYS[choice.path](x, grid, Sampling(mode, padding_mode, bool(align_corners)))


def _by_kernel(x: mx.array, grid: mx.array, sampling: Sampling) -> mx.array:
    return _differentiable(sampling, kernels.x_gradient)(x, grid)


def _by_atomics(x: mx.array, grid: mx.array, sampling: Sampling) -> mx.array:
    return _differentiable(sampling, kernels.x_gradient_added)(x, grid)


_WAYS: dict[str, Callable[[mx.array, mx.array, Sampling], mx.array]] = {
    "kernel": _by_kernel,
    "atomics": _by_atomics,
    "mlx": sample_with_ops,
}
#: The paths, as functions like `grid_sample`.
PATHS = {name: functools.partial(grid_sample, path=name) for name in _WAYS}


@functools.cache
def _differentiable(
    sampling: Sampling,
    x_gradient: Callable[[mx.array, mx.array, mx.array, Sampling], mx.array],
) -> Callable[[mx.array, mx.array], mx.array]:
    """The kernels of one way to sample, as a function that MLX can differentiate.

    The gradients are launches of their own: who differentiates by one argument only does not pay
    for the other one where launches are lazy.
    """

    sampled = _in_batches(lambda x, grid: kernels.sample(x, grid, sampling))
    of_x = _in_batches(lambda x, grid, dy: x_gradient(x, grid, dy, sampling))
    of_grid = _in_batches(lambda x, grid, dy: kernels.points_gradient(x, grid, dy, sampling))

    @sampled.vjp
    def gradients(
        primals: tuple[mx.array, mx.array], cotangent: mx.array, _: mx.array
    ) -> tuple[mx.array, mx.array]:
        return of_x(*primals, cotangent), of_grid(*primals, cotangent)

    return cast("Callable[[mx.array, mx.array], mx.array]", sampled)


def _in_batches(function: Callable[..., mx.array]) -> CustomFunction:
    """With a rule for `mx.vmap`: images of all elements are images of one call."""
    custom = custom_function(function)

    @custom.vmap
    def of_all(inputs: list[mx.array], axes: list[int | None]) -> tuple[mx.array, int]:
        batches, size = in_front(inputs, axes)
        found = custom(*(batch.reshape(-1, *batch.shape[2:]) for batch in batches))
        return found.reshape(size, -1, *found.shape[1:]), 0

    return custom


def _check(x: mx.array, grid: mx.array, mode: str, padding_mode: str) -> None:
    for name, value, known in (
        ("mode", mode, MODES),
        ("padding_mode", padding_mode, PADDING_MODES),
    ):
        if value not in known:
            raise ValueError(
                f"[grid_sample] {name} is {value!r}; it must be one of {', '.join(known)}."
            )
    for name, array in (("x", x), ("grid", grid)):
        if not isinstance(array, mx.array):
            raise TypeError(f"[grid_sample] {name} is a {type(array).__name__}, not an mx.array.")
        if array.dtype not in _DTYPES:
            raise DtypeError(
                f"[grid_sample] {name} has dtype {array.dtype}; it must be float32, float16 or "
                "bfloat16: convert it with astype."
            )
        if array.ndim != 4:
            raise ValueError(
                f"[grid_sample] {name} has shape {array.shape}; it must have 4 dimensions, "
                "(N, H, W, C) for x and (N, H', W', 2) for grid."
            )
    if grid.shape[3] != 2:
        raise ValueError(
            f"[grid_sample] grid has shape {grid.shape}; its last dimension holds x and y and must "
            "be 2."
        )
    if x.shape[0] != grid.shape[0]:
        raise ValueError(
            f"[grid_sample] x has {x.shape[0]} images and grid has points for {grid.shape[0]}; "
            "there must be as many."
        )
    if x.shape[1] == 0 or x.shape[2] == 0:
        raise ValueError(f"[grid_sample] x has shape {x.shape}: its images have no pixels.")
    if grid.shape[1] * grid.shape[2] > _MOST:
        raise ValueError(
            f"[grid_sample] grid has {grid.shape[1]} × {grid.shape[2]} points for an image; at "
            f"most {_MOST} are possible: sample rows of the grid one after the other."
        )
