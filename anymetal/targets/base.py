"""What a target is given, and what it must do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from anymetal.errors import KernelLaunchError
from anymetal.ir.sizes import MAX_THREADS_PER_THREADGROUP
from anymetal.source import KernelSource

if TYPE_CHECKING:  # variant.py needs neither, where kernels are compiled
    import mlx.core as mx

    from anymetal.runtime.arrays import Exporter
    from anymetal.signature import KernelDefinition, Template


Extent = tuple[int, int, int]

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
            f"threadgroup ({MAX_THREADS_PER_THREADGROUP})."
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
    definition: KernelDefinition
    template: Template
    stream: object  #: as passed
    lift: Lift | None = None  #: the rule for mx.vmap, if the kernel has one


class KeywordArguments(NamedTuple):
    """The keyword arguments of a call of a kernel: as they were passed, or of equal meaning."""

    given: dict[str, Any]
    defaults: dict[str, Any]  #: of those that may be left out


class CallCache(Protocol):
    """Calls of one kernel that were kept (`Target.keep`)."""

    def __call__(self, call: dict[str, Any]) -> list[mx.array] | None:
        """The outputs of a call like one of them; None if there is none like it."""


#: What was kept of calls holds as long as this is the same object.
epoch = object()


def new_epoch() -> None:
    """Forget all calls: they would come to something else now."""
    global epoch
    epoch = object()


class Target(Protocol):
    """Something that kernels run on."""

    @property
    def name(self) -> str:
        """Short name, as `anymetal doctor` shows it."""

    @property
    def lazy(self) -> bool:
        """Whether `run` only records the work.

        Then arrays under transformation are welcome, and errors surface at evaluation. A target
        that is not lazy never sees an array that cannot be evaluated.
        """

    def become_lazy(self) -> None:
        """Wait until `run` only records; raises ToolchainError with what that takes."""

    def run(self, launch: Launch) -> list[mx.array]:
        """Run the kernel, or record that it has to run, and return its outputs."""

    def keep(
        self, cache: CallCache | None, launch: Launch, call: KeywordArguments
    ) -> CallCache | None:
        """Keep what a call came to, beside what was kept before of this kernel.

        None from a target that looks at each call anew.
        """

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
