"""The memory that pointers lead to, in their types."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir.model import Program
from anymetal.ir.printer import print_program
from anymetal.ir.problem import Problem
from anymetal.ir.spec import Stage, check
from anymetal.passes import address_spaces
from anymetal.pipeline.program import thread_program
from tests.frontend.kernels import kernel_source
from tests.ir.programs import named, program

_TOP = """
    @table = internal constant [4 x i32] [i32 2, i32 3, i32 5, i32 7], align 4
    @"threadgroup.0.t" = external global [4 x i32], align 4"""
#: What stands behind %mine, a private array, and a number %i; the address space of %p.
_CASES = {
    "getelementptr i32, ptr %out, i64 %i": "device",
    "getelementptr i32, ptr @table, i64 %i": "constant",
    'getelementptr i32, ptr @"threadgroup.0.t", i64 %i': "threadgroup",
    "getelementptr i32, ptr %mine, i64 %i": "thread",
    "select i1 %c, ptr %a, ptr %out": "device",
    "select i1 %c, ptr null, ptr %mine": "thread",
    "select i1 %c, ptr %a, ptr %mine": "",
    "select i1 %c, ptr null, ptr null": "",
    "freeze ptr %a": "device",
    "load ptr, ptr %a": "",
    "inttoptr i64 %i to ptr": "",
}


def _typed(line: str) -> Program:
    thread = program(
        f"""
        %mine = alloca [4 x i32], align 4
        %i = load i64, ptr %a
        %c = icmp ugt i64 %i, 1
        %p = {line}
        store i32 1, ptr %p
        store i32 1, ptr %mine
        ret void""",
        top=_TOP,
    )
    address_spaces.run(Analyses(thread))
    check(thread, Stage.SCALAR)
    return thread


@pytest.mark.parametrize("line", _CASES)
def test_address_space(line: str) -> None:
    assert named(_typed(line), "p").type.space == _CASES[line]


def test_a_loop_over_a_pointer() -> None:
    thread = program("""
        start:
        br label %head
        head:
        %p = phi ptr [ %a, %start ], [ %next, %head ]
        %next = getelementptr i32, ptr %p, i64 1
        %x = load i32, ptr %next
        %more = icmp ne i32 %x, 0
        br i1 %more, label %head, label %end
        end:
        ret void""")
    address_spaces.run(Analyses(thread))
    check(thread, Stage.SCALAR)
    assert {named(thread, name).type.space for name in ("p", "next")} == {"device"}


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("getelementptr i32, ptr %out, i64 %i", "mine"),
        ("freeze ptr %a", "mine"),
        ("select i1 %c, ptr %a, ptr %out", "mine"),
    ],
)
def test_another_address_space_breaks_the_grammar(line: str, other: str) -> None:
    thread = _typed(line)
    named(thread, "p").operands[-1 if "select" in line else 0] = named(thread, other)
    with pytest.raises(Problem, match="the result must be"):
        check(thread, Stage.SCALAR)


def test_the_text_of_a_kernel() -> None:
    body = """
        threadgroup float ours[32];
        float mine[4] = {1, 2, 3, 4};
        mine[uint(a[0]) % 4] += a[1];
        ours[thread_position_in_threadgroup.x] = mine[uint(a[2]) % 4];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        out[0] = ours[uint(a[3]) % 32];
    """
    text = print_program(thread_program(kernel_source(body)))
    for space in ("device", "threadgroup", "thread"):
        assert f": {space} ptr = " in text
    assert "device %out)" in text
