"""What is asked for where a threadgroup reads a little at many places."""

from __future__ import annotations

import mlx.core as mx
import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.coarsening import teams
from anymetal.ir.calls import AHEAD_READ
from anymetal.ir.model import Instr
from anymetal.ir.spec import Stage, check
from anymetal.pipeline.program import thread_program
from anymetal.prefetch import tile_rows
from tests.compiling import known_of
from tests.frontend.kernels import kernel_source

LAUNCH = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
_PLACE = """
uint i = thread_position_in_grid.x, group = threadgroup_position_in_grid.x;
uint g = simdgroup_index_in_threadgroup, lane = thread_index_in_simdgroup;
uint x = group * 32 + lane;
float v = 0;
"""
_ROWS = "for (uint k = 0; k < {0}; ++k) v += a[{1}];"


def asked(body: str, team: int = 8) -> list[Instr]:
    """The pointers that are asked for."""
    inputs = {"a": mx.zeros(4096), "n": mx.array(3)}
    program = thread_program(kernel_source(_PLACE + body + "\nout[i] = v;", inputs=inputs))
    assert team == 1 or teams.join(known_of(program, LAUNCH), team, in_row=True)
    tile_rows.run(known_of(program, LAUNCH))
    check(program, Stage.GANG)
    asks = [i for i in program.instructions() if i.op == "call" and i.arg == AHEAD_READ]
    return [pointer for i in asks if isinstance(pointer := i.operands[0], Instr)]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (_ROWS.format(4, "(g + 8 * k) * n + x"), 32),
        (_ROWS.format(3, "(g * 4 + k) * n + x"), 24),
        (_ROWS.format(2, "(g + 8 * k) * n + x"), 0),  # only 16
        (_ROWS.format(4, "(g + k) * n + x"), 0),  # the same rows over and over
        (_ROWS.format(4, "(g + 8 * k) * n + x + k"), 32),
        (_ROWS.format(4, "(g + 8 * k) * n + lane"), 0),  # the same for all threadgroups
        (_ROWS.format(4, "i + 4096 * k"), 0),  # SIMD-groups join to long runs
        (_ROWS.format(4, "(g + 8 * k) * n + x * 64"), 0),  # a line for each lane
        ("v = a[i];", 0),
        ("#pragma unroll 1\nfor (int k = 0; k < n; ++k) v += a[(g + 8 * k) * n + x];", 0),
    ],
)
def test_how_much_is_asked_for(body: str, count: int) -> None:
    assert len(asked(body)) == count


def test_runs_of_a_simdgroup_alone() -> None:
    assert len(asked(_ROWS.format(20, "k * n + i"), team=1)) == 20
    assert not asked(_ROWS.format(12, "k * n + i"), team=1)


def test_a_run_is_asked_for_once() -> None:
    body = _ROWS.format(20, "k * n + x") + _ROWS.format(20, "k * n + x + 1")
    again = _ROWS.format(20, "k * m + x")
    assert len(asked(body, team=1)) == 40
    assert len(asked(f"uint m = n; {again} out[i + 1] = v; {again}", team=1)) == 20


@pytest.mark.parametrize(
    ("body", "scales", "offset"),
    [
        (_ROWS.format(20, "k * n + x"), (), 2 * 32 * 4),
        (_ROWS.format(20, "k * n + i"), (2 * 4,), 0),  # times threads_per_threadgroup
        (_ROWS.format(20, "(group * 20 + k) * n + lane"), (2 * 20 * 4,), 0),
        (_ROWS.format(20, "(group * 20 + k) * n + x"), (2 * 20 * 4,), 2 * 32 * 4),
    ],
)
def test_where_threadgroups_to_come_will_read(
    body: str, scales: tuple[int, ...], offset: int
) -> None:
    assert {pointer.arg for pointer in asked(body, team=1)} == {(*scales, offset)}
