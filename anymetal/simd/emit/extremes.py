"""The larger or smaller of two floats; a NaN counts as missing.

A processor's maximum gives one of its operands if the other is NaN, not always the number, so LLVM
adds a comparison and a selection. AVX-512DQ has an instruction that does what Metal asks for.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer

#: LLVM's intrinsics as the instruction's immediate operand.
CHOICES = {"minnum": "4", "maxnum": "5"}
LANES = 16  #: of a register
_CALLEE = "llvm.x86.avx512.mask.range.ps.512"


def extreme(w: Writer, choice: str, a: str, b: str) -> str:
    """The larger or smaller elements of two registers."""
    wide = f"<{LANES} x float>"
    args = [(wide, a), (wide, b), ("i32", CHOICES[choice]), (wide, "zeroinitializer")]
    return w.call(wide, _CALLEE, [*args, ("i16", "-1"), ("i32", "4")])
