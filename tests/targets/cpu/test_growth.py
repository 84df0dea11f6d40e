"""How compile time grows with the length of a program: that of our own passes, without Clang's and
LLVM's."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import mlx.core as mx
import pytest

from anymetal.analysis.cache import Analyses
from anymetal.frontend import optimise
from anymetal.frontend.clang import compile_to_ir
from anymetal.frontend.profile import ANY_PROFILE
from anymetal.ir.reader import read_program
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Compilation, run
from anymetal.pipeline.stages import Stages
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import Variant
from tests.compiling import vector_ir
from tests.frontend.kernels import kernel_source
from tests.targets.cpu.growing import SHAPES

_INPUTS = {"a": mx.zeros(1 << 16), "b": mx.zeros(1 << 16, mx.int32), "n": mx.array(5)}
_OUTPUTS = {"out": mx.float32, "to": mx.int32}
_EDGES = Variant(flat=True, linear=True, aligned=True, full=True, partial=True, single=False)
_TEAMS = _EDGES._replace(partial=False, team=8, sole=True)
#: Those in which all passes run that need all lanes to be there.
_IN_TEAMS = frozenset(
    "additions_and_loads checks components gathers late_uses loaded_addresses loads_of_rows loops "
    "loops_with_ways_out many_left_matrices matrices nests places_that_are_data shuffles "
    "stores_of_float4s stores_of_rows strides_and_stores sums_of_float4s tallies uniform_ifs "
    "uniform_ways_out uses_of_one_float4 xorshift_of_rows".split()
)


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
    text = optimise._optimised(prepared, ANY_PROFILE, sanitized=False)
    start = time.process_time()
    program = read_program(text)
    run(thread.PASSES, Compilation(Analyses(program), Stages(), ()))
    instructions = sum(len(block.instrs) for block in program.blocks)
    vector_ir(program, _TEAMS if shape in _IN_TEAMS else _EDGES, machine_for(""))
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
#: Of shapes for which Clang or LLVM take long.
_SMALLER = 6_000
_SLOW_ELSEWHERE = frozenset(
    "atomics delays divergent_loops divided_index divisions factorisation flags float4s "
    "float_squares hash ladder loops loops_with_ways_out many_left_matrices matrices min_max nests "
    "phis private_array private_elements shuffles sines squares squares_of_place sum "
    "sum_of_position switch tallies threadgroup_memory tree uniform_ifs uniform_masks "
    "uniform_squares ways_out xorshift_of_position xorshift_to_index".split()
)
_DEEPEST = 240  #: Clang nests braces no deeper than 256


def _steps_for(shape: str, *instructions: int) -> list[int]:
    """With how many steps programs have about so many instructions."""
    few, many = 50, 100
    fewer, more = (_compiled(shape, steps).instructions for steps in (few, many))
    return [few + (count - fewer) * (many - few) // (more - fewer) for count in instructions]


@pytest.mark.slow
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_growth(shape: str) -> None:
    """Each doubling of a program doubles the time: over two of them, since that of a small program
    says little."""
    largest = _SMALLER if shape in _SLOW_ELSEWHERE else _LARGEST
    if shape.startswith("nested"):
        sizes = [_DEEPEST // 4, _DEEPEST]
    else:
        sizes = _steps_for(shape, largest // 4, largest)
    short, long = (_compiled(shape, steps) for steps in sizes)
    growth = long.seconds / short.seconds
    print(
        f"{shape}: {short.instructions} -> {long.instructions} instructions, "
        f"{short.seconds:.2f} -> {long.seconds:.2f} s, times {growth:.1f}"
    )
    assert long.seconds < _SLOWEST
    assert shape.startswith("nested") or long.instructions > 0.8 * largest  # some grow in steps
    assert growth <= _MOST ** math.log2(long.instructions / short.instructions)
