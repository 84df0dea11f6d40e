"""Addresses that differ between lanes: made of 32-bit indices where the kernel's indices are."""

from __future__ import annotations

import mlx.core as mx
import pytest

from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu.assemble import assembly
from anymetal.targets.cpu.llvm_target import machine_for
from tests.compiling import vector_ir
from tests.simd.full_width import Kernel

_PLACES = {"x": mx.zeros(4096), "places": mx.zeros(4096, mx.int32)}
_SMALL = {"x": mx.zeros(4096), "places": mx.zeros(4096, mx.uint16)}
_ID = "uint i = thread_position_in_grid.x;\n"

#: Inputs, body, and the instruction for sixteen lanes at once.
CASES = {
    "gather": (_PLACES, "out[i] = x[places[i]];", "vgatherdps"),
    "gather of rows": (_PLACES, "out[i] = x[3 * places[i] + 1];", "vgatherdps"),
    "gather by small numbers": (_SMALL, "out[i] = x[places[i]];", "vgatherdps"),
    "scatter": (_PLACES, "out[places[i]] = x[i];", "vscatterdps"),
    "in a loop": (
        _PLACES,
        "float sum = 0; for (int k = 0; k < 64; ++k) sum += x[places[i] ^ k]; out[i] = sum;",
        "vgatherdps",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_indices_of_32_bits(name: str) -> None:
    inputs, body, instruction = CASES[name]
    kernel = Kernel(inputs, _ID + body, (4096, 1, 1), (256, 1, 1))
    variant, machine = kernel.variant("x86-64-v4"), machine_for("x86-64-v4")
    program = thread_program(kernel.source())
    code = assembly(vector_ir(program, variant, machine), machine)
    assert instruction in code
    assert instruction.replace("dp", "qp") not in code
