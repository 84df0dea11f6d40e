"""The larger and the smaller of two floats, where NaN stands for no number.

A processor's maximum gives one of its operands, whichever, if the other is NaN: LLVM compares and
selects in addition. AVX-512DQ has an instruction that does what Metal asks for.
"""

from __future__ import annotations

from anymetal.emission.writer import Writer

#: What LLVM's intrinsics are to the instruction: which number, and the sign of what was chosen.
CHOICES = {"minnum": "4", "maxnum": "5"}
LANES = 16  #: of a register
_CALLEE = "llvm.x86.avx512.mask.range.ps.512"


def extreme(w: Writer, choice: str, a: str, b: str) -> str:
    """Of two registers."""
    wide = f"<{LANES} x float>"
    args = [(wide, a), (wide, b), ("i32", CHOICES[choice]), (wide, "zeroinitializer")]
    return w.call(wide, _CALLEE, [*args, ("i16", "-1"), ("i32", "4")])
