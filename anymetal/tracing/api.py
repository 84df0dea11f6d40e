"""`anymetal.trace`: the call of a kernel, with one thread told step by step."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, ParamSpec, TextIO, TypeVar

import mlx.core as mx

from anymetal import targets
from anymetal.errors import KernelLaunchError
from anymetal.runtime import arrays
from anymetal.runtime.arrays import Exporter
from anymetal.source import KernelSource
from anymetal.targets.base import LARGE, Extent, Launch, Target, check_extents
from anymetal.tracing.text import lines_of

_P = ParamSpec("_P")
_R = TypeVar("_R")
_one_at_a_time = threading.RLock()


def trace(
    kernel: Callable[_P, _R], thread: Sequence[int] = (0, 0, 0), file: TextIO | None = None
) -> Callable[_P, _R]:
    """Call a kernel, and print each line that one of its threads executes, with what it assigns.

    The whole grid runs, at once and on the CPU, in a build whose threads are not vectorized and
    whose variables are kept in memory; one of them tells what it does. Loops tell each iteration.
    Values are those of this build: sums that fast maths adds in another order may differ in their
    last bits from those of an ordinary launch.

    Args:
        kernel: What `metal_kernel` returns, a kernel of a `MetalLibrary`, or a function that calls
            kernels, all of which are traced then.
        thread: Which thread, by its `thread_position_in_grid`; what is missing is 0.
        file: Where to print to; the standard output by default.

    Returns:
        A function that takes what the kernel takes, and returns what it returns, evaluated.

    Raises:
        ValueError: `thread` is not one to three numbers from 0 up. Also the call of the result,
            under mx.compile, where inputs have no values.
        KernelLaunchError: The call of the result, if the grid has no such thread.

    Example:
        >>> import mlx.core as mx
        >>> import anymetal
        >>> powers = anymetal.metal_kernel(
        ...     name="powers",
        ...     input_names=["x"],
        ...     output_names=["y"],
        ...     source=\"\"\"
        ...     uint i = thread_position_in_grid.x;
        ...     float p = 1;
        ...     for (int k = 0; k < 2; k++)
        ...         p *= x[i];
        ...     y[i] = p;
        ... \"\"\",
        ... )
        >>> y = anymetal.trace(powers, thread=(3,))(
        ...     inputs=[mx.arange(8.0)],
        ...     grid=(8, 1, 1),
        ...     threadgroup=(8, 1, 1),
        ...     output_shapes=[(8,)],
        ...     output_dtypes=[mx.float32],
        ... )
        thread (3, 0, 0) of powers
            2  uint i = thread_position_in_grid.x;  i = 3
            3  float p = 1;                         p = 1
            4  for (int k = 0; k < 2; k++)          k = 0, true
            5      p *= x[i];                       p = 3
            4  for (int k = 0; k < 2; k++)          k = 1, true
            5      p *= x[i];                       p = 9
            4  for (int k = 0; k < 2; k++)          k = 2, false
            6  y[i] = p;                            y[3] = 9
    """
    wanted = [int(one) for one in thread]
    if not 1 <= len(wanted) <= 3 or min(wanted) < 0:
        raise ValueError(f"thread={thread!r} must be one to three numbers from 0 up")
    x, y, z = (*wanted, 0, 0)[:3]

    @functools.wraps(kernel, assigned=("__name__", "__doc__"), updated=())
    def traced(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with _one_at_a_time:
            before = targets.put_in_front(
                functools.partial(_TracingTarget, thread=(x, y, z), file=file or sys.stdout)
            )
            try:
                return kernel(*args, **kwargs)
            finally:
                targets.put_in_front(before)

    return traced


class _TracingTarget(Target):
    """Runs launches at once, and prints what the thread does."""

    def __init__(self, behind: Target, thread: Extent, file: TextIO) -> None:
        self.name = behind.name
        self._thread, self._file = thread, file

    def run(self, launch: Launch) -> list[mx.array]:
        """The outputs, evaluated."""
        mx.eval(launch.inputs)
        pairs = zip(launch.output_shapes, launch.output_dtypes, strict=True)
        outputs = [arrays.new_output(shape, dtype, launch.init_value) for shape, dtype in pairs]
        bound = [*launch.inputs, *outputs]
        self._run(
            launch.source, bound, launch.grid, launch.threadgroup, launch.ensure_row_contiguous
        )
        return outputs

    def run_in_place(
        self, source: KernelSource, arrays: Sequence[Exporter], grid: Extent, threadgroup: Extent
    ) -> None:
        """The same for a kernel of a Metal library, whose outputs exist."""
        self._run(source, list(arrays), grid, threadgroup, True)

    def _run(
        self,
        source: KernelSource,
        bound: list[Any],
        grid: Extent,
        threadgroup: Extent,
        contiguous: bool,
    ) -> None:
        from anymetal.targets.cpu.traced import TracedPlan

        check_extents(source.name, grid, threadgroup)
        thread = self._thread
        if any(at >= size for at, size in zip(thread, grid, strict=True)):
            raise KernelLaunchError(
                f"kernel `{source.name}`: thread={thread} is not in the grid, which has {grid} "
                "threads"
            )
        large = max((array.nbytes for array in bound), default=0) // LARGE
        plan = TracedPlan(copy(source), grid, threadgroup, large, thread)
        steps = plan.steps(bound, contiguous)
        print(f"thread {thread} of {source.name}{source.template_arguments}", file=self._file)
        for line in lines_of(source, steps):
            print(line, file=self._file)
        if plan.lost:
            print(f"… and {plan.lost} values more", file=self._file)
