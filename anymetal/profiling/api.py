"""`anymetal.profile`: what is profiled where."""

from __future__ import annotations

from anymetal import targets
from anymetal.profiling.session import Profile


def profile() -> Profile:
    """Profile the kernels that a block runs.

    On the CPU launches are timed one by one; a thousand times a second it is noted where the
    threads inside of them are, which gives the slowest lines. On NVIDIA GPUs the GPU's own times
    are told, through the package `cupti-python`, also those of MLX's kernels. Only kernels of this
    process that run inside of the block count, so evaluate what you want to see there (`mx.eval`).

    Returns:
        A context manager; `as` gives the `Profile`, which is filled when the block ends.

    Raises:
        UnsupportedFeatureError: where kernels run on Apple's GPUs.
        ToolchainError: where they run on an NVIDIA GPU, without `cupti-python`.
        RuntimeError: inside of another profile.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> double = anymetal.metal_kernel(
        ...     name="double",
        ...     input_names=["x"],
        ...     output_names=["y"],
        ...     source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];",
        ... )
        >>> with anymetal.profile() as found:
        ...     for _ in range(3):
        ...         (y,) = double(
        ...             inputs=[mx.ones(1000)],
        ...             grid=(1000, 1, 1),
        ...             threadgroup=(250, 1, 1),
        ...             output_shapes=[(1000,)],
        ...             output_dtypes=[mx.float32],
        ...         )
        ...         mx.eval(y)
        >>> [(one.title, one.launches, one.bytes_read, one.flops) for one in found.kernels]
        [('double', 3, 12000, 3000)]
    """
    if targets.active().name == "cuda":
        from anymetal.profiling.gpu import GpuProfile  # brings the compiler for GPUs along

        return GpuProfile()
    return Profile()
