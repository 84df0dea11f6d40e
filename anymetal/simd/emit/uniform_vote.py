"""Whether a condition holds in all lanes of a gang (see passes/version_by_bounds.py)."""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir.model import Instr
from anymetal.simd.code.masks import Mask, Masks
from anymetal.simd.code.values import Values


class UniformVote:
    """Emits the vote. Gangs at an edge of the grid do not compute it: the answer is no."""

    def __init__(self, writer: Writer, values: Values, masks: Masks, *, edge: bool) -> None:
        self.w = writer
        self.v = values
        self.masks = masks
        self.edge = edge

    def emit(self, instr: Instr, mask: Mask) -> None:
        condition = instr.operands[0]
        if self.edge:
            answer = "false"
        elif self.v.shape(condition).is_uniform:
            answer = self.w.value(f"freeze i1 {self.v.scalar(condition)}")
        else:
            vector = self.w.value(f"freeze {self.masks.type} {self.v.vector(condition)}")
            failing = self.masks.both(mask, vector, negate=True)
            answer = self.w.value(f"xor i1 {self.masks.any(failing)}, true")
        self.v.define(instr, answer)
