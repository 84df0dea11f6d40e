"""What is asked for while a SIMD-group computes for long, and when."""

from __future__ import annotations

from itertools import pairwise

import mlx.core as mx
import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.ir.calls import LINE_READ
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.pipeline.program import thread_program
from anymetal.prefetch import during_turns
from tests.compiling import known_of, planned
from tests.frontend.kernels import kernel_source

LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
WAYS = [{"__am_gang": 1, "__am_thread_x": 32}, {"__am_thread_y": 1}]
_BODY = """
uint x = thread_position_in_grid.x, y = thread_position_in_grid.y;
uint lane = thread_index_in_simdgroup;
float v[16], sum = 0;
for (uint k = 0; k < 16; ++k) v[k] = a[{0}];
#pragma unroll
for (uint turn = 0; turn < {1}; ++turn) {{
    #pragma unroll
    for (uint k = 0; k < 16; ++k) v[k] = sqrt(v[k]) * v[(k + 3) % 16] + 1 / v[(k + 5) % 16];
}}
for (uint k = 0; k < 16; ++k) sum += v[k];
out[y * 32 + lane] = sum;
"""


def asking(index: str, turns: int = 12) -> Program:
    inputs = {"a": mx.zeros(4096), "n": mx.array(3)}
    program = thread_program(kernel_source(_BODY.format(index, turns), inputs=inputs))
    during_turns.run(known_of(program, LAUNCH), WAYS)
    check(program, Stage.GANG)
    return program


def requests(program: Program) -> int:
    return sum(i.op == "call" and i.arg == LINE_READ for i in program.instructions())


@pytest.mark.parametrize(
    ("index", "turns", "count"),
    [
        ("(y * 32 + lane) * 16 + k", 12, 32),  # 16 floats of each of 32 lanes: 32 lines
        ("(y * 16 + k) * 32 + lane", 12, 32),  # the same memory in another order
        ("x * 16 + k", 12, 32),
        ("(y * 32 + lane) * n + k", 12, 0),  # lanes lie nobody knows how far apart
        ("lane * 16 + k", 12, 0),  # all SIMD-groups read the same
        ("(y * 32 + lane) * 16 + k", 0, 0),  # nothing to do meanwhile
        ("(y * 32 + lane) + k", 12, 0),  # three lines
    ],
)
def test_how_much_is_asked_for(index: str, turns: int, count: int) -> None:
    assert requests(asking(index, turns)) == count


def test_requests_are_spread_over_what_is_computed() -> None:
    program = asking("(y * 32 + lane) * 16 + k")
    planned(program, LAUNCH)
    (block,) = (b for b in program.blocks if any(i.arg == LINE_READ for i in b.instrs))
    places = [at for at, i in enumerate(block.instrs) if i.op == "call" and i.arg == LINE_READ]
    gaps = {b - a for a, b in pairwise(places)}
    assert len(places) == 32 and len(gaps) == 1 and gaps.pop() >= during_turns.LONG - 2
    seen = set()
    for instr in block.instrs:
        assert not any(getattr(v, "block", None) is block and v not in seen for v in instr.operands)
        seen.add(instr)
    assert block.instrs[-1].is_terminator
