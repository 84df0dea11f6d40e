"""How compile time grows with the length of a program: that of our own passes, without Clang's and
LLVM's."""

from __future__ import annotations

import math
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


#: Twice the program may take so many times as long. Twice the work is 2; what is left is for caches
#: and for other programs on the machine. Where time grows with the square it is 4.
_MOST = 3.2
_LARGEST = 20_000  #: instructions
_SLOWEST = 20.0  #: seconds for those


@pytest.mark.slow
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_growth(shape: str) -> None:
    """From a size that takes a while on, each doubling of a program doubles the time.

    (Clang nests braces no deeper than 256.)
    """
    steps = 30 if shape.startswith("nested") else 100
    most = 240 if shape.startswith("nested") else _LARGEST
    costs = [_compiled(shape, steps)]
    while costs[-1].instructions <= _LARGEST // 2 and 2 * steps <= most:
        steps *= 2
        costs.append(_compiled(shape, steps))
        assert costs[-1].seconds < _SLOWEST, costs
    long = [cost for cost in costs if cost.seconds > 0.2]
    if len(long) > 1:
        doublings = math.log2(long[-1].instructions / long[0].instructions)
        growth = long[-1].seconds / long[0].seconds
        assert growth <= _MOST**doublings, costs
