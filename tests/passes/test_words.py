"""half and bfloat cross memory, selections and phis as 16-bit words."""

from __future__ import annotations

import pytest

from anymetal.ir import types as t
from anymetal.ir.spec import Stage
from anymetal.passes import words
from tests.ir.programs import program
from tests.passes.semantics import assert_same

_PASS = [(words.run, Stage.GUARDED)]
_BODY = """
  %x = load {kind}, ptr %a, align 2
  %at = getelementptr i8, ptr %a, i64 2
  %y = load {kind}, ptr %at, align 2
  %sum = fadd {kind} %x, %y
  %less = fcmp olt {kind} %x, %y
  br i1 %less, label %then, label %end
then:
  %most = select i1 %less, {kind} %sum, {kind} {one}
  br label %end
end:
  %merged = phi {kind} [ %most, %then ], [ {minus}, %entry ]
  store {kind} %merged, ptr %out, align 2
  ret void
"""
_CONSTANTS = {"half": ("0xH3C00", "0xHC000"), "bfloat": ("0xR3F80", "0xRC000")}


@pytest.mark.parametrize("kind", _CONSTANTS)
def test_only_arithmetic_sees_narrow_numbers(kind: str) -> None:
    one, minus = _CONSTANTS[kind]
    read = program(_BODY.format(kind=kind, one=one, minus=minus))
    words.run(read)
    for instr in read.instructions():
        narrow = [v for v in (instr, *instr.operands) if v.type in (t.HALF, t.BFLOAT)]
        if instr.op in ("fadd", "fcmp"):
            assert narrow
        elif instr.op != "bitcast":
            assert not narrow, instr.op
    phi = next(i for i in read.instructions() if i.op == "phi")
    assert getattr(phi.operands[1], "text", "") == "-16384"


def test_results_stay() -> None:
    one, minus = _CONSTANTS["half"]
    assert_same(_BODY.format(kind="half", one=one, minus=minus), _PASS)
