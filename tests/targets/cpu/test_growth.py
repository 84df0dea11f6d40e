"""How compile time grows with the length of a program: that of our own passes, without Clang's and
LLVM's."""

from __future__ import annotations

import time
from typing import NamedTuple

import mlx.core as mx
import pytest

from anymetal.frontend import optimise
from anymetal.frontend.clang import compile_to_ir
from anymetal.ir.reader import read_program
from anymetal.simd.certain import certain_stores
from anymetal.targets.cpu.compiler import PASSES, machine_for, vector_ir
from anymetal.targets.cpu.variant import Variant
from tests.frontend.kernels import kernel_source
from tests.targets.cpu.growing import SHAPES

_INPUTS = {"a": mx.zeros(1 << 16), "b": mx.zeros(1 << 16, mx.int32), "n": mx.array(5)}
_OUTPUTS = {"out": mx.float32, "to": mx.int32}
_VARIANT = Variant(flat=True, linear=True, aligned=True, full=True, partial=True, single=False)


class _Cost(NamedTuple):
    instructions: int  #: of the thread program
    seconds: float  #: of the processor, in our own passes


def _compiled(shape: str, steps: int) -> _Cost:
    """Through all of our passes, from Clang's output to what LLVM is given."""
    source = kernel_source(SHAPES[shape](steps), inputs=_INPUTS, outputs=_OUTPUTS)
    raw = compile_to_ir(source)
    start = time.process_time()
    prepared = optimise.prepare(raw, large=False)
    seconds = time.process_time() - start
    text = optimise._optimised(prepared)
    start = time.process_time()
    program = read_program(text)
    for run, _ in PASSES:
        run(program)
    instructions = sum(len(block.instrs) for block in program.blocks)
    certain_stores(program)
    vector_ir(program, _VARIANT, machine_for(""))
    return _Cost(instructions, seconds + time.process_time() - start)


#: Analyses that once asked about a value as often as it is used, or called themselves for each
#: step, with a length at which that ended in a RecursionError or did not end.
_DEEP = {
    "xorshift_to_index": 400,
    "xorshift_in_bounds": 40,
    "uniform_squares": 400,
    "uniform_masks": 400,
    "squares_of_place": 400,
    "xorshift_of_rows": 60,
    "adds_to_index": 1000,
}


@pytest.mark.parametrize("shape", _DEEP)
def test_deep_chains(shape: str) -> None:
    assert _compiled(shape, _DEEP[shape]).instructions > _DEEP[shape]
