"""Observers of a compilation for NVIDIA GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anymetal.pipeline.stages import Stages

if TYPE_CHECKING:
    from anymetal.emission.marks import Marks
    from anymetal.ir.model import Instr, Program


class WarpStages(Stages):
    """Is also told about the program that was written as that of a GPU's thread."""

    def marks(self) -> Marks | None:
        """Marks for the generated code, if it is to be explained."""
        return None

    def written(self, program: Program, apart: list[tuple[Instr, Instr]]) -> None:
        """Called when LLVM IR of this program has been written. `apart`: why threads of a warp keep
        in step, if they do (convergence.py)."""
