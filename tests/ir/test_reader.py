"""The reader and the printer: every form of instruction, type, constant and location."""

from __future__ import annotations

import pytest

from anymetal.errors import UnsupportedFeatureError
from anymetal.ir import types as t
from anymetal.ir.model import Const, ConstVector, Location
from anymetal.ir.printer import print_program
from anymetal.ir.problem import Problem
from anymetal.ir.reader import read_program
from anymetal.ir.rules import RULES, TO_LANES
from tests.ir.programs import ir_text, named, ops, program


def pairs(text: str) -> list[tuple[str, str]]:
    lines = [line.strip() for line in text.strip().split("\n")]
    return list(zip(lines[::2], lines[1::2], strict=True))


#: LLVM's text of an instruction (operands: ints %i %j %l, floats %x %y, half %h, i1 %c, ptr %a %p,
#: vectors %v %w of float, %u of i32), and how the printer shows what the reader made of it.
FORMS = pairs("""
add nuw nsw i32 %i, %j
    i32 = add nuw nsw %i, %j
sub i64 %l, -1
    i64 = sub %l, -1
mul i32 %i, 3
    i32 = mul %i, 3
udiv exact i32 %i, 4
    i32 = udiv exact %i, 4
sdiv i32 %i, %j
    i32 = sdiv %i, %j
urem i32 %i, %j
    i32 = urem %i, %j
srem i32 %i, %j
    i32 = srem %i, %j
shl nsw i32 %i, 5
    i32 = shl nsw %i, 5
lshr i32 %i, 5
    i32 = lshr %i, 5
ashr exact i32 %i, 5
    i32 = ashr exact %i, 5
and <4 x i32> %u, splat (i32 7)
    <4 x i32> = and %u, <7, 7, 7, 7>
or disjoint i32 %i, 1
    i32 = or disjoint %i, 1
xor i1 %c, true
    i1 = xor %c, true
fadd fast float %x, 1.5
    float = fadd fast %x, 1.500000e+00
fsub nnan ninf float %x, %y
    float = fsub nnan ninf %x, %y
fmul reassoc nsz arcp contract afn half %h, 0xH3C00
    half = fmul reassoc nsz arcp contract afn %h, 0xH3C00
fdiv float %x, 0x7FF0000000000000
    float = fdiv %x, 0x7FF0000000000000
frem float %x, %y
    float = frem %x, %y
fneg float %x
    float = fneg %x
freeze i32 %i
    i32 = freeze %i
trunc nuw i64 %l to i32
    i32 = trunc nuw %l
zext nneg i32 %i to i64
    i64 = zext nneg %i
sext <4 x i32> %u to <4 x i64>
    <4 x i64> = sext %u
fptrunc float %x to bfloat
    bfloat = fptrunc %x
fpext half %h to float
    float = fpext %h
fptoui float %x to i8
    i8 = fptoui %x
fptosi float %x to i32
    i32 = fptosi %x
uitofp nneg i32 %i to float
    float = uitofp nneg %i
sitofp i1 %c to float
    float = sitofp %c
ptrtoint ptr %p to i64
    i64 = ptrtoint %p
inttoptr i64 %l to ptr
    ptr = inttoptr %l
bitcast <4 x float> %v to <2 x i64>
    <2 x i64> = bitcast %v
icmp ult i32 %i, %j
    i1 = icmp ult %i, %j
icmp samesign ugt i32 %i, 4
    i1 = icmp samesign ugt %i, 4
icmp eq <4 x i32> %u, zeroinitializer
    <4 x i1> = icmp eq %u, <0, 0, 0, 0>
icmp eq ptr %p, null
    i1 = icmp eq %p, null
fcmp nnan oge float %x, %y
    i1 = fcmp nnan oge %x, %y
select i1 %c, i32 %i, i32 %j
    i32 = select %c, %i, %j
select fast i1 %c, float %x, float poison
    float = select fast %c, %x, poison
select <4 x i1> %m, <4 x float> %v, <4 x float> undef
    <4 x float> = select %m, %v, <undef, undef, undef, undef>
extractelement <4 x float> %v, i64 2
    float = extractelement %v, 2
extractelement <4 x float> %v, i32 %i
    float = extractelement %v, %i
insertelement <4 x float> poison, float %x, i64 0
    <4 x float> = insertelement <poison, poison, poison, poison>, %x, 0
shufflevector <4 x float> %v, <4 x float> %w, <2 x i32> <i32 7, i32 0>
    <2 x float> = shufflevector %v, %w (7, 0)
shufflevector <4 x float> %v, <4 x float> poison, <3 x i32> <i32 1, i32 poison, i32 2>
    <3 x float> = shufflevector %v, <poison, poison, poison, poison> (1, -1, 2)
getelementptr inbounds nuw float, ptr %a, i64 %l
    ptr = gep inbounds nuw %a + %l * 4 + 0
getelementptr i8, ptr %a, i64 -12
    ptr = gep %a + -12
getelementptr [3 x half], ptr %a, i64 %l, i32 %i
    ptr = gep %a + %l * 6 + %i * 2 + 0
getelementptr %S, ptr %a, i64 %l, i32 1, i64 %l
    ptr = gep %a + %l * 44 + %l * 8 + 4
alloca [8 x i32], align 16
    ptr = alloca [8 x i32] align 16
load float, ptr %p, align 4
    float = load %p align 4
load volatile i8, ptr %p, align 1
    i8 = load %p align 1 volatile
load atomic i32, ptr %p monotonic, align 4
    i32 = load %p align 4 atomic
load <4 x float>, ptr %p, align 16, !invariant.load !0
    <4 x float> = load %p align 4
atomicrmw add ptr %p, i32 %i monotonic, align 4
    i32 = atomicrmw add %p, %i align 4 atomic
atomicrmw volatile fadd ptr %p, float %x monotonic, align 4
    float = atomicrmw fadd %p, %x align 4 volatile atomic
cmpxchg weak volatile ptr %p, i32 %i, i32 %j monotonic monotonic, align 4
    { i32, i1 } = cmpxchg %p, %i, %j align 4 atomic
extractvalue { i32, i1 } %s, 1
    i1 = extractvalue %s 1
call i32 @__am_lane()
    i32 = call @__am_lane()
tail call fast float @llvm.exp.f32(float %x)
    float = call fast @llvm.exp.f32(%x)
call noundef float @asinhf(float noundef %x)
    float = call @asinhf(%x)
call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %i)
    i32 = call @llvm.ctpop.i32(%i)
call <4 x float> @llvm.fabs.v4f32(<4 x float> %v)
    <4 x float> = call @llvm.fabs.v4f32(%v)
""")
_OPERANDS = """
    %i = load i32, ptr %a
    %j = load i32, ptr %a
    %l = load i64, ptr %a
    %x = load float, ptr %a
    %y = load float, ptr %a
    %h = load half, ptr %a
    %c = icmp eq i32 %i, %j
    %p = load ptr, ptr %a
    %u = load <4 x i32>, ptr %a
    %v = load <4 x float>, ptr %a
    %w = load <4 x float>, ptr %a
    %m = icmp eq <4 x i32> %u, zeroinitializer
    %s = cmpxchg ptr %a, i32 %i, i32 %j monotonic monotonic
"""
_TOP = "%S = type { i16, [5 x %T] }\n%T = type { i8, i32 }\n!0 = !{}"


@pytest.mark.parametrize(("text", "shown"), FORMS, ids=[text for text, _ in FORMS])
def test_instructions_with_a_result(text: str, shown: str) -> None:
    body = f"{_OPERANDS}    %r = {text}\n    ret void"
    assert f"  %r: {shown}\n" in print_program(program(body, top=_TOP))


EFFECTS = pairs("""
store float %x, ptr %p, align 4
    store %x, %p align 4
store volatile i32 0, ptr %p, align 4
    store 0, %p align 4 volatile
store atomic i32 %i, ptr %p monotonic, align 4
    store %i, %p align 4 atomic
fence acquire
    fence
call void @__am_threadgroup_barrier(i32 1)
    call @__am_threadgroup_barrier(1)
call void @llvm.memset.p0.i64(ptr align 4 dereferenceable(8) %p, i8 0, i64 8, i1 false)
    call @llvm.memset.p0.i64(%p, 0, 8, false)
""")


@pytest.mark.parametrize(("text", "shown"), EFFECTS, ids=[text for text, _ in EFFECTS])
def test_instructions_without_result(text: str, shown: str) -> None:
    assert f"  {shown}\n" in print_program(program(f"{_OPERANDS}    {text}\n    ret void"))


def test_every_operation_of_the_grammar_is_read_somewhere_here() -> None:
    """But what only passes of ours make."""
    tested = {shown.split(" = ")[1].split(" ")[0] for _, shown in FORMS}
    elsewhere = {"store", "fence", "br", "phi", "ret", "unreachable", "guarded_load"}
    elsewhere.add(TO_LANES)
    assert tested | elsewhere == set(RULES)


def test_control_flow() -> None:
    loop = program(
        """
        entry:
          br label %loop
        loop:
          %n = phi i32 [ 0, %entry ], [ %next, %loop ]
          %next = add i32 %n, 1
          %more = icmp ult i32 %next, 9
          br i1 %more, label %loop, label %exit, !llvm.loop !0
        exit:
          %last = phi i32 [ %n, %loop ]
          %odd = trunc i32 %last to i1
          br i1 %odd, label %stuck, label %end
        stuck:
          unreachable
        end:
          ret void
        """,
        top="!0 = distinct !{!0}",
    )
    assert print_program(loop) == (
        "thread __am_kernel(%a, %out) {\n"
        "%entry:\n  br %loop\n"
        "%loop:\n"
        "  %n: i32 = phi [0, %entry], [%next, %loop]\n"
        "  %next: i32 = add %n, 1\n"
        "  %more: i1 = icmp ult %next, 9\n"
        "  br %more, %loop, %exit\n"
        "%exit:\n"
        "  %last: i32 = phi [%n, %loop]\n"
        "  %odd: i1 = trunc %last\n"
        "  br %odd, %stuck, %end\n"
        "%stuck:\n  unreachable\n"
        "%end:\n  ret\n}\n"
    )
    phi = named(loop, "n")
    assert phi.operands[1] is named(loop, "next")  # used in front of its definition
    assert all(instr.block is block for block in loop.blocks for instr in block.instrs)


def test_calls_that_say_something_to_llvm_alone_are_dropped() -> None:
    read = program(
        """
        %p = alloca i32
        call void @llvm.lifetime.start.p0(ptr %p)
        %c = icmp eq ptr %a, null
        call void @llvm.assume(i1 %c)
        call void @llvm.lifetime.end.p0(ptr %p)
        ret void
        """
    )
    assert ops(read) == ["alloca", "icmp", "ret"]


# ------------------------------------------------------------------------- types and constants


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("i32", 4),
        ("<3 x float>", 16),
        ("[3 x <3 x half>]", 24),
        ("{ i8, i64, i8 }", 24),
        ("<{ i8, i64, i8 }>", 10),
        ("{ i8, { half, [3 x i16] }, ptr }", 24),
        ("%forward", 12),
    ],
)
def test_sizes_of_types(text: str, offset: int) -> None:
    top = "%forward = type { %later, i8 }\n%later = type { [2 x i32] }"
    read = program(f"%p = getelementptr {text}, ptr %a, i64 1\nret void", top=top)
    assert named(read, "p").arg == (offset,)


def test_vectors_of_constants() -> None:
    read = program("store <2 x i32> <i32 5, i32 -1>, ptr %a\nret void")
    (vector, _) = read.blocks[0].instrs[0].operands
    assert isinstance(vector, ConstVector)
    assert [v.int_value for v in vector.elements if isinstance(v, Const)] == [5, -1]


@pytest.mark.parametrize(
    ("type_", "zero"),
    [("i1", "false"), ("i64", "0"), ("half", "0xH0000"), ("bfloat", "0xR0000"), ("ptr", "null")],
)
def test_zeros_of_vectors(type_: str, zero: str) -> None:
    read = program(f"store <2 x {type_}> zeroinitializer, ptr %a\nret void")
    assert f"store <{zero}, {zero}>, %a" in print_program(read)


def test_constant_expressions_become_instructions_of_the_entry() -> None:
    read = program(
        """
        entry:
          br label %next
        next:
          store ptr getelementptr inbounds ([4 x i32], ptr @table, i64 0, i64 3), ptr %a
          store i64 ptrtoint (ptr getelementptr (i8, ptr @table, i64 1) to i64), ptr %a
          store i64 sub (i64 ptrtoint (ptr @table to i64), i64 4), ptr %a
          ret void
        """,
        top="@table = internal constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]",
    )
    entry = read.blocks[0]
    assert [i.op for i in entry.instrs] == ["gep", "gep", "ptrtoint", "ptrtoint", "sub", "br"]
    assert entry.instrs[0].arg == (12,)
    assert entry.instrs[2].operands == [entry.instrs[1]]


def test_tables_come_with_what_they_refer_to() -> None:
    read = program(
        "%p = load ptr, ptr @outer\n%x = load i32, ptr %p\nstore i32 %x, ptr %a\nret void",
        top="""
        %S = type { i32, float }
        @inner = private unnamed_addr constant [1 x %S] [%S { i32 1, float 2.0 }], align 8
        @outer = internal constant [2 x ptr] [ptr @inner, ptr null], align 16
        @unused = constant i32 4
        @"threadgroup.0.t" = external global [8 x float], align 4
        """,
    )
    assert list(read.globals) == ["@inner", "@outer", "@threadgroup.0.t"]
    inner, outer, shared = read.globals.values()
    assert inner.initializer == "[1 x %S] [%S { i32 1, float 2.000000e+00 }]"
    assert (inner.align, inner.value_type) == (8, t.Array(1, t.Struct((t.I32, t.FLOAT))))
    assert not outer.threadgroup and shared.threadgroup
    assert read.type_definitions == ["%S = type { i32, float }"]
    assert read.threadgroup_bytes == 32


# ---------------------------------------------------------------------------------- locations

_METADATA = """
!llvm.module.flags = !{!90}
!llvm.dbg.cu = !{!91}
!90 = !{i32 2, !"Debug Info Version", i32 3}
!91 = distinct !DICompileUnit(language: DW_LANG_C11, file: !92, emissionKind: LineTablesOnly)
!92 = !DIFile(filename: "<stdin>", directory: "/")
!93 = !DIFile(filename: "k: source", directory: "")
!94 = !DIFile(filename: "/include/anymetal/math.h", directory: "/")
!95 = !DIFile(filename: "k: header", directory: "")
!1 = distinct !DISubprogram(name: "k(int, T)", scope: !93, file: !93, line: 1, type: !2, unit: !91)
!2 = !DISubroutineType(types: !3)
!3 = !{}
!4 = distinct !DISubprogram(name: "exp", scope: !94, file: !94, line: 1, type: !2, unit: !91)
!5 = distinct !DISubprogram(name: "helper", scope: !95, file: !95, line: 1, type: !2, unit: !91)
!10 = !DILocation(line: 7, column: 3, scope: !1)
!11 = !DILocation(line: 70, column: 30, scope: !4, inlinedAt: !10)
!12 = distinct !DILocation(line: 2, column: 9, scope: !5, inlinedAt: !10)
!13 = !DILocation(line: 71, column: 31, scope: !4, inlinedAt: !12)
!14 = distinct !DILexicalBlock(scope: !1, file: !93, line: 3, column: 4)
!15 = !DILocation(line: 8, column: 1, scope: !14)
!16 = !DILocation(line: 0, scope: !1)
!17 = !DILocation(line: 0, scope: !4, inlinedAt: !10)
!18 = !DILocation(line: 5, column: 6, scope: !4)
"""


@pytest.mark.parametrize(
    ("node", "place"),
    [
        (10, ("source", 7, 3)),
        (11, ("source", 7, 3)),  # our header: where the user called it
        (12, ("header", 2, 9)),  # the user's header is user text
        (13, ("header", 2, 9)),
        (15, ("source", 8, 1)),
        (16, None),
        (17, ("source", 7, 3)),
        (18, None),
    ],
)
def test_locations(node: int, place: tuple[str, int, int] | None) -> None:
    body = f"%x = load i32, ptr %a, !dbg !{node}\nret void"
    text = ir_text(body, top=_METADATA).replace("{\n", "!dbg !1 {\n", 1)
    expected = Location(f"k: {place[0]}", *place[1:]) if place else None
    instr = named(read_program(text), "x")
    assert instr.loc == expected
    assert str(instr.loc) == (f"k: {place[0]}:{place[1]}:{place[2]}" if place else "None")


# ------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("switch i32 %i, label %b [ i32 1, label %b ]", "unknown instruction 'switch'"),
        ("%r = va_arg ptr %a, i32", "unknown instruction 'va_arg'"),
        ("%r = insertvalue { i32, i1 } poison, i32 1, 0", "unknown instruction 'insertvalue'"),
        ("%r = addrspacecast ptr %a to ptr addrspace(1)", "unknown instruction"),
        ("%r = load x86_fp80, ptr %a", "unknown type 'x86_fp80'"),
        ("%r = load %opaque, ptr %a", "unknown type %opaque"),
        ("store ptr blockaddress(@__am_kernel, %b), ptr %a", "no constant: 'blockaddress'"),
        ("store { i32, i32 } { i32 1, i32 2 }, ptr %a", "no constant: '{'"),
        ("%r = add i32 %i 1", "expected ','"),
    ],
)
def test_what_it_does_not_know_is_an_error_with_the_line(line: str, reason: str) -> None:
    text = f"define void @__am_kernel(ptr %a, i32 %i) {{\nentry:\n  {line}\n  ret void\n}}\n"
    with pytest.raises(Problem) as error:
        read_program(text)
    assert str(error.value).startswith("thread program: ")
    assert reason in str(error.value) and line in str(error.value)


def test_a_module_without_the_kernel() -> None:
    with pytest.raises(Problem, match="no function __am_kernel"):
        read_program("define void @other() {\n ret void\n}\n")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("%r = call float %p(float 1.0)", "virtual function or through a pointer"),
        ("%r = call float @_ZN3foo3barEf(float 1.0)", "`foo::bar` is called but has no body"),
        ("store ptr @_Z4helpi, ptr %a", "the address of `help` is taken"),
    ],
)
def test_what_the_user_must_write_differently(line: str, reason: str) -> None:
    text = (
        f"define void @__am_kernel(ptr %a, ptr %p) !dbg !1 {{\nentry:\n  {line}, !dbg !10\n"
        f"  ret void\n}}\n{_METADATA}"
    )
    with pytest.raises(UnsupportedFeatureError) as error:
        read_program(text)
    assert str(error.value).startswith("k: source:7:3: ")
    assert reason in str(error.value)
