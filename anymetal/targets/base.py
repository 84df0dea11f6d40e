"""What a target is given, and what it has to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anymetal.errors import KernelLaunchError, UnsupportedFeatureError
from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP
from anymetal.source import KernelSource

if TYPE_CHECKING:  # variant.py needs neither, where kernels are compiled
    import mlx.core as mx

    from anymetal.locations import Location
    from anymetal.runtime.arrays import Exporter
    from anymetal.signature import KernelDefinition, Template


Extent = tuple[int, int, int]

#: Bytes of an array; from here on 32-bit indices may count as unsigned (frontend/defined.py).
LARGE = 2**31

#: A rule for mx.vmap: inputs and their batch axes to outputs and theirs. None: no axis.
Lift = Callable[
    [Sequence["mx.array"], Sequence[int | None]], tuple[Sequence["mx.array"], Sequence[int]]
]


def check_extents(kernel: str, grid: Extent, threadgroup: Extent) -> None:
    """Refuse launches that a GPU refuses, too; MLX does so at evaluation."""
    x, y, z = threadgroup
    threads = x * y * z
    if not 0 <= threads <= MAX_THREADS_PER_THREADGROUP:
        raise KernelLaunchError(
            f"Thread group size ({threads}) is greater than  the maximum allowed threads per "
            f"threadgroup ({MAX_THREADS_PER_THREADGROUP}). Kernel `{kernel}` was launched with "
            f"threadgroup={threadgroup}."
        )
    if min(grid) < 0 or min(threadgroup) < 0:
        raise KernelLaunchError(
            f"[metal_kernel] Kernel `{kernel}` was launched with "
            f"grid={grid} and threadgroup={threadgroup}: sizes cannot be negative."
        )


@dataclass(slots=True)
class Launch:
    """One call of a kernel, checked and converted."""

    source: KernelSource
    inputs: Sequence[mx.array]  #: in the order of the input names; perhaps not evaluated yet
    output_shapes: Sequence[tuple[int, ...]]
    output_dtypes: Sequence[mx.Dtype]
    grid: Extent  #: threads; a zero means that no thread runs
    threadgroup: Extent  #: as requested: to be clamped to the grid
    init_value: float | None  #: rounded to float32; None leaves the outputs as they come
    ensure_row_contiguous: bool  #: bind row-contiguous copies of inputs that are not
    definition: KernelDefinition | None  #: None: a kernel of a library, which only graphs take
    template: Template
    stream: object  #: as passed
    lift: Lift | None = None  #: the rule for mx.vmap, if the kernel has one
    #: For each output the number of the input whose contents it begins with, or -1. The kernel does
    #: not have these inputs, which are the last ones. Empty: there are none.
    starts: Sequence[int] = ()
    made: Location | None = None  #: where the program made the kernel


class Target(ABC):
    """Something that kernels run on. What MLX's graph asks beside that is in graph.py."""

    name: str  #: in messages
    on_gpu = False  #: whether it runs kernels on GPUs that MLX's streams are of

    @abstractmethod
    def run(self, launch: Launch) -> list[mx.array]:
        """Compile the kernel, if need be, and run it, or record that it has to run; the outputs."""

    def pass_over(self, what: str) -> None:  # noqa: B027
        """Something runs kernels by itself, which the target does not see."""

    def run_in_place(
        self,
        source: KernelSource,
        arrays: Sequence[Exporter],
        grid: Extent,
        threadgroup: Extent,
    ) -> None:
        """Run the kernel on arrays that exist: all that it reads, then all that it writes.

        They are evaluated, and row-contiguous unless they are arrays of MLX that are read; the
        extents are checked. Raises UnsupportedFeatureError where a target has no such launches.
        """
        raise UnsupportedFeatureError(
            f"kernel `{source.name}` of a Metal library cannot run on the target {self.name!r}: it "
            "runs no kernels that bring their own signature. Select the CPU target "
            "(anymetal.targets.select(CpuTarget())), or turn it into a metal_kernel."
        )
