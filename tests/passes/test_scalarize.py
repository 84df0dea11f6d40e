"""Scalar code computes what the vectors computed."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Access
from anymetal.ir.problem import Problem
from anymetal.ir.spec import Stage
from anymetal.passes import scalarize
from tests.ir.programs import ops, program
from tests.passes.semantics import assert_same

_PASS = [(scalarize.run, Stage.SCALAR)]


def _cast(source: str, target: str) -> str:
    return f"""
        %v = load {source}, ptr %a
        %r = bitcast {source} %v to {target}
        store {target} %r, ptr %out
        ret void
    """


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("<4 x float>", "<4 x i32>"),
        ("<4 x i8>", "i32"),
        ("i64", "<4 x i16>"),
        ("<2 x half>", "float"),
        ("float", "<2 x bfloat>"),
        ("<4 x float>", "<2 x i64>"),
        ("<2 x double>", "<8 x half>"),
        ("<3 x i32>", "<6 x i16>"),
        ("<6 x half>", "<3 x float>"),
        ("<8 x i8>", "<2 x i32>"),
        ("<8 x i1>", "i8"),
        ("i16", "<16 x i1>"),
        ("<32 x i1>", "<4 x i8>"),
        ("<4 x i8>", "<32 x i1>"),
        ("<16 x i1>", "half"),
        ("<64 x i1>", "<2 x float>"),
        ("double", "<64 x i1>"),
    ],
)
def test_bit_casts(source: str, target: str) -> None:
    assert_same(_cast(source, target), _PASS)


def test_bit_casts_between_widths_that_do_not_divide_each_other() -> None:
    assert_same(
        """
        %v = load <3 x i16>, ptr %a
        %r = bitcast <3 x i16> %v to <2 x i24>
        %w = zext <2 x i24> %r to <2 x i32>
        store <2 x i32> %w, ptr %out
        ret void
        """,
        _PASS,
    )


_ELEMENTWISE = [
    "%r = add <4 x i32> %u, %w",
    "%r = mul nuw nsw <4 x i32> %u, <i32 0, i32 1, i32 poison, i32 1>\n"
    "%r0 = freeze <4 x i32> %r\nstore <4 x i32> %r0, ptr %q\nret void",
    "%r = lshr <4 x i32> %u, splat (i32 3)",
    "%r = xor <4 x i32> %u, <i32 1, i32 -2, i32 3, i32 -4>",
    "%c = icmp slt <4 x i32> %u, %w\n%r = select <4 x i1> %c, <4 x i32> %u, <4 x i32> %w",
    "%k = load i8, ptr %a\n%e = trunc i8 %k to i1\n%r = select i1 %e, <4 x i32> %u, <4 x i32> %w",
    "%c = icmp ult <4 x i32> %u, %w\n%r = sext <4 x i1> %c to <4 x i32>",
    "%n = trunc <4 x i32> %u to <4 x i8>\n%r = zext <4 x i8> %n to <4 x i32>",
    "%r = call <4 x i32> @llvm.ctpop.v4i32(<4 x i32> %u)",
    "%r = call <4 x i32> @llvm.ctlz.v4i32(<4 x i32> %u, i1 false)",
    "%r = call <4 x i32> @llvm.fshl.v4i32(<4 x i32> %u, <4 x i32> %w, <4 x i32> splat (i32 5))",
    "%r = call <4 x i32> @llvm.umax.v4i32(<4 x i32> %u, <4 x i32> zeroinitializer)",
    "%r = call <4 x i32> @llvm.fptosi.sat.v4i32.v4f32(<4 x float> %f)",
    "%r = shufflevector <4 x i32> %u, <4 x i32> %w, <4 x i32> <i32 7, i32 0, i32 0, i32 4>",
    "%s = shufflevector <4 x i32> %u, <4 x i32> poison, <2 x i32> <i32 2, i32 1>\n"
    "%r = shufflevector <2 x i32> %s, <2 x i32> %s, <4 x i32> <i32 3, i32 2, i32 1, i32 0>",
    "%e = extractelement <4 x i32> %u, i64 2\n"
    "%r = insertelement <4 x i32> %w, i32 %e, i64 1",
    "%k = extractelement <4 x i32> %u, i64 0\n%i = and i32 %k, 3\n"
    "%e = extractelement <4 x i32> %w, i32 %i\n%r = insertelement <4 x i32> %u, i32 %e, i64 3",
    "%k = extractelement <4 x i32> %w, i64 1\n%i = and i32 %k, 3\n"
    "%r = insertelement <4 x i32> %u, i32 99, i32 %i",
    "%g = icmp eq <4 x i32> %u, %u\n%b = bitcast <4 x i1> %g to i4\n%z = zext i4 %b to i32\n"
    "%r = insertelement <4 x i32> %u, i32 %z, i64 0",
]  # fmt: skip


@pytest.mark.parametrize("lines", _ELEMENTWISE)
def test_integers(lines: str) -> None:
    assert_same(
        f"""
        %u = load <4 x i32>, ptr %a
        %p = getelementptr i8, ptr %a, i64 16
        %q = getelementptr i8, ptr %out, i64 16
        %w = load <4 x i32>, ptr %p
        %f = load <4 x float>, ptr %p
        {lines}
        {"" if "ret" in lines else "store <4 x i32> %r, ptr %out, align 16"}
        {"" if "ret" in lines else "ret void"}
        """,
        _PASS,
    )


_FLOATS = [
    "%r = fdiv <3 x float> %x, %y",
    "%r = fneg <3 x float> %x",
    "%h = fptrunc <3 x float> %x to <3 x half>\n%k = fmul <3 x half> %h, %h\n"
    "%r = fpext <3 x half> %k to <3 x float>",
    "%i = fptosi <3 x float> %x to <3 x i32>\n%r = sitofp <3 x i32> %i to <3 x float>",
    "%c = fcmp oge <3 x float> %x, %y\n%r = uitofp <3 x i1> %c to <3 x float>",
    "%r = call <3 x float> @llvm.fma.v3f32(<3 x float> %x, <3 x float> %y, <3 x float> %x)",
    "%r = call <3 x float> @llvm.fabs.v3f32(<3 x float> %x)",
    "%r = call <3 x float> @llvm.powi.v3f32.i32(<3 x float> %x, i32 3)",
]


@pytest.mark.parametrize("lines", _FLOATS)
def test_floats(lines: str) -> None:
    assert_same(
        f"""
        %x = load <3 x float>, ptr %a, align 16
        %p = getelementptr i8, ptr %a, i64 12
        %y = load <3 x float>, ptr %p, align 4
        {lines}
        store <3 x float> %r, ptr %out, align 16
        ret void
        """,
        _PASS,
        floats=True,
    )


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        *[(kind, "i32") for kind in "add mul and or xor smax smin umax umin".split()],
        *[(kind, "float") for kind in "fmax fmin fmaximum fminimum".split()],
        ("and", "i1"),
        ("or", "i1"),
    ],
)
def test_reductions(kind: str, type_: str) -> None:
    name = {"float": "f32"}.get(type_, type_)
    wide, stored = ("zext i1 %r to i32", "%w") if type_ == "i1" else ("add i32 0, 0", "%r")
    assert_same(
        f"""
        %v = load <8 x {type_}>, ptr %a
        %r = call {type_} @llvm.vector.reduce.{kind}.v8{name}(<8 x {type_}> %v)
        %w = {wide}
        store {"i32" if type_ == "i1" else type_} {stored}, ptr %out
        ret void
        """,
        _PASS,
        floats=type_ == "float",
    )


@pytest.mark.parametrize("kind", ["fadd", "fmul"])
def test_reductions_from_a_start_keep_their_order(kind: str) -> None:
    assert_same(
        f"""
        %v = load <8 x float>, ptr %a
        %r = call float @llvm.vector.reduce.{kind}.v8f32(float 1.5, <8 x float> %v)
        store float %r, ptr %out
        ret void
        """,
        _PASS,
        floats=True,
    )


def test_vectors_in_a_loop() -> None:
    """The phis of a vector swap: all are read before any is written."""
    assert_same(
        """
        entry:
          %first = load <2 x float>, ptr %a
          br label %loop
        loop:
          %n = phi i32 [ 0, %entry ], [ %next, %loop ]
          %v = phi <2 x float> [ %first, %entry ], [ %swapped, %loop ]
          %w = phi <2 x float> [ <float 0.5, float 2.0>, %entry ], [ %sum, %loop ]
          %sum = fadd <2 x float> %v, %w
          %swapped = shufflevector <2 x float> %v, <2 x float> %w, <2 x i32> <i32 1, i32 2>
          %next = add i32 %n, 1
          %more = icmp ult i32 %next, 5
          br i1 %more, label %loop, label %exit
        exit:
          %lastw = phi <2 x float> [ %w, %loop ]
          %lasts = phi <2 x float> [ %swapped, %loop ]
          store <2 x float> %lastw, ptr %out
          %q = getelementptr i8, ptr %out, i64 8
          store <2 x float> %lasts, ptr %q
          ret void
        """,
        _PASS,
        floats=True,
    )


def test_vectors_in_private_memory() -> None:
    assert_same(
        """
        %p = alloca [4 x <4 x float>], align 16
        %k = load i32, ptr %a
        %i = and i32 %k, 3
        %v = load <4 x float>, ptr %a
        %at = getelementptr [4 x <4 x float>], ptr %p, i64 0, i32 %i
        store <4 x float> %v, ptr %at
        %w = load <4 x float>, ptr %at
        store <4 x float> %w, ptr %out
        ret void
        """,
        _PASS,
    )


def test_elements_are_accessed_as_the_vector_was() -> None:
    read = program(
        """
        %v = load <4 x half>, ptr %a, align 1
        store volatile <4 x half> %v, ptr %out, align 16
        ret void
        """
    )
    scalarize.run(Analyses(read))
    accesses = [i.arg for i in read.instructions() if i.op in ("load", "store")]
    assert accesses == [Access(1)] * 4 + [Access(2, volatile=True)] * 4


def test_scalars_stay_as_they_are() -> None:
    read = program("%x = load i32, ptr %a\n%y = add i32 %x, 1\nstore i32 %y, ptr %out\nret void")
    before = list(read.instructions())
    scalarize.run(Analyses(read))
    assert list(read.instructions()) == before


def test_shuffles_cost_nothing() -> None:
    read = program(
        """
        %v = load <4 x i32>, ptr %a
        %s = shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> <i32 3, i32 2, i32 1, i32 0>
        store <4 x i32> %s, ptr %out
        ret void
        """
    )
    scalarize.run(Analyses(read))
    assert ops(read) == ["gep"] * 3 + ["load"] * 4 + ["gep"] * 3 + ["store"] * 4 + ["ret"]


def test_unknown_functions_of_vectors_are_an_error() -> None:
    read = program("%v = load <2 x float>, ptr %a\n%x = fneg <2 x float> %v\nret void")
    negate = read.blocks[0].instrs[1]
    negate.op, negate.arg = "call", "sinhf"
    with pytest.raises(Problem, match="vector operands in a call of sinhf"):
        scalarize.run(Analyses(read))
