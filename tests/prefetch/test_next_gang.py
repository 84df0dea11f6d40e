"""Asking for what the next gang reads: of which loads, and that results stay what they are."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.analysis.cache import Analyses, LaunchFacts
from anymetal.coarsening.teams import steps
from anymetal.ir.calls import NEXT_READ
from anymetal.ir.spec import Stage, check
from anymetal.passes import place_in_rows
from anymetal.passes.split_divisions import split_lanes
from anymetal.pipeline.program import thread_program
from anymetal.prefetch import next_gang
from anymetal.targets.cpu.variant import gang_width
from tests.compiling import known_of
from tests.frontend.kernels import kernel_source

_HEAD = """
uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y * 2;
float s = 0;
"""
_TAIL = "\nout[row] = simd_sum(s); out[row + 1] = s + lane;"
_STEPS = "for (uint i = lane; i < 128; i += 32) "


def requests(body: str) -> int:
    """How many requests a loop gets in threadgroups of (32, 4)."""
    source = kernel_source(
        _HEAD + body + _TAIL,
        inputs={"a": mx.zeros(4096), "b": mx.zeros(4096), "n": mx.array(128)},
    )
    program = thread_program(source)
    place_in_rows.run(Analyses(program), 32)
    launch = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
    known = known_of(program, launch)
    if split_lanes(known):
        known.forget()
    next_gang.run(known, steps(in_row=False))
    check(program, Stage.GANG)
    return sum(i.op == "call" and i.arg == NEXT_READ for i in program.instructions())


#: Each SIMD-group has two rows beside each other.
_SIDE_BY_SIDE = (
    _HEAD
    + """
for (uint i = lane; i < n; i += 32) s += a[row * n + i] * b[(row | 1) * n + i];
float sum = simd_sum(s);
out[row] = sum;
out[row + 1] = -sum;
"""
)
#: The same, by one threadgroup whose SIMD-groups take pairs of rows in turn.
_IN_TURN = """
uint lane = thread_index_in_simdgroup, count = simdgroups_per_threadgroup;
for (uint r = 0; r < 8; r += count) {
    uint row = (r + simdgroup_index_in_threadgroup) * 2;
    float s = 0;
    for (uint i = lane; i < n; i += 32) s += a[row * n + i] * b[(row | 1) * n + i];
    float sum = simd_sum(s);
    if (lane == 0) out[row] = sum, out[row + 1] = -sum;
}
"""
_TWO_ROWS = "#pragma clang loop unroll(disable)\n" + _STEPS


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("s += a[row * 128 + i] * a[(row + 1) * 128 + i] * b[i];", 2),
        ("s += a[row * n + i] - a[(row + 1) * n + i];", 2),
        ("s += a[(row * 128 + i) * 2] + a[(row * 128 + i) * 2 + 1]"
         " - a[(row * 128 + 64 + i) * 2];", 2),
        ("s += a[row * 128 + i] * a[(row + 1) * 128 + i] * "
         "b[row * 16 + i / 8] * b[(row + 1) * 16 + i / 8];", 4),
        ("s += a[row * 128 + i] * b[i];", 0),  # one run goes on where the last one ended
        ("s += a[row * n + i] - b[row * n + i];", 0),  # and so does one of each array
        ("s += a[i] * b[i];", 0),  # all gangs read the same
        ("s += a[row * 128 + i * 8] * b[row * 128 + i * 4 + row * i];", 0),  # no runs
        ("s += a[row * 128 - int(i) * 8 + 992] * a[row * 64 + 1000 - int(i)];", 2),
        ("s += a[row * 128 + 127 - int(i)] * a[row * 128 + 255 - int(i)];", 2),
        ("s += a[row * 128 + i * n] * b[row * 128 + i * n];", 0),
        ("s += a[int(b[row + i])] * a[int(b[i])];", 0),
        ("for (int k = 0; k < n; k++) s += a[row * 128 + i] * b[row * 64 + k];", 0),
    ],
)  # fmt: skip
def test_what_is_asked_for(body: str, count: int) -> None:
    assert requests(_TWO_ROWS + "{" + body + "}") == count


_EACH_ROW = """
uint count = simdgroups_per_threadgroup;
for (uint r = 0; r < n; r += count)
    #pragma clang loop unroll(disable)
"""


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("s += a[(row + r) * 128 + i] * a[(row + 1 + r) * 128 + i] * b[i];", 2),
        ("s += a[(row + r) * n + i] - a[(row + r + 1) * n + i];", 2),
        ("s += a[row * 128 + i] * a[(row + 1) * 128 + i];", 0),  # the same in each step around
        ("s += a[(row + r) * 128 + i] * b[i];", 0),
        ("s += a[(row + r * r) * 128 + i] * a[(row + r * r + 1) * 128 + i];", 2),
        ("s += a[int(b[r]) * 128 + i] * a[int(b[r]) * 128 + 256 + i];", 0),
    ],
)
def test_what_is_asked_for_in_nested_loops(body: str, count: int) -> None:
    assert requests(_EACH_ROW + _STEPS + "{" + body + "}") == count


@pytest.mark.parametrize("columns", [64, 100, 70_000])
@pytest.mark.parametrize("rows_in_turn", [False, True])
@pytest.mark.parametrize("group", [(32, 4, 1), (64, 2, 1), (32, 1, 1)])
def test_results(columns: int, rows_in_turn: bool, group: tuple[int, int, int]) -> None:
    kernel = anymetal.metal_kernel(
        name="rows_side_by_side",
        input_names=["a", "b", "n"],
        output_names=["out"],
        source=_IN_TURN if rows_in_turn else _SIDE_BY_SIDE,
    )
    random = np.random.default_rng(3)
    a, b = (random.integers(-4, 5, (16, columns)).astype(np.float32) for _ in range(2))

    def run() -> np.ndarray:
        (result,) = kernel(
            inputs=[mx.array(a), mx.array(b), mx.array(columns, mx.uint32)],
            grid=(group[0], group[1] if rows_in_turn else 8, 1), threadgroup=group,
            output_shapes=[(16,)], output_dtypes=[mx.float32],
        )  # fmt: skip
        return np.array(result)

    with gang_width(1):
        expected = run()
    np.testing.assert_array_equal(run(), expected)
    np.testing.assert_array_equal(expected[::2], (a[::2] * b[1::2]).sum(1))
