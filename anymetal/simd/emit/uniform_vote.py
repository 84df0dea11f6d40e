"""Whether a condition holds in all lanes of a gang (see passes/version_by_bounds.py)."""

from __future__ import annotations

from anymetal.ir.model import Instr
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.masks import Mask


class UniformVote(GangEmitter):
    """Emits the vote. Gangs that may lack lanes do not compute it: the answer is no."""

    def emit(self, instr: Instr, mask: Mask) -> None:
        condition = instr.operands[0]
        if self.partial:
            answer = "false"
        elif self.v.shape(condition).is_uniform:
            answer = self.w.value(f"freeze i1 {self.v.scalar(condition)}")
        else:
            vector = self.w.value(f"freeze {self.masks.type} {self.v.vector(condition)}")
            failing = self.masks.both(mask, vector, negate=True)
            answer = self.w.value(f"xor i1 {self.masks.any(failing)}, true")
        self.v.define(instr, answer)
