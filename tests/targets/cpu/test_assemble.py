"""Machine code where LLVM has gone wrong."""

from __future__ import annotations

import re

import mlx.core as mx

from anymetal.pipeline.program import thread_program
from anymetal.targets.cpu.assemble import assembly
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import variant_for
from tests.compiling import vector_ir
from tests.frontend.kernels import kernel_source

#: Lanes but the first gather 16-bit numbers. The indices of two lanes come out of a vector at once.
_GATHER = """
uint i = thread_position_in_grid.x;
if (simd_is_first()) return;
out[i] <<= char(x[((const device int2*)place)[i].y & 7] > ushort(0));
"""


def test_an_index_of_one_lane_has_nothing_of_the_next() -> None:
    inputs = {"x": mx.zeros(8, mx.uint16), "place": mx.zeros((64, 2), mx.int32)}
    source = kernel_source(_GATHER, inputs=inputs, outputs={"out": mx.int8})
    variant, machine = variant_for((64, 1, 1), (32, 1, 1)), machine_for("x86-64-v4")
    code = assembly(vector_ir(thread_program(source), variant, machine), machine)
    both, bad = set[str](), []
    for line in code.splitlines():
        if pair := re.search(r"vp?(?:movq|extrq)\s.*(%r\w+)$", line):
            both.add(pair[1])
            continue
        # The register as it is, with both indices, scaled as one of them.
        bad += [line for register in both if f",{register},2)" in line.replace(" ", "")]
        both -= {changed for changed in both if line.rstrip().endswith(changed)}
    assert "vmovq" in code and not bad


#: A step's sums are eight registers of four lanes, which wait for each other's last addition only.
_RECURRENT = """
uint lane = thread_index_in_simdgroup;
float mine[32], state = 0;
#pragma unroll
for (uint j = 0; j < 32; ++j) mine[j] = weights[lane * 32 + j];
for (uint step = 0; step < 64; ++step) {
    float next = x[step * 32 + lane];
    #pragma unroll
    for (uint j = 0; j < 32; ++j) next += mine[j] * simd_shuffle(state, j);
    out[step * 32 + lane] = state = tanh(next);
}
"""


def test_a_sum_does_not_wait_for_others_on_a_processor_that_llvm_takes_for_an_older_one() -> None:
    inputs = {"x": mx.zeros((64, 32)), "weights": mx.zeros((32, 32))}
    source = kernel_source(_RECURRENT, inputs=inputs, outputs={"out": mx.float32})
    variant, machine = variant_for((32, 1, 1), (32, 1, 1)), machine_for("cortex-a76")
    code = assembly(vector_ir(thread_program(source), variant, machine), machine)
    sums = re.findall(r"fmla\s+(v\d+)\.4s", code)
    assert len(sums) >= 8 * 32
    together = [len({*sums[at : at + 16]}) for at in range(0, len(sums) - 16, 16)]
    assert sorted(together)[len(together) // 2] >= 8
