"""Multiplication by powers of two, for exponential functions in the headers.

AVX-512 has an instruction that overflows to infinity and underflows to zero as it should. On other
processors the headers add to the exponent's bits and select what is out of range. `__am_scales`, a
constant, tells them which way to go.
"""

from __future__ import annotations

from anymetal.ir.calls import SCALE, SCALES
from anymetal.ir.model import Instr
from anymetal.simd.code.deinterleave import in_chunks
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.values import VECTOR

_LANES = 16  #: of a register
_CALLEE = "llvm.x86.avx512.mask.scalef.ps.512"


class Scaling(GangEmitter):
    """Emits both functions."""

    def emit(self, instr: Instr) -> bool:
        """Whether the callee is one of the two functions; then it is emitted."""
        if instr.arg == SCALES:
            self.v.define(instr, "true" if self.machine.scales else "false")
        elif instr.arg == SCALE:
            forms = self.v.forms(instr)
            scalar = "" if VECTOR in forms else self._scalar(instr)
            self.v.define(instr, scalar, self._vector(instr) if VECTOR in forms else "")
        else:
            return False
        return True

    def _scalar(self, instr: Instr) -> str:
        names = [self.v.scalar(operand) for operand in instr.operands]
        if not self.machine.scales:
            return names[0]  # unused: the headers go the other way
        wide = f"<{_LANES} x float>"
        lifted = [
            self.w.value(f"insertelement {wide} zeroinitializer, float {n}, i64 0") for n in names
        ]
        return self.w.value(f"extractelement {wide} {self._call(*lifted)}, i64 0")

    def _vector(self, instr: Instr) -> str:
        names = [self.v.vector(operand) for operand in instr.operands]
        if not self.machine.scales:
            return names[0]
        return in_chunks(self.w, names, _LANES, lambda parts: self._call(*parts))

    def _call(self, number: str, exponent: str) -> str:
        wide = f"<{_LANES} x float>"
        args = [(wide, number), (wide, exponent), (wide, "zeroinitializer"), ("i16", "-1")]
        return self.w.call(wide, _CALLEE, [*args, ("i32", "4")])
