"""The processor that Clang and the optimiser work for is the target's to say."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from anymetal.frontend.clang import compile_to_ir, flags
from anymetal.frontend.optimise import optimise
from anymetal.frontend.profile import Profile
from anymetal.ir.spec import Stage, check
from anymetal.pipeline.program import thread_program
from anymetal.runtime import zig
from tests.frontend.kernels import kernel_source

_BODY = """
    threadgroup half ours[32];
    float4 four = float4(a[0], exp(a[1]), float(bfloat(a[2])), a[3]);
    ours[thread_position_in_threadgroup.x] = half(dot(four, four));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[0] = simd_sum(float(ours[uint(a[4]) % 32]));
"""


def _no_host() -> str:
    raise AssertionError("the front end asks where it runs")


@pytest.mark.parametrize(
    "profile",
    [
        Profile("x86_64-unknown-linux-gnu"),
        Profile("aarch64-unknown-linux-gnu"),
        Profile("nvptx64-nvidia-cuda", "sm_80"),
    ],
)
def test_a_thread_program_for_any_processor(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zig, "host_triple", _no_host)
    monkeypatch.setattr(llvm, "get_process_triple", _no_host)
    source = kernel_source(_BODY)
    raw = compile_to_ir(source, profile)
    line = f'target triple = "{profile.triple}"'
    assert line in raw
    assert line in optimise(raw, profile=profile)
    program = thread_program(source, profile=profile, raw=raw)
    check(program, Stage.GUARDED)
    assert program.calls("__am_threadgroup_barrier")


def test_flags() -> None:
    told = flags("safe", Profile("nvptx64-nvidia-cuda", "sm_80", "+ptx70,+x"))
    assert " ".join(told).startswith(
        "-triple nvptx64-nvidia-cuda -target-cpu sm_80 -target-feature +ptx70 -target-feature +x "
    )
