"""Whether a condition holds in all lanes of a gang (see passes/version_by_bounds.py)."""

from __future__ import annotations

from anymetal.analysis.uniformity import Shape
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
        elif isinstance(condition, Instr) and condition.op == "icmp" and self._is_run(condition):
            answer = self._of_ends(condition)
        else:
            vector = self.w.value(f"freeze {self.masks.type} {self.v.vector(condition)}")
            failing = self.masks.both(mask, vector, negate=True)
            answer = self.w.value(f"xor i1 {self.masks.any(failing)}, true")
        self.v.define(instr, answer)

    def _is_run(self, compare: Instr) -> bool:
        """Whether values that grow or fall from lane to lane are compared with one number."""
        left, right = (self.v.shape(v) for v in compare.operands)
        one_bound = (left.is_strided and right.is_uniform) or (left.is_uniform and right.is_strided)
        return one_bound and left.exact and right.exact and compare.operands[0].type.is_int

    def _of_ends(self, compare: Instr) -> str:
        """Compares the first and last lane; others follow, unless the values wrap."""
        w, type_ = self.w, compare.operands[0].type
        signed = compare.arg.startswith("s")
        firsts = [self.v.scalar(v) for v in compare.operands]
        lasts, ordered = list(firsts), ""
        for number, value in enumerate(compare.operands):
            shape: Shape = self.v.shape(value)
            if not shape.is_strided:
                continue
            distance = (w.width - 1) * shape.stride
            lasts[number] = w.value(f"add {type_} {firsts[number]}, {distance}")
            order = f"{'s' if signed else 'u'}{'gt' if distance > 0 else 'lt'}"
            ordered = w.value(f"icmp {order} {type_} {lasts[number]}, {firsts[number]}")
        first, last = (
            w.value(f"icmp {compare.arg} {type_} {left}, {right}")
            for left, right in (firsts, lasts)
        )
        ends = w.value(f"and i1 {first}, {last}")
        both = w.value(f"and i1 {ends}, {ordered}")
        return w.value(f"freeze i1 {both}")
