"""The emitter: everything that the grammar has becomes valid LLVM IR that does the same."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from anymetal.analysis.cache import Analyses
from anymetal.emission.emitter import emit, emit_module
from anymetal.ir import types as t
from anymetal.ir.calls import ALL
from anymetal.ir.model import Const, Instr, Program
from anymetal.ir.problem import Problem
from anymetal.ir.rules import RULES, TO_LANES, VECTOR_ONLY
from anymetal.ir.spec import Stage, check
from anymetal.passes import address_spaces
from tests.ir.programs import named, ops, program, run_program
from tests.targets.second.lowering import HostThread

#: Straight code with each operation once at least: on numbers, on memory.
_PROGRAMS = {
    "integers": """
        %x = load i32, ptr %a
        %y = add nsw i32 %x, 3
        %z = sub i32 %y, %x
        %m = mul nuw i32 %z, %y
        %u = udiv i32 %m, 7
        %s = sdiv i32 %m, %x
        %r = urem i32 %m, 9
        %q = srem i32 %m, %x
        %l = shl i32 %x, 2
        %h = lshr exact i32 %l, 1
        %g = ashr i32 %x, 1
        %n = and i32 %g, %h
        %o = or disjoint i32 %n, 64
        %p = xor i32 %o, %q
        %w = zext i32 %p to i64
        %v = sext i32 %r to i64
        %e = add i64 %w, %v
        %c = trunc i64 %e to i32
        %f = freeze i32 %c
        %d = icmp slt i32 %f, %u
        %k = select i1 %d, i32 %s, i32 %f
        %z8 = call i32 @llvm.ctlz.i32(i32 %k, i1 false)
        store i32 %z8, ptr %out
        ret void""",
    "floats": """
        %x = load float, ptr %a
        %y = fadd fast float %x, 1.0
        %z = fsub float %y, %x
        %m = fmul contract float %z, %y
        %d = fdiv float %m, 3.0
        %r = frem float %d, 2.0
        %n = fneg nnan float %r
        %i = fptosi float %n to i32
        %u = fptoui float %d to i32
        %f = sitofp i32 %i to float
        %g = uitofp i32 %u to float
        %h = fptrunc float %f to half
        %w = fpext half %h to float
        %b = bitcast float %w to i32
        %c = fcmp ninf olt float %g, %w
        %k = select i1 %c, i32 %b, i32 %u
        %e = call fast float @llvm.exp.f32(float %g)
        store float %e, ptr %out
        ret void""",
    "memory": """
        %p = alloca [4 x i32], align 4
        %i = call i32 @__am_thread_x()
        %at = getelementptr inbounds [4 x i32], ptr %p, i64 0, i32 %i
        store volatile i32 5, ptr %at
        %v = load volatile i32, ptr %at
        %w = load atomic i32, ptr %a monotonic, align 4
        store atomic i32 %w, ptr %a monotonic, align 4
        %old = atomicrmw volatile add ptr %a, i32 %v monotonic, align 4
        %pair = cmpxchg weak ptr %a, i32 %old, i32 %w monotonic monotonic, align 4
        %done = extractvalue { i32, i1 } %pair, 1
        fence seq_cst
        %n = ptrtoint ptr %at to i64
        %m = inttoptr i64 %n to ptr
        call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %m, i64 %n, i1 false)
        ret void""",
    "flow": """
        start:
        %n = load i32, ptr %a
        br label %head
        head:
        %i = phi i32 [ 0, %start ], [ %next, %both ], [ %next, %head ]
        %next = add i32 %i, 1
        %again = icmp ult i32 %next, %n
        br i1 %again, label %head, label %both
        both:
        %odd = icmp ugt i32 %n, 100
        br i1 %odd, label %head, label %out_of
        out_of:
        %last = phi i32 [ %next, %both ]
        %stop = icmp eq i32 %n, 13
        br i1 %stop, label %never, label %end
        never:
        unreachable
        end:
        store i32 %last, ptr %out
        ret void""",
}


def text_of(thread: Program) -> str:
    """The module of the emitted function, which LLVM takes for valid."""
    text = emit_module(thread, "thread", HostThread(thread))
    llvm.parse_assembly(text, llvm.create_context()).verify()
    return text


def guarded(condition: str, inverted: bool) -> Program:
    """out[0] = a[0] where the condition holds (or does not)."""
    thread = program(
        f"""
        %n = load i32, ptr %out
        %c = icmp {condition} i32 %n, 0
        %p = select i1 %c, ptr %a, ptr null
        %x = load i32, ptr %p
        %y = select i1 %c, i32 %x, i32 -1
        store i32 %y, ptr %out
        ret void"""
    )
    load, holds = named(thread, "x"), named(thread, "c")
    load.op, load.operands = "guarded_load", [load.operands[0], holds]
    if inverted:
        load.flags = "inverted"
    check(thread, Stage.GUARDED)
    return thread


@pytest.mark.parametrize("name", _PROGRAMS)
def test_valid(name: str) -> None:
    thread = program(_PROGRAMS[name])
    check(thread, Stage.GUARDED)
    text_of(thread)


def test_there_is_a_program_for_every_operation() -> None:
    seen = {op for text in _PROGRAMS.values() for op in ops(program(text))}
    seen |= {"guarded_load"}  # below
    assert seen == set(RULES) - VECTOR_ONLY - {TO_LANES}


def test_words_of_memory_and_of_mathematics_stay() -> None:
    lines = "\n".join(text_of(program(_PROGRAMS[name])) for name in ("memory", "floats"))
    for words in (
        "store volatile i32 5",
        "load volatile i32",
        "load atomic i32, ptr %buffer.0 monotonic, align 4",
        "store atomic i32",
        "atomicrmw volatile add ptr",
        "monotonic monotonic, align 4",
        "fence seq_cst",
        "fadd fast float",
        "fmul contract float",
        "fcmp ninf olt float",
        "call fast float @llvm.exp.f32",
    ):
        assert words in lines, words


@pytest.mark.parametrize("condition", ["ne", "eq"])
def test_what_is_not_wanted_is_not_loaded(condition: str) -> None:
    """The address is null there."""
    a, out = (np.array([n], np.int32).view(np.uint8) for n in (7, 0))
    run_program(guarded(condition, inverted=False), [a, out])
    assert out.view(np.int32)[0] == (7 if condition == "eq" else -1)


def test_an_inverted_condition() -> None:
    thread = guarded("eq", inverted=True)
    (choice,) = re.findall("br i1.*", text_of(thread))
    (other,) = re.findall("br i1.*", text_of(guarded("eq", inverted=False)))
    assert choice.split(", ")[1:] == other.split(", ")[:0:-1]


@pytest.mark.parametrize("type_", ["i8", "i16", "i32", "i64"])
def test_the_smallest_number_by_minus_one(type_: str) -> None:
    """LLVM's quotient is undefined, a processor's may trap; Metal's wraps."""
    thread = program(
        f"""
        %x = load {type_}, ptr %a
        %at = getelementptr {type_}, ptr %a, i64 1
        %y = load {type_}, ptr %at
        %q = sdiv {type_} %x, %y
        %r = srem {type_} %x, %y
        store {type_} %q, ptr %out
        %to = getelementptr {type_}, ptr %out, i64 1
        store {type_} %r, ptr %to
        ret void"""
    )
    numbers = np.dtype(f"int{type_[1:]}")
    smallest = np.iinfo(numbers).min
    for pair, expected in (((smallest, -1), (smallest, 0)), ((-7, 2), (-3, -1))):
        out = np.zeros(2, numbers)
        run_program(thread, [np.array(pair, numbers).view(np.uint8), out.view(np.uint8)])
        assert tuple(out) == expected


def test_edges_back_look_whether_the_launch_goes_on() -> None:
    """And the phi takes its value from where the edge comes from."""

    class Stopping(HostThread):
        def repeats(self, source: object, target: object) -> str:
            return self.w.value("load volatile i1, ptr %place")

    thread = program(_PROGRAMS["flow"])
    function = emit(thread, "thread", Stopping(thread))
    llvm.parse_assembly(function, llvm.create_context()).verify()
    assert function.count("load volatile i1") == 2
    assert function.count("label %function.end, label %block.1") == 2


def test_what_only_gangs_know_is_a_defect() -> None:
    thread = program("%x = load i32, ptr %a\nstore i32 %x, ptr %out\nret void")
    call = Instr(t.I1, "call", [Const(t.I1, "true")], ALL, name="%every")
    thread.blocks[0].instrs.insert(0, call)
    call.block = thread.blocks[0]
    with pytest.raises(Problem, match="for gangs: %every"):
        text_of(thread)


#: Pointers of all kinds of memory, alone and where they meet.
_SPACES = """
    start:
    %mine = alloca [4 x i32], align 4
    %i = load i32, ptr %a
    %own = getelementptr [4 x i32], ptr %mine, i64 0, i32 %i
    %ours = getelementptr [4 x i32], ptr @"threadgroup.0.t", i64 0, i32 %i
    %known = getelementptr [4 x i32], ptr @table, i64 0, i32 %i
    store i32 %i, ptr %own
    store i32 %i, ptr %ours
    %n = load i32, ptr %known
    %odd = icmp ugt i32 %i, 1
    %mixed = select i1 %odd, ptr %own, ptr %ours
    store i32 1, ptr %mixed
    %same = icmp eq ptr %own, %known
    br i1 %same, label %one, label %other
    one:
    br label %both
    other:
    br label %both
    both:
    %met = phi ptr [ %known, %one ], [ %a, %other ]
    %maybe = phi ptr [ %out, %one ], [ null, %other ]
    %address = ptrtoint ptr %met to i64
    %x = load i32, ptr %met
    %y = atomicrmw add ptr %maybe, i32 %x monotonic, align 4
    store ptr %own, ptr %out
    call void @llvm.memcpy.p0.p0.i64(ptr %mine, ptr @table, i64 16, i1 false)
    call void @llvm.memset.p0.i64(ptr %out, i8 7, i64 16, i1 false)
    store i64 %address, ptr %out
    ret void"""
_MEMORY = """
    @table = internal constant [4 x i32] [i32 2, i32 3, i32 5, i32 7], align 4
    @"threadgroup.0.t" = external global [4 x i32], align 4"""


def test_address_spaces() -> None:
    thread = program(_SPACES, top=_MEMORY)
    address_spaces.run(Analyses(thread))
    check(thread, Stage.SCALAR)
    text = text_of(thread)
    for line in (
        "store i32 %t.4, ptr addrspace(5)",
        "store i32 %t.4, ptr addrspace(3)",
        "load i32, ptr addrspace(4)",
        "atomicrmw add ptr addrspace(1)",
        "@table = private unnamed_addr addrspace(4) constant",
        "@llvm.memcpy.p5.p4.i64(ptr addrspace(5)",
        "@llvm.memset.p1.i64(ptr addrspace(1)",
        "addrspacecast (ptr null to ptr addrspace(1))",
    ):
        assert line in text, line
