"""Shuffles whose lanes only the data tell; tests/kernels/lanes has what they give."""

from __future__ import annotations

import mlx.core as mx
import pytest

from anymetal.pipeline.program import thread_program
from anymetal.runtime.zig import host_triple
from anymetal.simd.lanes.permute import _CALLEE
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import Variant
from tests.compiling import vector_ir
from tests.frontend.kernels import kernel_source

_BODY = "uint i = thread_position_in_grid.x; out[i] = simd_shuffle(x[i], ushort(k[i]));"
_ONE_SIMDGROUP = Variant(
    flat=True, linear=True, aligned=True, full=True, partial=False, single=True
)


@pytest.mark.skipif(not host_triple().startswith("x86_64"), reason="levels of x86-64")
@pytest.mark.parametrize(("cpu", "permutations"), [("x86-64-v4", 2), ("x86-64-v3", 0)])
def test_registers_of_avx512_need_no_memory(cpu: str, permutations: int) -> None:
    source = kernel_source(_BODY, inputs={"x": mx.zeros(64), "k": mx.zeros(64, mx.uint32)})
    text = vector_ir(thread_program(source), _ONE_SIMDGROUP, machine_for(cpu))
    assert (
        text.count(f"@{_CALLEE}(") - text.count(f"declare <16 x i32> @{_CALLEE}(") == permutations
    )
    assert ("masked.gather" in text) == (permutations == 0)
