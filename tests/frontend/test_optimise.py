"""From Clang's raw text to the optimised text of one thread."""

from __future__ import annotations

import re
import time

import pytest

from anymetal.errors import MetalCompileError, UnsupportedFeatureError
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.optimise import optimise, prepare
from anymetal.ir.cfg import find_loops
from anymetal.ir.model import Instr, Program, predecessors
from anymetal.ir.reader import read_program
from anymetal.ir.spec import Stage, check
from tests.frontend.kernels import kernel_source


def optimised(body: str, header: str = "", large: int = 0) -> str:
    return optimise(compile_to_ir(kernel_source(body, header)), large)


def thread(body: str, header: str = "") -> Program:
    program = read_program(optimised(body, header))
    check(program, Stage.READ)
    return program


def calls(program: Program) -> list[str]:
    return [i.arg for i in program.instructions() if i.op == "call"]


_ID = "uint i = thread_position_in_grid.x, l = thread_index_in_threadgroup;\n"

# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("header", "cycle"),
    [
        ("int f(int n) { return n < 2 ? n : n / f(n - 1); }", "f -> f"),
        (
            "int g(int n); int f(int n) { return n ? g(n - 1) : 0; } int g(int n) { return f(n); }",
            "f -> g -> f",
        ),
        (
            "namespace n { struct S { int f(int k) { return k ? 1 - f(k - 1) : 0; } }; }\n"
            "int f(int k) { n::S s; return s.f(k); }",
            "n::S::f -> n::S::f",
        ),
        ("template <typename T> T f(T n) { return n ? 1 - f<T>(n - 1) : 0; }", "f -> f"),
    ],
)
def test_recursion_is_refused_with_the_names_of_the_functions(header: str, cycle: str) -> None:
    with pytest.raises(UnsupportedFeatureError) as error:
        optimised(_ID + "out[i] = f(int(i));", header)
    assert f": {cycle}. Rewrite it as a loop." in str(error.value)


def test_a_word_that_is_written_often() -> None:
    """Time grows with the text, not with its square (which would be 16 times)."""
    often, seconds = (2_000, 8_000), []
    for count in often:
        raw = compile_to_ir(kernel_source("threadgroup " * count + "float x; x = 1; out[0] = x;"))
        start = time.process_time()
        prepared = prepare(raw, 0)
        seconds.append(time.process_time() - start)
        assert prepared.count('@"threadgroup.0.x" =') == 1 and "var.annotation(" not in prepared
    assert seconds[1] < 8 * seconds[0] + 0.1


def test_a_template_that_calls_another_instance_is_no_recursion() -> None:
    header = """
        template <int N> int f(int x) { return f<N - 1>(x) + N; }
        template <> int f<0>(int x) { return x; }
    """
    assert "@__am_kernel" in optimised(_ID + "out[i] = f<5>(int(i));", header)


@pytest.mark.parametrize(
    ("header", "body", "name"),
    [
        ("", "static int counter = 0; counter++; out[i] = counter;", "counter"),
        ("", "static float table[4]; table[i] = 1; out[i] = table[0];", "table"),
        ("int state = 7;", "out[i] = state++;", "state"),
        ("namespace n { float w[3] = {1, 2, 3}; }", "out[i] = n::w[i];", "n::w"),
        ("struct S { static inline int total = 0; };", "out[i] = S::total++;", "S::total"),
    ],
)
def test_variables_that_outlive_a_thread_are_refused(header: str, body: str, name: str) -> None:
    with pytest.raises(
        MetalCompileError, match=f"variable '{name}' must reside in constant address space"
    ):
        optimised(_ID + body, header)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("constant int t[4] = {1, 2, 3, 4};", "out[i] = t[i & 3];"),
        ("constant constexpr float scale = 2;", "out[i] = scale;"),
        ("const int t[2] = {5, 6};", "out[i] = t[i & 1];"),
        ("", "static constexpr constant int t[2] = {5, 6}; out[i] = t[i & 1];"),
        ("", "static const int t[2] = {5, 6}; out[i] = t[i & 1];"),
    ],
)
def test_constants_are_welcome(header: str, body: str) -> None:
    thread(_ID + body, header)


# ------------------------------------------------------------------------- threadgroup memory


@pytest.mark.parametrize(
    ("declaration", "use", "size"),
    [
        ("threadgroup float t[64];", "t[l] = a[i]; {} out[i] = t[63 - l];", 256),
        ("threadgroup float t[8][9];", "t[l / 8][l % 8] = a[i]; {} out[i] = t[l % 8][l / 8];", 288),
        ("threadgroup int t;", "if (l == 0) t = 5; {} out[i] = t;", 4),
        ("threadgroup float4 t[16];", "t[l] = float4(a[i]); {} out[i] = t[l ^ 1].y;", 256),
        ("threadgroup half t[3], u[5];", "t[0] = u[1] = 1; {} out[i] = t[0] + u[1];", 16),
        (
            "struct P { float x; int n[3]; }; threadgroup P t[4];",
            "t[l].n[1] = l; {} out[i] = t[l ^ 1].n[1];",
            64,
        ),
        ("threadgroup atomic_uint t[10];", "atomic_store_explicit(t + l, 1u, memory_order_relaxed);"
         "{} out[i] = atomic_load_explicit(t, memory_order_relaxed);", 40),
        ("typedef threadgroup float F; F t[6];", "t[l] = 1; {} out[i] = t[0];", None),
        ("threadgroup array<float, 7> t;", "t[l] = a[i]; {} out[i] = t[0];", 28),
    ],
)  # fmt: skip
def test_threadgroup_variables_become_globals(declaration: str, use: str, size: int | None) -> None:
    """What one thread writes there and never reads is written all the same."""
    barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);"
    program = thread(_ID + declaration + use.replace("{}", barrier))
    if size is None:  # the annotation of a typedef is dropped
        assert not program.globals
        return
    assert program.threadgroup_bytes == size
    shared = [g for g in program.globals.values() if g.threadgroup]
    assert [re.sub(r'.*\.|"', "", g.name) for g in shared] == (
        ["t", "u"] if "u[5]" in declaration else ["t"]
    )
    assert {i.op for i in program.instructions()} & {"store", "atomicrmw"}
    assert not any(i.op == "alloca" for i in program.instructions())


def test_values_are_read_again_behind_a_barrier() -> None:
    """Other threads may have written in the meantime."""
    program = thread(
        _ID + "threadgroup float t[32]; t[l] = a[i];\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = t[l];"
    )
    ops = [i.op if i.op != "call" else i.arg for i in program.instructions()]
    start = ops.index("__am_threadgroup_barrier")
    assert ops[start:].count("load") == 1
    assert ops[:start].count("store") == 1


def test_each_variable_is_memory_of_its_own() -> None:
    program = thread(
        _ID + "float r = 0;\n"
        "{ threadgroup float t[8]; t[l & 7] = 1; r += t[0]; }\n"
        "{ threadgroup float t[8]; t[l & 7] = 2; r += t[0]; }\n"
        "out[i] = r;"
    )
    assert program.threadgroup_bytes == 64


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("", "threadgroup float* p = (threadgroup float*)out; p[i] = 1;"),
        ("void f(threadgroup float* p, uint i) { p[i] = 2; }", "f((threadgroup float*)out, i);"),
        ("struct S { threadgroup float* p; };", "S q = {(threadgroup float*)out}; q.p[i] = 1;"),
        ("typedef threadgroup float* P;", "P p = (P)out; p[i] = 1;"),
        (
            "template <typename T> struct V { threadgroup T* p; };",
            "V<float> v; v.p = out; *v.p = 1;",
        ),
    ],
)
def test_annotations_of_pointers_are_dropped(header: str, body: str) -> None:
    program = thread(_ID + body, header)
    assert not program.globals
    assert not any("annotation" in call for call in calls(program))
    assert any(i.op == "store" for i in program.instructions())


def test_threadgroup_memory_through_pointers_and_functions() -> None:
    program = thread(
        _ID + "threadgroup float t[2][64]; threadgroup float* p = t[1]; f(p, l);\n"
        "threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = t[1][63 - l];",
        "void f(threadgroup float* p, uint l) { threadgroup float* q = p; q[l] = l; }",
    )
    assert program.threadgroup_bytes == 512
    (shared,) = program.globals.values()
    address = next(i for i in program.instructions() if i.op == "store").operands[1]
    while isinstance(address, Instr) and address.op == "gep":
        address = address.operands[0]
    assert address is shared


# ------------------------------------------------------------------- loops, calls, control flow


@pytest.mark.parametrize(
    "loop",
    [
        "while (true);",
        "for (;;) { if (i == 12345678) break; }",
        "if (a[i] > 5) while (true) {}",
        "while (a[0] >= 0) { }",
    ],
)
def test_endless_loops_survive(loop: str) -> None:
    program = thread(_ID + f"out[i] = 1;\n{loop}")
    order = {block: n for n, block in enumerate(program.blocks)}
    backward = [(b, s) for b in program.blocks for s in b.successors if order[s] <= order[b]]
    assert backward


def test_cross_lane_calls_are_neither_merged_nor_moved() -> None:
    """Which lanes take part depends on the place."""
    program = thread(
        _ID + "float v = a[i]; float r = simd_sum(v);\n"
        "if (v > 0) r += simd_sum(v); else r -= simd_sum(v);\nout[i] = r + simd_sum(v);"
    )
    sums = [i for i in program.instructions() if i.op == "call" and "reduce_add" in i.arg]
    assert len(sums) == 4
    assert len({i.block for i in sums}) == 4


def test_positions_are_asked_for_once() -> None:
    program = thread(
        "out[thread_position_in_grid.x] = a[thread_position_in_grid.x] + thread_position_in_grid.x;"
    )
    assert calls(program).count("__am_thread_x") == 1


def test_everything_is_inlined() -> None:
    """Whatever its size and however often it is called."""
    lines = "\n".join(f"x = x * {n}.5f + y; y = fma(x, y, {n}.0f);" for n in range(40))
    header = f"float f(float x, float y) {{ {lines} return x; }}"
    body = _ID + "out[i] = f(a[i], f(1, f(a[i + 1], 2)));\nif (i > 7) out[i] += f(3, a[i]);"
    assert set(calls(thread(body, header))) <= {
        "__am_group_x", "__am_full_size_x", "__am_thread_x", "llvm.fmuladd.f32", "llvm.fma.f32",
    }  # fmt: skip


def test_switches_and_returns_are_lowered() -> None:
    program = thread(
        _ID + "switch (int(a[i])) { case 0: out[i] = 1; return; case 3: out[i] = a[2]; break;\n"
        "case 4: out[0] = 5; case 9: out[1] = 6; return; default: out[i] = s; }\nout[i + 1] = 2;"
    )
    assert [block.terminator.op for block in program.blocks].count("ret") == 1
    assert {block.terminator.op for block in program.blocks} == {"br", "ret"}


def test_loops_have_one_latch_and_a_block_of_their_own_in_front() -> None:
    program = thread(
        _ID + "float r = 0; for (int k = 0; k < int(s); k++) { if (a[k] < 0) continue;\n"
        "r += a[k]; } out[i] = r;"
    )
    (loop,) = find_loops(program.blocks)
    before, latch = predecessors(program.blocks)[loop.header]
    assert (before in loop.blocks, latch in loop.blocks) == (False, True)
    assert before.successors == [loop.header]


def test_no_vectors_of_llvms_own_making() -> None:
    text = optimised(
        _ID + "float r = 0; for (int k = 0; k < 1024; k++) r += a[k]; out[i] = r;\n"
        "for (int k = 0; k < 4; k++) out[4 * i + k] = a[4 * i + k] * 2;"
    )
    assert " x float>" not in text


def test_loops_are_not_unrolled_at_run_time() -> None:
    program = thread(_ID + "float r = 0; for (int k = 0; k < int(s); k++) r += a[k]; out[i] = r;")
    assert len([i for i in program.instructions() if i.op == "fadd"]) == 1


def test_constant_loops_are_unrolled() -> None:
    program = thread(
        _ID + "float t[4]; for (int k = 0; k < 4; k++) t[k] = a[i + k];\n"
        "float r = 0; for (int k = 0; k < 4; k++) r += t[k]; out[i] = r;"
    )
    assert not any(i.op in ("alloca", "phi") for i in program.instructions())


@pytest.mark.parametrize("type_", ["float", "half", "bfloat"])
def test_constant_loops_with_conversions_are_unrolled(type_: str) -> None:
    body = f"""
        {type_} values[8];
        for (int k = 0; k < 8; ++k) values[k] = {type_}(float(((device {type_}*)out)[i + k]) * 3);
        for (int k = 0; k < 8; ++k) out[8 * i + k] = float(values[k]);
    """
    assert not find_loops(thread(_ID + body).blocks)


@pytest.mark.parametrize("type_", ["half", "half4", "bfloat"])
def test_no_half_is_made_of_a_double_at_once(type_: str) -> None:
    header = "template <typename V> V f(V v) { return V(v * (1.0 + float(v.x) * 0.0) * 0.1); }"
    header = header if "4" in type_ else "template <typename V> V f(V v) { return V(v * 0.1); }"
    body = f"device {type_}* p = (device {type_}*)out; p[i] = f(p[i]);"
    assert not re.search(r"double\S* .* to .*(half|bfloat)", optimised(_ID + body, header))


def test_an_index_may_be_negative_unless_arrays_are_large() -> None:
    body = _ID + "uint n = uint(a[i]); out[n] = 1;"
    assert "sext i32" in optimised(body) and "zext i32" not in optimised(body)
    assert "zext i32" in optimised(body, large=4)


def test_lines_of_the_user_stay_with_the_instructions() -> None:
    header = "\nfloat twice(float v) {\n  return v * 2; }"
    program = thread(_ID + "float v =\n  a[i]; out[i] = twice(exp(v));", header)
    at = {(i.op, i.arg if i.op == "call" else ""): str(i.loc) for i in program.instructions()}
    assert at["load", ""] == "k: source:3:3"
    assert at["call", "llvm.fmuladd.f32"] == "k: source:3:24"
    assert at["fmul", ""] == "k: header:3:12"
    assert at["store", ""] == "k: source:3:16"
