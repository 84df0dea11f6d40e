"""The program that asks for memory before it is needed: what it asks for, what it leaves out."""

from __future__ import annotations

import mlx.core as mx
import pytest

from anymetal.analysis.cache import LaunchFacts
from anymetal.ir.calls import AHEAD_READ, AHEAD_WRITE
from anymetal.ir.model import Program
from anymetal.ir.spec import Stage, check
from anymetal.pipeline.program import thread_program
from anymetal.prefetch import run_ahead
from tests.compiling import known_of
from tests.frontend.kernels import kernel_source
from tests.ir.programs import ops

_PLACE = "uint i = thread_position_in_grid.x, row = thread_position_in_grid.y;\n"


def slice_of(body: str) -> Program | None:
    source = kernel_source(
        _PLACE + body,
        inputs={"a": mx.zeros(1024), "index": mx.zeros(64, mx.int32), "n": mx.array(3)},
    )
    program = thread_program(source)
    before = ops(program)
    launch = LaunchFacts(linear=True, aligned=True, flat=False, whole=True)
    result = run_ahead.slice_of(known_of(program, launch))
    assert ops(program) == before
    if result:
        check(result, Stage.GANG)
        written = {i.op for i in result.instructions()} & {"store", "atomicrmw"}
        assert not written
    return result


@pytest.mark.parametrize(
    ("body", "reads", "writes"),
    [
        ("out[row * n + i] = a[index[row] * n + i];", 1, 0),
        ("out[index[row] * n + i] = a[row * n + i];", 0, 1),
        ("if (index[row] < n) out[row * n + i] = a[index[row] * n + i] + a[index[row] + i];", 2, 0),
        ("float s = 0; for (int k = 0; k < n; ++k) s += a[index[k] * n + i]; out[i] = s;", 1, 0),
    ],
)  # fmt: skip
def test_what_is_asked_for(body: str, reads: int, writes: int) -> None:
    result = slice_of(body)
    assert result is not None
    calls = [i.arg for i in result.instructions() if i.op == "call"]
    assert (calls.count(AHEAD_READ), calls.count(AHEAD_WRITE)) == (reads, writes)


@pytest.mark.parametrize(
    "body",
    [
        "out[row * n + i] = a[row * n + i];",  # processors see that coming
        "out[i] = a[index[i]];",  # a line for each lane
        "out[i] = a[i]; out[i + n] = a[int(out[row]) * n + i];",  # of what may change
        "out[row * n + i] = a[simd_max(index[row + i]) * n + i];",  # lanes would have to meet
        "float s = 0; for (int k = 0; k < n; ++k) s += a[k]; out[i] = s + a[index[row] * n + i];",
    ],
)
def test_nothing_runs_ahead(body: str) -> None:
    assert slice_of(body) is None
