"""Multiplication by powers of two, for exponential functions in the headers.

AVX-512 has an instruction that overflows to infinity and underflows to zero as it should. On other
processors the headers add to the exponent's bits and select what is out of range. `__am_scales`, a
constant, tells them which way to go.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer
from anymetal.ir import types as t
from anymetal.ir.calls import SCALE, SCALES
from anymetal.ir.model import Instr
from anymetal.machine import Machine
from anymetal.simd.code.values import VECTOR, Values

_LANES = 16  #: of a register
_CALLEE = "llvm.x86.avx512.mask.scalef.ps.512"


class Scaling:
    """Emits both functions."""

    def __init__(self, writer: Writer, values: Values, machine: Machine) -> None:
        self.w = writer
        self.v = values
        self.machine = machine

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
        w, names = self.w, [self.v.vector(operand) for operand in instr.operands]
        if not self.machine.scales:
            return names[0]
        vector, parts = w.vector(t.FLOAT), []
        for first in range(0, w.width, _LANES):
            order = ", ".join(f"i32 {first + i}" for i in range(_LANES))
            picked = [
                w.value(f"shufflevector {vector} {n}, {vector} poison, <{_LANES} x i32> <{order}>")
                for n in names
            ]
            parts.append(self._call(*picked))
        assert len(parts) == 2
        wide, order = f"<{_LANES} x float>", w.numbers(t.I32, list(range(w.width)))
        return w.value(
            f"shufflevector {wide} {parts[0]}, {wide} {parts[1]}, <{w.width} x i32> {order}"
        )

    def _call(self, number: str, exponent: str) -> str:
        wide = f"<{_LANES} x float>"
        args = [(wide, number), (wide, exponent), (wide, "zeroinitializer"), ("i16", "-1")]
        return self.w.call(wide, _CALLEE, [*args, ("i32", "4")])
