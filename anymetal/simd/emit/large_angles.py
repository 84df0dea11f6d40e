"""Large arguments of sin, cos and tan: calls of our own C++, which few gangs come to.

The reduction modulo pi in integers is as much code as the rest of a sine, and most kernels have
several of these. So it is one function for all (targets/large_angles.h says what it gives).
"""

from __future__ import annotations

from anymetal.emission.lowering import large_angle
from anymetal.ir import types as t
from anymetal.ir.calls import LARGE_ANGLE
from anymetal.ir.model import Instr
from anymetal.simd.code.gang_context import GangEmitter
from anymetal.simd.code.values import VECTOR
from anymetal.simd.emit.runtime_calls import call, stored

#: The function of a gang in generated code.
_ALL = "am_large_angles"


class LargeAngles(GangEmitter):
    """Emits them."""

    def emit(self, instr: Instr) -> bool:
        """Whether the callee is the reduction; then it is emitted."""
        if instr.arg != LARGE_ANGLE:
            return False
        angle, shift, offset = instr.operands
        factors = [self.v.scalar(v) for v in (shift, offset)]
        scalar = vector = ""
        if not self.v.shape(instr).is_varying:
            scalar = large_angle(self.w, [self.v.scalar(angle), *factors])
        if VECTOR in self.v.forms(instr):
            vector = self._vector(self.v.vector(angle), factors)
        self.v.define(instr, scalar, vector)
        return True

    def _vector(self, angles: str, factors: list[str]) -> str:
        w = self.w
        words, longs = w.vector(t.I32), w.vector(t.I64)
        results = [w.alloca(words, "reduced") for _ in range(2)]
        arrays = [("ptr", array) for array in (stored(w, w.vector(t.FLOAT), angles), *results)]
        call(w, _ALL, [*arrays, ("i32", str(w.width)), *(("i64", f) for f in factors)])
        bits, number = (
            w.value(f"zext {words} {w.value(f'load {words}, ptr {array}')} to {longs}")
            for array in results
        )
        above = w.value(f"shl {longs} {number}, {w.splat_constant(t.I64, '32')}")
        return w.value(f"or {longs} {bits}, {above}")
