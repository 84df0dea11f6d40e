"""half and bfloat travel as 16-bit words, and compute what they did."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.spec import Stage, check
from anymetal.passes import legalise_floats
from tests.ir.programs import named, program
from tests.passes.semantics import assert_same

_PASS = [(legalise_floats.run, Stage.SCALAR)]
_CARRIERS = ("phi", "select", "freeze", "load", "guarded_load", "store")


@pytest.mark.parametrize("type_", ["half", "bfloat"])
@pytest.mark.parametrize(
    "lines",
    [
        "%r = fadd {T} %x, %y",
        "%r = fneg {T} %x",
        "%c = fcmp ogt {T} %x, %y\n%r = select nnan nsz i1 %c, {T} %x, {T} %y",
        "%c = fcmp oeq {T} %x, 0.0\n%r = select i1 %c, {T} 1.5, {T} -2.5",
        "%f = freeze {T} %x\n%r = fmul {T} %f, 2.0",
        "%f = fpext {T} %x to float\n%g = fmul float %f, 3.0\n%r = fptrunc float %g to {T}",
        "%i = bitcast {T} %x to i16\n%j = xor i16 %i, 1\n%r = bitcast i16 %j to {T}",
        "%n = fptosi {T} %x to i32\n%r = sitofp i32 %n to {T}",
        "%s = fsub {T} %x, %y\n%z = fsub {T} %s, %s\n%r = fadd {T} %z, %s",
    ],
)
def test_computing(type_: str, lines: str) -> None:
    text = f"""
        %x = load {{T}}, ptr %a
        %p = getelementptr i8, ptr %a, i64 2
        %y = load {{T}}, ptr %p
        {lines}
        store {{T}} %r, ptr %out
        ret void
    """
    after = assert_same(text.replace("{T}", type_), _PASS, floats=True)
    narrow = (t.HALF, t.BFLOAT)
    for instr in after.instructions():
        types = {instr.type, *(v.type for v in instr.operands)}
        assert not (instr.op in _CARRIERS and types & set(narrow))


def test_through_a_loop() -> None:
    assert_same(
        """
        entry:
          %x = load half, ptr %a
          br label %loop
        loop:
          %n = phi i32 [ 0, %entry ], [ %next, %loop ]
          %v = phi half [ %x, %entry ], [ %w, %loop ]
          %u = phi half [ 1.0, %entry ], [ %v, %loop ]
          %w = fadd half %v, %u
          %next = add i32 %n, 1
          %more = icmp ult i32 %next, 5
          br i1 %more, label %loop, label %exit
        exit:
          %last = phi half [ %u, %loop ]
          store half %last, ptr %out
          ret void
        """,
        _PASS,
        floats=True,
    )


def test_flags_of_floats_go() -> None:
    """But not the flag of guarded loads, which says on which side of the condition they are."""
    read = program(
        """
        %c = icmp eq ptr %a, null
        %x = load half, ptr %a
        %s = select fast i1 %c, half 1.0, half %x
        store half %s, ptr %out
        ret void
        """
    )
    load = named(read, "x")
    load.op, load.flags = "guarded_load", "inverted"
    load.operands.append(named(read, "c"))
    legalise_floats.run(Analyses(read))
    check(read, Stage.GUARDED)
    assert (load.type, load.flags) == (t.I16, "inverted")
    assert (named(read, "s").type, named(read, "s").flags) == (t.I16, "")


def test_other_types_stay_as_they_are() -> None:
    read = program("%x = load float, ptr %a\nstore float %x, ptr %out\nret void")
    before = list(read.instructions())
    legalise_floats.run(Analyses(read))
    assert list(read.instructions()) == before
