"""How fast this machine moves memory: the floor under kernels that compute little."""

from __future__ import annotations

import functools

import mlx.core as mx

from anymetal.kernel import MetalKernel, metal_kernel
from anymetal.machine import caches_here
from anymetal.runtime import recorder

RUNS = 6
MOST = 128 << 20  #: bytes of the array that is copied


@functools.cache
def _kernel() -> MetalKernel:
    return metal_kernel(
        "memory_floor", ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = x[i];"
    )


def copy_of(source: mx.array) -> mx.array:
    """A copy of an array of one dimension, made by a kernel: nothing moves as many bytes faster."""
    (copied,) = _kernel()(
        inputs=[source],
        grid=(source.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[source.shape],
        output_dtypes=[source.dtype],
    )
    return copied


@functools.cache
def bandwidth() -> float:
    """Bytes per second, read and written together, of the fastest of six copies by a kernel.

    The array is twice as large as the last cache; all threads of the pool take part. No
    profile may be running.
    """
    size = min(max(2 * caches_here().last, 64 << 20), MOST) // 4
    source = mx.arange(size, dtype=mx.uint32)
    mx.eval(source)
    recorder.begin()
    try:
        for _ in range(RUNS):
            copied = copy_of(source)
            mx.eval(copied)
            del copied  # MLX gives its memory to the next one
    finally:
        launches = recorder.end().launches
    ours = [launch for launch in launches if launch.grid[0] == size]
    shortest = min(launch.ended - launch.begun for launch in ours)
    return 2 * 4 * size / (shortest * 1e-9)
