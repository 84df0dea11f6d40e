"""The grammar: broken programs do not follow it. That all others do, after every pass, is checked
where kernels are compiled: tests/test_kernel_cases.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.model import (
    Access,
    Argument,
    Block,
    Const,
    ConstVector,
    Global,
    Instr,
    Program,
    Value,
)
from anymetal.ir.problem import Problem
from anymetal.ir.spec import Stage, check
from anymetal.passes import scalarize
from anymetal.pipeline import thread
from anymetal.pipeline.program import thread_program
from anymetal.pipeline.stages import Stages
from tests.frontend.kernels import kernel_source
from tests.ir.programs import named, program


def test_the_checker_sees_the_program_after_every_pass() -> None:
    seen: list[str] = []

    class Seen(Stages):
        def passed(self, name: str, program: Program, stage: Stage, changed: bool) -> None:
            check(program, stage)
            seen.append(name)

    thread_program(kernel_source("out[0] = a[0];"), stages=Seen())
    assert seen == ["read", *(one.name for one in thread.PASSES)]


# -------------------------------------------------------------------------- broken instructions

_BODY = """
    entry:
      %i = load i32, ptr %a
      %j = load i32, ptr %a
      %l = load i64, ptr %a
      %x = load float, ptr %a
      %d = load double, ptr %a
      %v = load <4 x float>, ptr %a
      %u = load <2 x float>, ptr %a
      %c = icmp eq i32 %i, %j
      %s = cmpxchg ptr %a, i32 %i, i32 %j monotonic monotonic
      %sum = add i32 %i, %j
      %g = getelementptr i32, ptr %a, i64 %l
      br i1 %c, label %left, label %right
    left:
      %p = mul i32 %i, %i
      br label %join
    right:
      br label %join
    join:
      %phi = phi i32 [ %p, %left ], [ 0, %right ]
      ret void
"""
#: Lines of a made-up instruction %new behind %g: operation, result, operands, arg, flags, and the
#: rule that it breaks. A string operand is a name of _BODY, or a constant of that type.
Row = tuple[str, t.Type, list[object], Any, str, str]
_READ = Access(4)
INSTRUCTIONS: list[Row] = [
    ("frobnicate", t.I32, [], None, "", "unknown operation"),
    ("add", t.I32, ["i"], None, "", "takes 2 operands"),
    ("add", t.I32, ["i", "l"], None, "", "both operands must have one type"),
    ("add", t.I64, ["i", "j"], None, "", "the result must be i32"),
    ("add", t.FLOAT, ["x", "x"], None, "", "operand 0 must not be float"),
    ("add", t.I32, ["i", "j"], 7, "", "takes no arg"),
    ("add", t.I32, ["i", "j"], None, "exact", "unknown flags ['exact']"),
    ("udiv", t.I32, ["i", "j"], None, "nuw", "unknown flags ['nuw']"),
    ("fadd", t.I32, ["i", "j"], None, "", "operand 0 must not be i32"),
    ("fadd", t.FLOAT, ["x", "x"], None, "nsw", "unknown flags ['nsw']"),
    ("fneg", t.DOUBLE, ["x"], None, "", "the result must be float"),
    ("freeze", t.I64, ["i"], None, "", "the result must be i32"),
    ("trunc", t.I64, ["i"], None, "", "the result must have < bits"),
    ("zext", t.I32, ["i"], None, "", "the result must have > bits"),
    ("sext", t.FLOAT, ["i"], None, "", "the result must not be float"),
    ("fptrunc", t.DOUBLE, ["x"], None, "", "the result must have < bits"),
    ("fpext", t.HALF, ["x"], None, "", "the result must have > bits"),
    ("fptosi", t.I32, ["i"], None, "", "operand 0 must not be i32"),
    ("sitofp", t.I32, ["i"], None, "", "the result must not be i32"),
    ("uitofp", t.Vector(2, t.FLOAT), ["i"], None, "", "casts keep the number of elements"),
    ("ptrtoint", t.I64, ["l"], None, "", "operand 0 must not be i64"),
    ("inttoptr", t.I64, ["l"], None, "", "the result must not be i64"),
    ("bitcast", t.I64, ["x"], None, "", "the result must have = bits"),
    ("icmp", t.I1, ["x", "x"], "eq", "", "operand 0 must not be float"),
    ("icmp", t.I1, ["i", "j"], "oeq", "", "'oeq' is no predicate"),
    ("icmp", t.I8, ["i", "j"], "eq", "", "the result must be i1"),
    ("fcmp", t.I1, ["x", "x"], "eq", "", "'eq' is no predicate"),
    ("fcmp", t.I1, ["v", "v"], "oeq", "", "the result must be <4 x i1>"),
    ("select", t.I32, ["i", "i", "j"], None, "", "the condition must be i1"),
    ("select", t.I32, ["c", "i", "l"], None, "", "both choices must have one type"),
    ("select", t.I64, ["c", "i", "j"], None, "", "the result must be i32"),
    ("select", t.I32, ["c", "i", "j"], None, "nnan", "unknown flags ['nnan']"),
    ("gep", t.PTR, ["g", "x"], (4, 0), "", "operand 1 must not be float"),
    ("gep", t.PTR, ["g", "l"], (4,), "", "a scale per index"),
    ("gep", t.I64, ["g", "l"], (4, 0), "", "private arrays lie apart so far"),
    ("gep", t.I32, ["g", "l"], (4, 0), "", "the result must be like the base"),
    ("alloca", t.PTR, ["i"], (t.I32, 4), "", "takes 0 operands"),
    ("alloca", t.PTR, [], (t.I32, 3), "", "align is a power of two"),
    ("load", t.I32, ["g"], None, "", "arg must be an Access"),
    ("load", t.I32, ["g"], Access(3), "", "align is a power of two"),
    ("load", t.I32, ["g"], Access(8), "", "no access relies on more"),
    ("load", t.I32, ["l"], _READ, "", "operand 0 must not be i64"),
    ("load", t.I1, ["g"], _READ, "", "cannot load i1"),
    ("load", t.Int(21), ["g"], _READ, "", "cannot load i21"),
    ("load", t.Struct((t.I32,)), ["g"], _READ, "", "cannot load { i32 }"),
    ("guarded_load", t.I32, ["g", "c"], _READ, "", "no guarded loads yet"),
    ("store", t.VOID, ["g", "g", "g"], _READ, "", "takes 2 operands"),
    ("store", t.VOID, ["c", "g"], _READ, "", "cannot store i1"),
    ("store", t.VOID, ["i", "j"], _READ, "", "operand 1 must not be i32"),
    ("store", t.I32, ["i", "g"], _READ, "", "the result must be void"),
    ("atomicrmw", t.I32, ["g", "i"], ("add", _READ), "", "Access.atomic must be True"),
    ("atomicrmw", t.FLOAT, ["g", "x"], ("add", Access(4, False, True)), "", "no atomic 'add'"),
    ("atomicrmw", t.I64, ["g", "i"], ("add", Access(4, False, True)), "", "result must be i32"),
    ("cmpxchg", t.I32, ["g", "i", "j"], Access(4, False, True), "", "must be { i32, i1 }"),
    ("cmpxchg", t.I32, ["g", "i", "l"], Access(4, False, True), "", "must have one type"),
    ("extractvalue", t.I32, ["i"], 0, "", "operand 0 must not be i32"),
    ("extractvalue", t.I32, ["s"], 2, "", "no field 2"),
    ("extractvalue", t.I32, ["s"], 1, "", "the result must be i1"),
    ("extractelement", t.I32, ["v", "i"], None, "", "the result must be float"),
    ("extractelement", t.FLOAT, ["x", "i"], None, "", "operand 0 must not be float"),
    ("insertelement", t.Vector(4, t.FLOAT), ["v", "d", "i"], None, "", "vector's element type"),
    ("shufflevector", t.Vector(2, t.FLOAT), ["v", "v"], (0, 8), "", "no such element"),
    ("shufflevector", t.Vector(2, t.FLOAT), ["v", "u"], (0, 1), "", "must have one type"),
    ("shufflevector", t.Vector(3, t.FLOAT), ["v", "v"], (0, 1), "", "must be <2 x float>"),
    ("call", t.I32, [], "exit", "", "no function that programs may call"),
    ("call", t.I32, ["i"], "__am_lane", "", "takes ()"),
    ("call", t.FLOAT, ["x"], "__am_reduce_add_i32", "", "takes (i32)"),
    ("call", t.I64, ["i", "j"], "__am_shuffle", "", "the result must be i32"),
    ("call", t.FLOAT, ["x"], "llvm.exp.f64", "", "neither result nor operands are f64"),
    ("call", t.FLOAT, ["x"], "llvm.exp.v4f32", "", "neither result nor operands are v4f32"),
    ("call", t.FLOAT, ["d"], "sinh", "", "the result must be double"),
    ("fence", t.VOID, ["i"], None, "", "takes 0 operands"),
    ("add", t.I32, ["i", Const(t.I32, "x")], None, "", "'x' is no i32"),
    ("add", t.I32, ["i", Const(t.I32, "4294967296")], None, "", "'4294967296' is no i32"),
    ("add", t.I32, ["i", Const(t.I32, "true")], None, "", "'true' is no i32"),
    ("and", t.I1, ["c", Const(t.I1, "1")], None, "", "'1' is no i1"),
    ("fadd", t.FLOAT, ["x", Const(t.FLOAT, "1")], None, "", "'1' is no float"),
    ("fadd", t.FLOAT, ["x", Const(t.FLOAT, "0xH3C00")], None, "", "is no float"),
    ("fadd", t.HALF, [Const(t.HALF, "0x3C00")] * 2, None, "", "is no half"),
    ("icmp", t.I1, ["g", Const(t.PTR, "0")], "eq", "", "'0' is no ptr"),
    ("fneg", t.Vector(2, t.FLOAT), [ConstVector(t.Vector(2, t.FLOAT), ())], None, "", "per lane"),
    ("add", t.I32, ["i", "store"], None, "", "operand 1 must not be void"),
    ("add", t.I32, ["i", "phi"], None, "", "operand 1 comes too late"),
    ("add", t.I32, ["i", "new"], None, "", "operand 1 comes too late"),
    ("add", t.I32, ["i", Instr(t.I32, "add", [])], None, "", "operand 1 is in no block"),
    ("add", t.I32, ["i", Value(t.I32)], None, "", "operand 1 is a Value"),
    ("load", t.I32, [Argument(t.PTR, "%a", 0)], _READ, "", "no argument of this program"),
    ("load", t.I32, [Global(t.PTR, "@g", t.I32, 4, "")], _READ, "", "no global of this program"),
]


@pytest.mark.parametrize("row", INSTRUCTIONS, ids=lambda row: f"{row[0]}: {row[-1]}")
def test_broken_instructions(row: Row) -> None:
    op, result, operands, arg, flags, rule = row
    broken = program(_BODY)
    block = broken.blocks[0]
    store = Instr(t.VOID, "store", [named(broken, "i"), named(broken, "g")], _READ, name="%store")
    new = Instr(result, op, [], arg, flags, name="%new")
    for instr in (store, new):
        instr.block = block
    block.instrs[-1:-1] = [store, new]
    new.operands = [named(broken, v) if isinstance(v, str) else v for v in operands]  # type: ignore[misc]
    with pytest.raises(Problem) as error:
        check(broken, Stage.READ)
    assert rule in str(error.value)
    assert f"%new {op} (no line, %entry)" in str(error.value)


# ------------------------------------------------------------------------------ broken programs


def _drop_terminator(broken: Program) -> None:
    broken.blocks[1].instrs.pop()


def _terminator_in_the_middle(broken: Program) -> None:
    _add(broken, Instr(t.VOID, "ret", []))


def _branch_elsewhere(broken: Program) -> None:
    broken.blocks[1].terminator.arg = [Block("%nowhere")]


def _branch_to_entry(broken: Program) -> None:
    broken.blocks[1].terminator.arg = [broken.blocks[0]]


def _unreachable(broken: Program) -> None:
    block = Block("%island")
    block.append(Instr(t.VOID, "br", [], [block]))
    broken.blocks.append(block)


def _two_returns(broken: Program) -> None:
    right = broken.blocks[2]
    right.instrs[-1] = Instr(t.VOID, "ret", [], block=right)


def _three_targets(broken: Program) -> None:
    broken.blocks[0].terminator.arg.append(broken.blocks[3])


def _condition(broken: Program) -> None:
    broken.blocks[0].terminator.operands = [named(broken, "i")]


def _no_condition(broken: Program) -> None:
    broken.blocks[0].terminator.operands = []


def _wrong_block(broken: Program) -> None:
    named(broken, "p").block = broken.blocks[0]


def _twice(broken: Program) -> None:
    block = broken.blocks[0]
    block.instrs.insert(3, block.instrs[1])


def _late_phi(broken: Program) -> None:
    join = broken.blocks[3]
    join.instrs.insert(0, Instr(t.I32, "freeze", [named(broken, "i")], block=join))


def _phi_without_predecessor(broken: Program) -> None:
    phi = named(broken, "phi")
    del phi.operands[1], phi.arg[1]


def _phi_with_a_stranger(broken: Program) -> None:
    phi = named(broken, "phi")
    phi.arg[1] = broken.blocks[0]


def _phi_twice(broken: Program) -> None:
    phi = named(broken, "phi")
    phi.operands.append(phi.operands[0])
    phi.arg.append(phi.arg[0])


def _phi_lists(broken: Program) -> None:
    named(broken, "phi").arg.pop()


def _phi_type(broken: Program) -> None:
    named(broken, "phi").operands[1] = Const(t.I64, "0")


def _use_of_one_side(broken: Program) -> None:
    phi = named(broken, "phi")
    phi.operands.reverse()  # %p now comes from the right, where it is not computed


def _argument_index(broken: Program) -> None:
    broken.args.reverse()


def _add(broken: Program, instr: Instr) -> None:
    instr.block = broken.blocks[0]
    broken.blocks[0].instrs.insert(2, instr)


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        (_drop_terminator, "%left: one terminator, at the end"),
        (_terminator_in_the_middle, "%entry: one terminator, at the end"),
        (_branch_elsewhere, "%left: branches to a block of another program"),
        (_branch_to_entry, "%left: branches to the entry"),
        (_unreachable, "%island: cannot be reached"),
        (_two_returns, "more than one ret"),
        (_three_targets, "arg must list 1 or 2 blocks"),
        (_condition, "the condition must be i1"),
        (_no_condition, "takes 1 operands"),
        (_wrong_block, "instr.block must be the block that holds it"),
        (_twice, "stands in two places"),
        (_late_phi, "phis come first"),
        (_phi_without_predecessor, "a phi names every predecessor"),
        (_phi_with_a_stranger, "a phi names every predecessor"),
        (_phi_twice, "a phi names each predecessor once"),
        (_phi_lists, "arg must list a block per operand"),
        (_phi_type, "the result must be i64"),
        (_use_of_one_side, "operand 1 comes too late"),
        (_argument_index, "argument 0 must be a pointer with this index"),
        (lambda broken: broken.blocks.clear(), "no blocks"),
    ],
)
def test_broken_programs(damage: Callable[[Program], None], rule: str) -> None:
    broken = program(_BODY)
    damage(broken)
    with pytest.raises(Problem) as error:
        check(broken, Stage.READ)
    assert rule in str(error.value)


_LOOP = """
    entry:
      br label %loop
    loop:
      %n = phi i32 [ 0, %entry ], [ %next, %loop ]
      %next = add i32 %n, 1
      %more = icmp ult i32 %next, 9
      br i1 %more, label %loop, label %exit
    exit:
      {}
      ret void
"""


def test_values_leave_a_loop_through_phis() -> None:
    program(_LOOP.format("%last = phi i32 [ %n, %loop ]\nstore i32 %last, ptr %out"))
    with pytest.raises(Problem, match="operand 0 leaves its loop without a phi"):
        program(_LOOP.format("store i32 %n, ptr %out"))


def test_loops_have_one_entry() -> None:
    with pytest.raises(Problem, match="irreducible loop"):
        program(
            """
            entry:
              %c = icmp eq ptr %a, null
              br i1 %c, label %left, label %right
            left:
              br label %right
            right:
              br i1 %c, label %left, label %exit
            exit:
              ret void
            """
        )


# --------------------------------------------------------------------------------------- stages


def test_vectors_must_be_gone_after_scalarize() -> None:
    vectors = program("%v = load <2 x i32>, ptr %a\nstore <2 x i32> %v, ptr %out\nret void")
    with pytest.raises(Problem, match=r"stage scalar: %v load .*: vectors are gone by now"):
        check(vectors, Stage.SCALAR)
    scalarize.run(Analyses(vectors))
    check(vectors, Stage.SCALAR)


def test_guarded_loads_come_with_their_pass() -> None:
    guarded = program("%c = icmp eq ptr %a, null\n%x = load i32, ptr %a\nret void")
    load = named(guarded, "x")
    load.op = "guarded_load"
    load.operands.append(named(guarded, "c"))
    load.flags = "inverted"
    check(guarded, Stage.GUARDED)
    with pytest.raises(Problem, match="no guarded loads yet"):
        check(guarded, Stage.SCALAR)
