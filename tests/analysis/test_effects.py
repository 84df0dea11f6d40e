"""What instructions do: each row a line of LLVM IR, and the answers that hold for it."""

from __future__ import annotations

import pytest

from anymetal.analysis.effects import (
    ACCESSES,
    is_atomic,
    is_plain,
    is_pure,
    must_stay,
    pointer_of,
    touches,
    writes,
)
from anymetal.ir import types as t
from anymetal.ir.calls import ALL, APART, FORGET, IN_ORDER, LARGE_ANGLE, PREFETCH, SCALE
from anymetal.ir.model import Const, Instr
from tests.ir.programs import program

_QUESTIONS = (writes, touches, must_stay, is_pure, is_plain, is_atomic)


def _answers(instr: Instr) -> str:
    return " ".join(question.__name__ for question in _QUESTIONS if question(instr))


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("%x = add i32 %n, 1", "is_pure"),
        ("%x = getelementptr i8, ptr %a, i32 %n", "is_pure"),
        ("%x = call float @llvm.exp.f32(float %f)", "is_pure"),
        ("%x = call float @erff(float %f)", "is_pure"),
        ("%x = call i32 @__am_lane()", "is_pure"),
        ("%x = alloca i32", ""),  # a copy of it would be other memory
        ("%x = call i32 @__am_shuffle(i32 %n, i32 0)", ""),  # looks at other lanes
        ("%x = call float @__am_reduce_add_f32(float %f)", ""),
        ("%x = load i32, ptr %a", "touches is_plain"),
        ("%x = load volatile i32, ptr %a", "touches must_stay"),
        ("%x = load atomic i32, ptr %a monotonic, align 4", "touches is_atomic"),
        ("store i32 %n, ptr %a", "writes touches must_stay is_plain"),
        ("store volatile i32 %n, ptr %a", "writes touches must_stay"),
        (
            "store atomic i32 %n, ptr %a monotonic, align 4",
            "writes touches must_stay is_atomic",
        ),
        (
            "%x = atomicrmw add ptr %a, i32 %n monotonic",
            "writes touches must_stay is_atomic",
        ),
        (
            "%x = cmpxchg ptr %a, i32 0, i32 %n monotonic monotonic",
            "writes touches must_stay is_atomic",
        ),
        ("fence seq_cst", "writes touches must_stay"),
        ("call void @__am_threadgroup_barrier(i32 1)", "writes touches must_stay"),
        ("call void @__am_simdgroup_barrier(i32 1)", "writes touches must_stay"),
        ("call void @__am_log(ptr %a)", "writes touches must_stay"),
        (
            "call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %out, i64 16, i1 false)",
            "writes touches must_stay",
        ),
    ],
)
def test_what_an_instruction_does(line: str, answers: str) -> None:
    read = program(f"%n = call i32 @__am_gang()\n%f = load float, ptr %a\n{line}\nret void")
    assert _answers(read.blocks[0].instrs[2]) == answers


@pytest.mark.parametrize(
    ("callee", "answers"),
    [
        (ALL, ""),
        (APART, ""),
        (IN_ORDER, ""),
        (FORGET, "writes touches must_stay"),
        (PREFETCH, ""),
        (SCALE, "is_pure"),
        (LARGE_ANGLE, "is_pure"),
        ("_Z3foov", "writes touches must_stay"),
    ],
)
def test_what_calls_do_that_passes_put_in_or_users_name(callee: str, answers: str) -> None:
    assert _answers(Instr(t.VOID, "call", [], callee)) == answers


def test_a_phi_only_computes_a_value_and_the_end_of_a_block_stays() -> None:
    assert _answers(Instr(t.I32, "phi", [Const(t.I32, "1")], [])) == "is_pure"
    assert _answers(Instr(t.VOID, "ret", [])) == "must_stay"


def test_the_address_of_every_access() -> None:
    read = program(
        """
        %l = load i32, ptr %a
        store ptr %out, ptr %a
        %r = atomicrmw add ptr %a, i32 1 monotonic
        %c = cmpxchg ptr %a, i32 0, i32 1 monotonic monotonic
        %g = getelementptr i8, ptr %a, i32 1
        ret void
        """
    )
    found = [i for i in read.instructions() if i.op in ACCESSES]
    assert [pointer_of(i) for i in found] == [read.args[0]] * 4
