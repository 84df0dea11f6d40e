"""A lowering table for NVIDIA GPUs, as far as its instructions go: what there is to say about a
target whose threads run side by side fits into one, and LLVM makes PTX of the rest.
"""

from __future__ import annotations

from typing import ClassVar

import llvmlite.binding as llvm
import pytest

from anymetal.emission.emitter import emit_module
from anymetal.emission.lowering import Lowering
from anymetal.errors import UnsupportedFeatureError
from anymetal.frontend.profile import Profile
from anymetal.ir import types as t
from anymetal.ir.calls import plain_name
from anymetal.ir.model import Argument, Global, Instr
from anymetal.pipeline.program import thread_program
from anymetal.source import KernelSource
from tests.frontend.kernels import kernel_source

_PROFILE = Profile("nvptx64-nvidia-cuda", "sm_80", "+ptx70")
_LANES = ("i32", "-1")  #: all of them
_REGISTERS = {"thread": "tid", "group": "ctaid", "size": "ntid", "full_size": "ntid"}


class PtxThread(Lowering):
    """Blocks are whole threadgroups; grids are whole blocks."""

    spaces: ClassVar = {"device": 1, "constant": 1, "threadgroup": 3, "thread": 5}
    linkage, scope = "ptx_kernel ", 'syncscope("device")'

    def parameters(self) -> list[str]:
        return [f"{self.spelled(a.type)} %buffer.{a.index}" for a in self.program.args]

    def buffer(self, argument: Argument) -> str:
        return f"%buffer.{argument.index}"

    def threadgroup_variable(self, variable: Global, offset: int) -> str:
        size = self.program.threadgroup_bytes
        memory = f"@memory = internal addrspace(3) global [{size} x i8] poison, align 16"
        self.w.declarations["memory"] = memory
        return f"getelementptr (i8, ptr addrspace(3) @memory, i64 {offset})"

    def position(self, name: str) -> str:
        what, _, axis = name.rpartition("_")
        if what in _REGISTERS:
            return self._register(f"{_REGISTERS[what]}.{axis}")
        if what == "grid":
            threads, groups = (self._register(f"{one}.{axis}") for one in ("ntid", "nctaid"))
            return self.w.value(f"mul i32 {threads}, {groups}")
        thread = "0"
        for axis in "zyx":
            rows = self.w.value(f"mul i32 {thread}, {self._register(f'ntid.{axis}')}")
            thread = self.w.value(f"add i32 {rows}, {self._register(f'tid.{axis}')}")
        return self.w.value(f"and i32 {thread}, 31" if name == "lane" else f"lshr i32 {thread}, 5")

    def barrier(self, instr: Instr) -> None:
        self._together("void", "barrier.cta.sync.aligned.all", ("i32", "0"))

    def cross_lane(self, instr: Instr, names: list[str]) -> str:
        words = [("i32", name) for name in names]
        match instr.arg:
            case "__am_shuffle":
                return self._together("i32", "shfl.sync.idx.i32", _LANES, *words, ("i32", "31"))
            case "__am_ballot":
                return self._together("i32", "vote.ballot.sync", _LANES, ("i1", names[0]))
            case "__am_simdgroup_barrier":
                return self._together("void", "bar.warp.sync", _LANES)
        raise UnsupportedFeatureError(f"{instr.loc}: {plain_name(instr.arg)}")

    def converts(self, type_: t.Type) -> bool:
        return True

    def maths(self, instr: Instr, names: list[str]) -> str:
        raise UnsupportedFeatureError(f"{instr.loc}: {plain_name(instr.arg)}")

    def log(self, instr: Instr, names: list[str]) -> None:
        raise UnsupportedFeatureError(f"{instr.loc}: os_log")

    def stray(self, instr: Instr, names: list[str]) -> None:
        raise UnsupportedFeatureError(f"{instr.loc}: checked accesses")

    def _register(self, name: str) -> str:
        return self.w.call("i32", f"llvm.nvvm.read.ptx.sreg.{name}", [])

    def _together(self, result: str, name: str, *operands: tuple[str, str]) -> str:
        return self.w.call(result, f"llvm.nvvm.{name}", list(operands), attributes="convergent")


def ptx_of(source: KernelSource) -> str:
    """The assembly of a kernel."""
    thread = thread_program(source, profile=_PROFILE)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_PROFILE.triple).create_target_machine(
        cpu=_PROFILE.cpu, features=_PROFILE.features, opt=2
    )
    module = llvm.parse_assembly(emit_module(thread, "thread", PtxThread(thread)))
    module.triple, module.data_layout = _PROFILE.triple, str(machine.target_data)
    module.verify()
    return str(machine.emit_assembly(module))


_ID = "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\n"


@pytest.mark.parametrize(
    ("body", "instructions"),
    [
        ("out[i] = a[i] * 2;", ["ld.global", "st.global", "%ctaid.x", "%tid.x"]),
        (
            "threadgroup float t[32]; t[l] = a[i]; threadgroup_barrier(mem_flags::mem_threadgroup);"
            "out[i] = t[31 - l];",
            ["st.shared", "bar.sync", "ld.shared"],
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
        ("out[i] = sqrt(a[i]) + exp(a[i]) + sin(a[i]);", ["sqrt.rn", "fma.rn"]),
        ("out[i] = float(half(a[i]) * half(2));", ["cvt.rn.f16.f32"]),
    ],
)
def test_instructions(body: str, instructions: list[str]) -> None:
    text = ptx_of(kernel_source(_ID + body))
    for instruction in instructions:
        assert instruction in text, f"no {instruction} in\n{text}"
