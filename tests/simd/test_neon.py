"""Code for vectors of 16 bytes: masks of 32 lanes do not fit one of these registers."""

from __future__ import annotations

import re
from collections.abc import Callable

import mlx.core as mx
import pytest

from anymetal.explain.listing import Instruction, read_listing
from anymetal.pipeline.stages import Stages
from anymetal.targets.cpu.assemble import assemble, assembly
from anymetal.targets.cpu.llvm_target import machine_for
from tests.simd.full_width import KERNELS, Kernel
from tests.simd.test_full_width import vector_ir_of

_X = {"x": mx.zeros(4096)}
_ID = "uint i = thread_position_in_grid.x;\n"


class _Listing(Stages):
    """Keeps the assembly, with LLVM's comments on loops."""

    text = ""

    def made(self, what: str, text: Callable[[], str]) -> None:
        if what == "assembly":
            self.text = text()


def _kernel(body: str) -> Kernel:
    return Kernel(_X, _ID + body, (4096, 1, 1), (256, 1, 1))


#: Loops that lanes leave one after the other, and conditions that differ between lanes.
DIVERGENT = {
    "leaving": _kernel(
        "float a = x[i], b = 0; int n = 0;\n"
        "while (n < 99 && a * a + b * b <= 4.0f) { b = 2 * a * b; a = a * a - b + 0.1f; n++; }\n"
        "out[i] = n;"
    ),
    "two exits": _kernel(
        "float a = x[i]; int n = 0;\n"
        "while (n < 99) { if (a > 100) { a = -a; break; } a = a * 1.5f + 1; n++;\n"
        "  if (a < -5) break; }\nout[i] = a + n;"
    ),
    "nested": _kernel(
        "float a = x[i];\n"
        "for (int k = 0; k < int(x[i]); ++k)\n"
        "  { for (float b = a; b < 9; b += 1.5f) a += b * 0.1f; }\n"
        "out[i] = a;"
    ),
    "branches": _kernel(
        "float a = x[i];\n"
        "for (int k = 0; k < 50; ++k) { if (a > 1) { for (int j = 0; j < k; ++j) a = a * 0.5f; }"
        " else a += 1; }\nout[i] = a;"
    ),
}
#: One lane of a vector by itself, but for products with one.
_ONE_LANE = re.compile(r"[us]?mov|ins")


def _of_one_lane(instruction: Instruction) -> bool:
    in_vector = re.search(r"\bv\d+\.[bhsd]\[", instruction.operands)
    return bool(_ONE_LANE.fullmatch(instruction.operation) and in_vector)


@pytest.mark.parametrize("cpu", ["cortex-a76", "neoverse-v1", "apple-m1"])
@pytest.mark.parametrize("name", DIVERGENT)
def test_masks_of_divergent_loops_are_not_taken_apart(name: str, cpu: str) -> None:
    stages = _Listing()
    assemble(vector_ir_of(DIVERGENT[name], cpu), machine_for(cpu), stages)
    inner = [loop for loop in read_listing(stages.text).loops if loop.inner]
    assert inner
    for loop in inner:
        assert not list(filter(_of_one_lane, loop.instructions))


@pytest.mark.parametrize("cpu", ["cortex-a76", "neoverse-v2"])
@pytest.mark.parametrize("name", ["exp", "saxpy", "gelu", "half", "bytes"])
def test_products_are_fused_and_functions_stay_in_registers(name: str, cpu: str) -> None:
    code = assembly(vector_ir_of(KERNELS[name], cpu), machine_for(cpu))
    assert not re.search(r"mov\t.*\bv\d+\.[bhsd]\[", code) and "\tbl\t" not in code
    assert ("fmla" in code or "fmad" in code) == (name != "bytes")


@pytest.mark.parametrize("cpu", ["cortex-a76", "neoverse-v2"])
def test_sums_of_a_product_stay_in_registers(cpu: str) -> None:
    """As many SIMD-groups run as one as have room: no instruction takes an operand from memory."""
    product = Kernel(
        {"a": mx.zeros((512, 512)), "b": mx.zeros((512, 512))},
        "uint row = thread_position_in_grid.y, column = thread_position_in_grid.x;\n"
        "uint inner = a_shape[1], columns = b_shape[1]; float sum = 0;\n"
        "for (uint k = 0; k < inner; ++k) sum += a[row * inner + k] * b[k * columns + column];\n"
        "out[row * columns + column] = sum;",
        (512, 512, 1),
        (32, 8, 1),
    )
    stages = _Listing()
    assemble(vector_ir_of(product, cpu), machine_for(cpu), stages)
    products = [
        [i for i in loop.instructions if "Spill" in i.comment or "Reload" in i.comment]
        for loop in read_listing(stages.text).loops
        if any(i.operation == "fmla" for i in loop.instructions)
    ]
    assert products and not any(products)
