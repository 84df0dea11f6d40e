"""What a target is given, and what it must do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import mlx.core as mx

from anymetal.signature import KernelDefinition, Template
from anymetal.source import KernelSource

if TYPE_CHECKING:
    from anymetal.runtime.arrays import Exporter


@dataclass(slots=True)
class Launch:
    """One call of a kernel, checked and converted."""

    source: KernelSource
    inputs: Sequence[mx.array]  #: in the order of the input names; perhaps not evaluated yet
    output_shapes: Sequence[tuple[int, ...]]
    output_dtypes: Sequence[mx.Dtype]
    grid: tuple[int, int, int]  #: threads; a zero means that no thread runs
    threadgroup: tuple[int, int, int]  #: as requested: to be clamped to the grid
    init_value: float | None  #: rounded to float32; None leaves the outputs as they come
    ensure_row_contiguous: bool  #: bind row-contiguous copies of inputs that are not
    definition: KernelDefinition
    template: Template
    stream: object  #: as passed; only a target with GPU streams looks at it


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

    def run(self, launch: Launch) -> list[mx.array]:
        """Run the kernel, or record that it shall run, and return its outputs."""

    def run_in_place(
        self,
        source: KernelSource,
        arrays: Sequence[Exporter],
        grid: tuple[int, int, int],
        threadgroup: tuple[int, int, int],
    ) -> None:
        """Run the kernel on arrays that exist: all that it reads, then all that it writes.

        They are evaluated, and row-contiguous unless they are arrays of MLX that are read; the
        extents are checked. Raises UnsupportedFeatureError where a target has no such launches.
        """
