"""The instructions that kernels become."""

from __future__ import annotations

import re

import pytest

from anymetal.errors import UnsupportedFeatureError
from anymetal.targets.cuda import compiler
from anymetal.targets.cuda.names import Form
from tests.frontend.kernels import kernel_source

_ID = "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\n"


def ptx_of(body: str, **options: object) -> str:
    return compiler.compiled(kernel_source(_ID + body, **options), "sm_80")


@pytest.mark.parametrize(
    ("body", "instructions"),
    [
        ("out[i] = a[i] * 2;", ["ld.global", "st.global", "%ctaid.x", "%tid.x", "exit"]),
        (
            "threadgroup float t[32]; t[l] = a[i]; threadgroup_barrier(mem_flags::mem_threadgroup);"
            "out[i] = t[31 - l];",
            ["st.shared", "barrier.sync", "ld.shared"],
        ),
        ("out[i] = simd_shuffle_xor(a[i], 1);", ["shfl.sync.idx.b32"]),
        ("out[i] = simd_any(a[i] > 0) ? 1 : 0;", ["vote.sync.ballot.b32"]),
        (
            "float m[8]; for (uint k = 0; k < 8; ++k) m[k] = a[i + k]; out[i] = m[i % 8];",
            [".local"],
        ),
        (
            "atomic_fetch_add_explicit((device atomic_uint*)&out[0], i, memory_order_relaxed);",
            [".global.add.u32"],
        ),
        (
            "atomic_fetch_add_explicit((device atomic_float*)&out[0], a[i], memory_order_relaxed);",
            [".global.add.f32"],
        ),
        ("out[i] = sqrt(a[i]) / s;", ["sqrt.rn.ftz", "div.rn.ftz"]),
        ("out[i] = float(half(a[i]) * half(2));", ["cvt.rn.f16.f32", "cvt.ftz.f32.f16"]),
    ],
)
def test_instructions(body: str, instructions: list[str]) -> None:
    text = ptx_of(body)
    for instruction in instructions:
        assert instruction in text, f"no {instruction} in\n{text}"


def test_estimates_are_for_fast_mode_only() -> None:
    body = "out[i] = exp(a[i]) + sin(a[i]) / s + pow(a[i], s) + atan2(a[i], s) + rsqrt(a[i]);"
    # (That of a square root's reciprocal is the beginning of one that is rounded correctly.)
    assert not re.search(r"(?<!rsqrt\.)\bapprox\b", ptx_of(body))


def test_sums_are_not_fused_behind_our_back() -> None:
    """What the front end has not fused stays two roundings: `.rn` tells so to ptxas."""
    text = ptx_of("{\n#pragma clang fp contract(off)\nout[i] = a[i] * s + 1;\n}")
    assert "mul.rn.ftz.f32" in text and "add.rn.ftz.f32" in text and "fma" not in text


def test_private_arrays_that_loops_go_through_become_registers() -> None:
    body = """
        float m[64];
        for (uint k = 0; k < 64; ++k) m[k] = a[i * 64 + k] * s;
        for (uint k = 0; k < 64; ++k) out[i * 64 + k] = m[63 - k];
    """
    assert ".local" not in ptx_of(body)


def test_arrays_that_nobody_writes_are_loaded_as_such() -> None:
    assert "ld.global.nc" in ptx_of("out[i] = a[i];")
    assert "ld.global.nc" not in ptx_of("((device float*)a)[i + 1] = 1; out[i] = a[i];")


def test_vectors_are_loaded_whole_where_buffers_are_aligned() -> None:
    source = kernel_source(_ID + "((device float4*)out)[i] = 2 * ((const device float4*)a)[i];")
    text = compiler.compiled(source, "sm_80", Form(aligned=True))
    assert "ld.global.nc.v4" in text and "st.global.v4" in text
    assert ".v4" not in compiler.compiled(source, "sm_80")


def test_whole_threadgroups_need_no_edge() -> None:
    source = kernel_source(_ID + "out[i] = simd_sum(a[i]);")
    text = compiler.compiled(source, "sm_80", Form(256, whole=True, flat=True))
    assert "exit" not in text and "bra" not in text and "%tid.y" not in text
    assert "exit" in compiler.compiled(source, "sm_80", Form(256, flat=True))


def test_registers_allow_the_threads_of_a_block() -> None:
    source = kernel_source(_ID + "out[i] = a[i];")
    assert ".maxntid 1024" in compiler.compiled(source, "sm_80")
    assert ".maxntid 128" in compiler.compiled(source, "sm_80", Form(128))


def test_an_unknown_architecture_is_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"'sm_12'.*sm_75, sm_80"):
        compiler.compiled(kernel_source("out[0] = 1;"), "sm_12")


def test_logging_is_refused_at_its_line() -> None:
    body = '#include <metal_logging>\nos_log_default.log("%d", 1);\nout[i] = 1;'
    with pytest.raises(UnsupportedFeatureError, match=r"source:\d+:\d+.*os_log.*CPU target"):
        ptx_of(body)


@pytest.mark.parametrize(
    ("body", "in_step"),
    [
        ("out[i] = simd_sum(a[i]);", False),
        ("if (simdgroup_index_in_threadgroup == 0) out[i] = simd_sum(a[i]);", False),
        ("if (i % 2) out[i] = simd_sum(a[i]);", True),
        ("if (i >= 100) return; out[i] = simd_sum(a[i]);", True),
        ("for (uint k = 0; k < i; ++k) out[i] = simd_sum(a[k]);", True),
        ("for (uint k = 0; k < 8; ++k) out[i] = simd_sum(a[k]);", False),
        ("if (i % 2) out[i] = 1;", False),
    ],
)
def test_threads_keep_together_where_some_compute_together(body: str, in_step: bool) -> None:
    ir = compiler.llvm_ir(kernel_source(_ID + body), "sm_80")
    assert ("%next" in ir) == in_step


def test_values_that_threads_in_step_read_were_written() -> None:
    """A counter that is used at the head of a loop and by a phi of another block only."""
    body = """
        int k = 0;
        do {
            k += 1;
            if (i & 1) out[i] += a[i];
            if (out[i] > 9) break;
        } while (k < 6 && (i & 3) < 2);
        if (i % 5 == 2) out[i] = simd_sum(a[i]);
    """
    ir = compiler.llvm_ir(kernel_source(_ID + body), "sm_80")
    assert "%next" in ir
    read = set(re.findall(r"load [^,]+, ptr (%slot\.\d+)$", ir, re.M))
    written = set(re.findall(r"store (?!\S+ zeroinitializer).*, ptr (%slot\.\d+)$", ir, re.M))
    assert read and read <= written
