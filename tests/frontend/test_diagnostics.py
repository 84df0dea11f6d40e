"""What a user reads when a kernel does not compile: place, words, hint, and nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
import pytest

from anymetal.errors import MetalCompileError
from anymetal.frontend.clang import INCLUDE, compile_to_ir
from tests.frontend.kernels import kernel_source

FLOAT_T = [("T", mx.float32)]


@dataclass(frozen=True)
class Case:
    """A kernel, the place of its first error ("part:line:column") and words of the message."""

    body: str
    place: str
    words: str
    hint: str = ""
    header: str = ""
    options: dict[str, Any] = field(default_factory=dict)


CASES = [
    # names
    Case("out[0] = nothing;", "source:1:10", "undeclared identifier 'nothing'"),
    Case("\n\n   out[0] = nothing;\n", "source:3:13", "undeclared identifier 'nothing'"),
    Case("/* é€ */ out[0] = nothing;", "source:1:19", "undeclared identifier 'nothing'"),
    Case("out[0] = 1", "source:1:11", "expected ';'"),
    Case("for (;;) { out[0] = 1;\n", "source:1:23", "expected '}'"),
    Case("out[0] = 1; }", "source:1:14", "extraneous closing brace"),
    Case("#if 1\nout[0] = 1;", "source:1:2", "unterminated conditional"),
    Case("out[0] = 1;\n#error no way\n", "source:2:2", "no way"),
    # what Clang reads in another form
    Case(
        "out[0] = 1;",
        "header:1:37",
        "undeclared identifier 'gone'",
        header="uint n [[grid_size]]; const int a = gone;",
    ),
    Case(
        "out[0] = 1;",
        "header:1:29",
        "redefinition of 'n'",
        header="uint n [[grid_size]]; uint2 n [[grid_size]];",
    ),
    # double
    Case("double x = 1;", "source:1:1", "'double' is not supported in Metal", "float2"),
    Case("out[0] = (double)a[0];", "source:1:11", "'double' is not supported", "limbs"),
    Case("out[0] = static_cast<double>(1);", "source:1:22", "'double' is not supported"),
    Case("out[0] = D(1);", "source:1:10", "'double' is not supported", header="#define D double"),
    Case("out[0] = f();", "header:1:1", "'double' is not supported", header="double f();"),
    Case("long double x = 1;", "source:1:12", "'long double' is not supported", "float2"),
    Case("double4 x = 1;", "source:1:1", "'double4'", "float2"),
    # shapes and sizes
    Case("out[0] = out_shape[0];", "source:1:10", "'out_shape'", "'out' is an output"),
    Case("out[0] = out_size;", "source:1:10", "'out_size'", "'out' is an output"),
    Case("out[0] = s_shape[0];", "source:1:10", "'s_shape'", "'s' is a scalar (0-d)"),
    Case("out[0] = b_ndim;", "source:1:10", "'b_ndim'", "the inputs are: a, s"),
    Case(
        "out[0] = f();",
        "header:1:18",
        "'a_shape'",
        "hand it to the function",
        header="int f() { return a_shape[0]; }",
    ),
    # attributes
    Case(
        "out[0] = f();",
        "header:2:10",
        "'thread_position_in_grid'",
        "exists in the kernel only",
        header="int f() {\n  return thread_position_in_grid.x; }",
    ),
    Case(
        "out[0] = thread_positon_in_grid.x;",
        "source:1:10",
        "'thread_positon_in_grid'",
        "the attribute is called thread_position_in_grid",
    ),
    Case(
        "uint grid_size = 1;",
        "source:1:6",
        "redefinition of 'grid_size'",
        "is an attribute, which MLX declares",
    ),
    Case("float out = 1;", "source:1:7", "redefinition of 'out'", "declares out as a buffer"),
    Case("int i = threadIdx.x;", "source:1:9", "'threadIdx'", "thread_position_in_threadgroup"),
    Case("__syncthreads();", "source:1:1", "'__syncthreads'", "threadgroup_barrier("),
    Case("out[gid] = 1;", "source:1:5", "'gid'", "uint gid = thread_position_in_grid.x"),
    Case(
        "out0[0] = 1;", "source:1:1", "'out0'", "names of input_names and output_names: a, s, out"
    ),
    # templates
    Case("T x = a[0];", "source:1:1", "unknown type name 'T'", "template=[('T', mx.float32)]"),
    Case("float t[N];", "source:1:9", "'N'", "template=[('N', 4)]"),
    Case(
        "T x = 0;\nx.y();",
        "source:2:2",
        "'float' is not a structure",
        options={"template": [("T", mx.float32), ("N", 3)]},
    ),
    Case(
        "out[0] = g(a[0]);",
        "header:2:11",
        "'float' is not a structure",
        header="template <typename U> U g(U x) {\n  return x.y;\n}",
    ),
    # types and functions of Metal
    Case("out[0] = exp(a);", "source:1:10", "no matching function for call to 'exp'"),
    Case("atomic<half> h;", "source:1:14", "error: Metal has atomic<T> for", "in float"),
    Case("half h = 1; bfloat b = h;", "source:1:20", "'bfloat'", "write bfloat(x)"),
    Case("float4 v = int4(1);", "source:1:8", "no viable conversion"),
    Case("float2 v; out[0] = v.z;", "source:1:22", "'z'"),
    Case("a[0] = 1;", "source:1:6", "not assignable", "inputs cannot be written"),
    Case(
        "atomic_fetch_add_explicit(&out[0], 1.0f, memory_order_relaxed);",
        "source:1:1",
        "no matching function",
        "atomic_outputs=True",
    ),
    Case(
        "out[0] += 1.0f;",
        "source:1:8",
        "'+='",
        "atomic_fetch_add_explicit",
        options={"atomic_outputs": True},
    ),
    # C++ that Metal lacks
    Case("out[0] = std::exp(1.0f);", "source:1:10", "'std'", "write exp(x), not std::exp(x)"),
    Case("#include <vector>\n", "source:1:10", "'vector' file not found", "header="),
    Case("float t[a_shape[0]];", "source:1:9", "variable length arrays", "must be a constant"),
    Case("throw 1;", "source:1:1", "'throw' is not supported in Metal: there are no"),
    Case('printf("x");', "source:1:1", "'printf'", "os_log_default.log"),
    # what a conversion or an operator misses
    Case("uint i = uint3(1);", "source:1:6", "from 'uint3' to 'uint'", "take one component"),
    Case("float4 v = half4(1);", "source:1:8", "from 'half4' to 'float4'", "write float4(v)"),
    Case("float2 v = 0.5f * float4(1);", "source:1:8", "from 'float4' to 'float2'", "components"),
    Case("float4 v = 0.5f; v = v + int4(1);", "source:1:24", "'int4'", "as in float4(v)"),
    Case("float2 v = 0.5f; v = v + float3(1);", "source:1:24", "'float3'", "as many components"),
    Case("out[0] = a[0] % 2.0f;", "source:1:15", "invalid operands", "fmod(x, y)"),
    Case("out[0] = a * 2;", "source:1:12", "'const float *' and 'int'", "as in x[i]"),
    Case("out[0] = a.size();", "source:1:11", "is not a structure", "x_shape"),
    Case("out[0] = a[1][2];", "source:1:14", "subscripted value", "x[row * x_shape[1] + column]"),
    Case("out[0] = s[0];", "source:1:11", "subscripted value", "is a number"),
    Case("out = a[0];", "source:1:7", "incompatible type 'const float'", "as in out[i] ="),
    Case("device float* p = a;", "source:1:15", "cannot initialize", "const device float*"),
    Case("out[0] = *reinterpret_cast<device int*>(a);", "source:1:11", "casts away", "read-only"),
    Case("if (a[0] > 0) return 1;", "source:1:15", "should not return", "write the value"),
    Case("if (float2(1) < float2(2)) return;", "source:1:5", "'bool2'", "all(v < w)"),
    Case("static int n = 0;", "source:1:12", "static variable 'n'", "outlives a thread"),
    Case("float v = a[0];\nfloat v = 2;", "source:2:7", "error: redefinition of 'v'"),
    # atomics and barriers
    Case(
        "atomic_fetch_add(&out[0], 1);", "source:1:1", "'atomic_fetch_add'", "atomic_fetch_add_ex"
    ),
    Case(
        "atomic_store_explicit((device atomic_int*)out, 1);",
        "source:1:1",
        "no matching function",
        "the last argument is the order",
    ),
    Case(
        "atomic_fetch_max_explicit((device atomic_float*)out, 1.0f, memory_order_relaxed);",
        "source:1:1",
        "no matching function",
        "that of their bits",
    ),
    Case("threadgroup_barrier();", "source:1:1", "no matching function", "mem_flags::mem_thread"),
    Case(
        "threadgroup_barrier(mem_device);", "source:1:21", "'mem_device'", "mem_flags::mem_device"
    ),
    # words from elsewhere
    Case("out[0] = __expf(a[0]);", "source:1:10", "'__expf'", "in Metal, use fast::exp"),
    Case("out[0] = tanhf(a[0]);", "source:1:10", "'tanhf'", "in Metal, use tanh"),
    Case("float4 v = make_float4(1, 2, 3, 4);", "source:1:12", "'make_float4'", "use float4(…)"),
    Case("out[0] = M_PI;", "source:1:10", "'M_PI'", "in Metal, use M_PI_F"),
    Case("", "header:1:1", "'__device__'", "need no word", header="__device__ int f();"),
    Case("out[0] = __shfl_up_sync(~0, a[0], 1);", "source:1:10", "'__shfl", "simd_shuffle_up"),
    # what goes where
    Case("kernel void f(device float* x) { }", "source:1:32", "not allowed here", "body of one"),
    Case("out[0] = 1;", "header:1:12", "expected ';' after struct", header="struct A {}"),
    Case("out[0] = 1;", "header:1:1", "unterminated /* comment", header="/* open"),
    Case(
        "out[0] = 1;",
        "signature:3:22",
        "not allowed here",
        "the header does not close a brace",
        header="int f() { return 1;",
        options={"inputs": {"a": mx.zeros(8)}},
    ),
    Case(
        "out[0] = 1;",
        "signature:2:26",
        "expected ')'",
        options={"inputs": {"a-b": mx.zeros(3)}},
    ),
]


def message_of(case: Case) -> str:
    with pytest.raises(MetalCompileError) as caught:
        compile_to_ir(kernel_source(case.body, case.header, **case.options))
    return str(caught.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: (case.header + case.body)[:40])
def test_message(case):
    text = message_of(case)
    prefix, first, *rest = text.split("\n")
    assert prefix == "[metal::Device] Unable to build metal library from source"
    assert first.startswith(f"k: {case.place}: error: "), text
    assert case.words in first
    if case.hint:
        hints = [line for line in rest if line.startswith("hint: ")]
        assert case.hint in hints[0], text
    assert rest[-1] == "" and rest[-2].endswith("generated.")


@pytest.mark.parametrize("case", CASES, ids=lambda case: (case.header + case.body)[:40])
def test_nothing_of_ours_shows(case):
    text = message_of(case)
    for ours in (
        str(INCLUDE),
        "__am_",
        "<stdin>",
        "In file included",
        "_Float16",
        "__bf16",
        ": wrapper",
    ):
        assert ours not in text.replace("__am_attr_", "").replace("__am_size_of", "")


def test_the_source_line_has_a_caret():
    text = message_of(Case("\tfloat x = 1;\n  out[0] = x + nothing;", "", ""))
    assert "    2 |   out[0] = x + nothing;\n      |                ^~~~~~~\n" in text


def test_notes_in_the_users_text_stay():
    text = message_of(Case("#define SQ(x) ((x)*(y))\nout[0] = SQ(3);", "", ""))
    assert "k: source:1:21: note: expanded from macro 'SQ'" in text


def test_template_arguments_are_named():
    options = {"template": [("T", mx.float16), ("N", -3)]}
    text = message_of(Case("T x = N; x.y();", "", "", options=options))
    assert "note: with T = float16_t, N = -3\n" in text


def test_candidates_are_short():
    text = message_of(Case("out[0] = exp(a);", "", ""))
    notes = [line for line in text.split("\n") if line.startswith("note: ")]
    assert 1 <= len(notes) <= 3
    assert all(note.startswith("note: Metal's function does not fit: ") for note in notes)


def test_what_follows_from_an_unknown_name_is_left_out():
    body = "float v = std::numeric_limits<float>::infinity() + expf(1);\nint w = nothing;"
    errors = [line for line in message_of(Case(body, "", "")).split("\n") if ": error: " in line]
    names = ["'std'", "'expf'", "'nothing'"]
    assert len(errors) == 3 and all(n in e for n, e in zip(names, errors, strict=True)), errors


def test_equal_hints_stand_once():
    text = message_of(Case("double x = 1;\ndouble y = 2;", "", ""))
    assert text.count("error: 'double'") == 2
    assert text.count("hint: ") == 1
    assert "2 errors generated.\n" in text


def test_many_errors_are_cut():
    text = message_of(Case("\n".join(f"nothing{i};" for i in range(50)), "", ""))
    assert text.count(": error: ") == 20
    assert text.endswith("20 errors generated.\nThere are more, which are not shown.\n")


@pytest.mark.parametrize(
    ("header", "place", "words"),
    [
        ("template", "header:1:8", "expected unqualified-id behind the end of this text"),
        ("inline int f(int a,\n\n", "header:1:19", "expected"),
        (
            "#pragma GCC poison T\n#include <MetalPerformancePrimitives/"
            "MetalPerformancePrimitives.h>",
            "header:2:1",
            "because of this",
        ),
    ],
)
def test_errors_in_what_follows_belong_to_the_text_in_front(header, place, words):
    text = message_of(Case("out[0] = 1;", place, words, header=header))
    assert f"k: {place}: error: " in text and words in text, text


def test_warnings_that_the_user_turns_on_are_not_for_our_text():
    compile_to_ir(kernel_source("out[0] = 1;", '#pragma clang diagnostic error "-Weverything"'))


def test_a_text_that_ends_clang_by_its_depth():
    text = message_of(Case(f"out[0] = 1;\nout[0] = {'- ' * 20_000}1;", "", ""))
    assert "k: source:2:1: error: Clang ran out of stack: the text is nested too deeply" in text
    assert len(text) < 2000


@pytest.mark.parametrize(
    ("body", "header"),
    [
        ("threadgroup_barrier(mem_flags::mem_nothing);", ""),
        ("int n = atomic_fetch_add_explicit a;", ""),
        ("", "#include <" + 300 * "a" + ".h>"),
        ("", "constant __fp16 f [[function_constant(3)]];"),
        ("switch (1) { constant int t = 1; int v = 2; case 1: out[0] = t; }", ""),
        ("wh = 1;", "uint3 where [[thread_position_in_grid]];\ninline int where() { return 1; }"),
        ("int q = where; where.q = 1;", "uint3 where [[thread_position_in_grid]];"),
        ("", "uint3 if[[thread_position_in_grid]];"),
    ],
)
def test_messages_show_none_of_our_names(body, header):
    message = message_of(Case(body, "", "", header=header))
    assert "__am" not in message and "frontend/include" not in message
    assert "input<" not in message
