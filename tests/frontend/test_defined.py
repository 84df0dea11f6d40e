"""Operations that C++ leaves undefined: their new text, and what it computes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from anymetal.frontend.defined import define_semantics
from anymetal.pipeline.program import thread_program
from tests.frontend.kernels import kernel_source
from tests.ir.programs import ir_text, run_text

_DBG = ", !dbg !7"


@pytest.mark.parametrize(
    ("line", "result"),
    [
        # shifts
        ("%r = shl i32 %x, 5", "%r = shl i32 %x, 5"),
        ("%r = shl nuw i32 %x, 33", "%r = shl nuw i32 %x, 1"),
        ("%r = ashr i64 %x, -1", "%r = ashr i64 %x, 63"),
        (
            "%r = shl i32 1, %n" + _DBG,
            "%r.count = and i32 %n, 31\n  %r = shl i32 1, %r.count" + _DBG,
        ),
        ("%3 = lshr i64 %x, %n", "%3.count = and i64 %n, 63\n  %3 = lshr i64 %x, %3.count"),
        (
            '%"ä b" = shl i8 %x, %n',
            '%"ä b.count" = and i8 %n, 7\n  %"ä b" = shl i8 %x, %"ä b.count"',
        ),
        (
            "%r = shl <2 x i16> %v, %w",
            "%r.count = and <2 x i16> %w, splat (i16 15)\n  %r = shl <2 x i16> %v, %r.count",
        ),
        (
            "%r = lshr <2 x i32> <i32 1, i32 2>, <i32 33, i32 -1>",
            "%r.count = and <2 x i32> <i32 33, i32 -1>, splat (i32 31)\n"
            "  %r = lshr <2 x i32> <i32 1, i32 2>, %r.count",
        ),
        # divisions
        ("%r = sdiv exact i64 %x, 4", "%r = sdiv exact i64 %x, 4"),
        ("%r = udiv i32 %x, 0", "%r = udiv i32 %x, 1"),
        (
            "%r = srem i32 7, %n" + _DBG,
            "%r.zero = icmp eq i32 %n, 0\n"
            "  %r.safe = select i1 %r.zero, i32 1, i32 %n\n"
            "  %r = srem i32 7, %r.safe" + _DBG,
        ),
        (
            "%r = udiv <2 x i32> splat (i32 8), %v",
            "%r.zero = icmp eq <2 x i32> %v, splat (i32 0)\n"
            "  %r.safe = select <2 x i1> %r.zero, <2 x i32> splat (i32 1), <2 x i32> %v\n"
            "  %r = udiv <2 x i32> splat (i32 8), %r.safe",
        ),
        # conversions
        (
            "%r = fptosi float %x to i32" + _DBG,
            "%r = call i32 @llvm.fptosi.sat.i32.f32(float %x)" + _DBG,
        ),
        ("%r = fptoui half %x to i8", "%r = call i8 @llvm.fptoui.sat.i8.f16(half %x)"),
        ("%r = fptoui bfloat 1.5 to i16", "%r = call i16 @llvm.fptoui.sat.i16.bf16(bfloat 1.5)"),
        (
            "%r = fptosi <4 x float> %v to <4 x i32>",
            "%r = call <4 x i32> @llvm.fptosi.sat.v4i32.v4f32(<4 x float> %v)",
        ),
        # what has a meaning already
        ("%r = sub i32 %x, %y", "%r = sub i32 %x, %y"),
        ("%r = sitofp i32 %x to float", "%r = sitofp i32 %x to float"),
        ("%r = fdiv float %x, %y", "%r = fdiv float %x, %y"),
    ],
)  # fmt: skip
def test_lines(line: str, result: str) -> None:
    text = define_semantics(f"  {line}\n", large=0)
    assert text.startswith(f"  {result}\n")
    declared = text.removeprefix(f"  {result}\n")
    assert declared.startswith("declare ") if "@llvm." in result else not declared


def test_an_intrinsic_is_declared_once() -> None:
    lines = "  %a = fptosi float %x to i32\n  %b = fptosi float %y to i32\n"
    text = define_semantics(lines, large=0)
    assert text.count("declare i32 @llvm.fptosi.sat.i32.f32(float)") == 1


# ------------------------------------------------------------------------------------ meaning

_EDGES = [0, 1, 2, 5, 31, 32, 33, 63, 64, 100, 2**31 - 1, 2**31, 2**32 - 1]


def _signed(number: int) -> int:
    return number - 2**32 if number >= 2**31 else number


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("shl", lambda a, b: a << b % 32),
        ("lshr", lambda a, b: a >> b % 32),
        ("ashr", lambda a, b: _signed(a) >> b % 32),
        ("udiv", lambda a, b: a // (b or 1)),
        ("urem", lambda a, b: a % (b or 1)),
        ("sdiv", lambda a, b: _truncated(_signed(a), _signed(b) or 1)),
        ("srem", lambda a, b: _signed(a) - _truncated(_signed(a), c := _signed(b) or 1) * c),
    ],
)
def test_integers(op: str, expected: Callable[[int, int], int]) -> None:
    signed = op[0] == "s" and op != "shl"  # -2^31 / -1 stays open
    pairs = [(a, b) for a in _EDGES for b in _EDGES if not (signed and b == 2**32 - 1)]
    text = define_semantics(
        ir_text(
            f"""
            entry:
              br label %loop
            loop:
              %n = phi i64 [ 0, %entry ], [ %next, %loop ]
              %pair = getelementptr [2 x i32], ptr %a, i64 %n
              %second = getelementptr i32, ptr %pair, i64 1
              %x = load i32, ptr %pair
              %y = load i32, ptr %second
              %r = {op} i32 %x, %y
              %to = getelementptr i32, ptr %out, i64 %n
              store i32 %r, ptr %to
              %next = add i64 %n, 1
              %more = icmp ult i64 %next, {len(pairs)}
              br i1 %more, label %loop, label %exit
            exit:
              ret void
            """
        ),
        large=0,
    )
    given, result = np.array(pairs, np.uint32), np.zeros(len(pairs), np.uint32)
    run_text(text, [given.view(np.uint8), result.view(np.uint8)])
    assert result.tolist() == [expected(a, b) % 2**32 for a, b in pairs]


@pytest.mark.parametrize(
    ("sign", "bits", "number", "expected"),
    [
        ("s", 32, 1e20, 2**31 - 1),
        ("s", 32, -1e20, 2**31),
        ("s", 32, -1.9, 2**32 - 1),
        ("u", 32, -5.0, 0),
        ("u", 32, 4e9, 4_000_000_000),
        ("u", 32, np.inf, 2**32 - 1),
        ("s", 32, np.nan, 0),
        ("u", 8, 300.0, 255),
        ("s", 16, -40000.0, 2**32 - 32768),
    ],
)
def test_conversions(sign: str, bits: int, number: float, expected: int) -> None:
    extended = (
        f"{'z' if sign == 'u' else 's'}ext i{bits} %n to i32" if bits < 32 else "add i32 %n, 0"
    )
    text = define_semantics(
        ir_text(
            f"""
            %x = load float, ptr %a
            %n = fpto{sign}i float %x to i{bits}
            %r = {extended}
            store i32 %r, ptr %out
            ret void
            """
        ),
        large=0,
    )
    given, result = np.array([number], np.float32), np.zeros(1, np.uint32)
    run_text(text, [given.view(np.uint8), result.view(np.uint8)])
    assert result[0] == expected


def test_exceptions_of_floating_point_are_not_observed() -> None:
    text = 'attributes #1 = { alwaysinline strictfp "a"="b" }\nattributes #2 = { strictfp }\n'
    assert "strictfp" not in (defined := define_semantics(text, 0))
    assert 'alwaysinline nounwind "a"="b"' in defined


def test_functions_under_a_pragma_for_exceptions_are_inlined() -> None:
    header = "inline float f(float a) { return a + 1; }\n#pragma STDC FENV_ACCESS ON"
    thread_program(kernel_source("out[0] = f(a[0]);", header))
