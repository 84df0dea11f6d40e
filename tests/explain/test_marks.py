"""Marked code is the code that runs: the marks change no instruction."""

from __future__ import annotations

import re

import pytest

from anymetal.emission.marks import Marks
from anymetal.explain.listing import Instruction, read_listing
from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu.assemble import assembly
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.reporting import GangStages
from anymetal.targets.cpu.variant import variant_for
from tests.compiling import vector_ir
from tests.explain.kernels import HERE, INPUTS, OUTPUTS
from tests.frontend.kernels import kernel_source


class Marked(GangStages):
    """Asks for marks."""

    def __init__(self) -> None:
        super().__init__()
        self.given = Marks()

    def marks(self) -> Marks:
        return self.given


def instructions(body: str, stages: GangStages, cpu: str) -> list[Instruction]:
    source = kernel_source(HERE + body, inputs=INPUTS, outputs=OUTPUTS)
    program = thread_program(source)
    variant = variant_for((1000, 1, 1), (256, 1, 1))
    machine = machine_for(cpu)
    return read_listing(
        assembly(vector_ir(program, variant, machine, stages), machine)
    ).instructions


def plain(found: list[Instruction]) -> list[str]:
    """Without the labels, which are numbered otherwise."""
    return [re.sub(r"\.L\w+", ".L", f"{i.operation} {i.operands}") for i in found]


BODIES = {
    "loop": "float s = 0; for (int k = 0; k < n; k++) s += exp(a[i + k] * s); out[i] = s;",
    "divergent": "float s = 1; while (s < a[i]) s = s * 3 + a[b[i]]; out[i] = s;",
    "barriers": "threadgroup float t[256]; t[l] = a[i];\n"
    "for (int k = 0; k < n; k++) {\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup); t[l] += t[255 - l]; }\nout[i] = t[l];",
    "atomics": "atomic_fetch_max_explicit((device atomic_int*)&to[b[i]], b[i], "
    "memory_order_relaxed);",
}


@pytest.mark.parametrize("cpu", ["", "x86-64-v3", "aarch64"])
@pytest.mark.parametrize("name", BODIES)
def test_marks_change_no_instruction(name: str, cpu: str) -> None:
    without = instructions(BODIES[name], GangStages(), cpu)
    marked = instructions(BODIES[name], Marked(), cpu)
    if cpu == "aarch64":  # there LLVM orders the first instructions of a function otherwise
        assert sorted(i.operation for i in marked) == sorted(i.operation for i in without)
    else:
        assert plain(marked) == plain(without)
    assert not any(i.mark for i in without)
    assert sum(i.mark > 0 for i in marked) > len(marked) / 3
