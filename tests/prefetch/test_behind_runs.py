"""Asking for memory behind runs that are written: of which stores, and that results stay."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.analysis.cache import LaunchFacts
from anymetal.ir.calls import AHEAD_WRITE
from anymetal.ir.spec import Stage, check
from anymetal.pipeline.program import thread_program
from anymetal.prefetch import behind_runs
from anymetal.targets.cpu.variant import gang_width
from tests.compiling import known_of
from tests.frontend.kernels import kernel_source

_STEPS = "#pragma clang loop unroll(disable)\nfor (uint i = lane; i < count; i += 32) "
_BODY = """
uint lane = thread_index_in_simdgroup, group = threadgroup_position_in_grid.x;
uint count = counts[group];
device float* to = out + places[group];
"""


def requests(body: str) -> int:
    inputs = {"a": mx.zeros(64), "places": mx.zeros(64, mx.uint32), "n": mx.array(3)}
    source = kernel_source(_BODY + body, inputs={**inputs, "counts": mx.zeros(64, mx.uint32)})
    program = thread_program(source)
    behind_runs.run(known_of(program, LaunchFacts(True, True, flat=False, whole=True)))
    check(program, Stage.GANG)
    return sum(i.op == "call" and i.arg == AHEAD_WRITE for i in program.instructions())


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (_STEPS + "to[i] = a[i];", 1),
        (_STEPS + "{ to[i] = a[i]; to[i + n] = a[i + 1]; }", 2),
        ("for (uint d = 0; d < n; d++)\n" + _STEPS + "out[places[d] + i] = a[i];", 1),
        ("to[lane] = a[lane];", 0),  # no run, but a step of one
        (_STEPS + "to[2 * i] = a[i];", 0),  # no neighbours
        (_STEPS + "to[places[i]] = a[i];", 0),
        (_STEPS + "out[group * n + i] = a[i];", 0),  # rows of a size that is the same for all
        (_STEPS + "out[places[3] + i] = a[i];", 0),
        ("threadgroup float t[64];\n" + _STEPS + "t[places[group] + i] = a[i];"
         "\nout[group] = t[n];", 0),
    ],
)  # fmt: skip
def test_what_is_asked_for(body: str, count: int) -> None:
    assert requests(body) == count


def test_results() -> None:
    """The last run ends with the array, so what is behind it is nobody's."""
    random = np.random.default_rng(5)
    counts = random.integers(0, 90, 40).astype(np.uint32)
    places = (np.cumsum(counts) - counts).astype(np.uint32)
    a = random.standard_normal(100, dtype=np.float32)
    kernel = anymetal.metal_kernel(
        name="append",
        input_names=["a", "places", "counts"],
        output_names=["out"],
        source=_BODY + _STEPS + "to[i] = a[i] + group;",
    )

    def run() -> np.ndarray:
        (out,) = kernel(
            inputs=[mx.array(a), mx.array(places), mx.array(counts)],
            grid=(40 * 32, 1, 1), threadgroup=(32, 1, 1),
            output_shapes=[(int(counts.sum()),)], output_dtypes=[mx.float32],
        )  # fmt: skip
        return np.array(out)

    expected = np.concatenate([a[:n] + np.float32(g) for g, n in enumerate(counts)])
    np.testing.assert_array_equal(run(), expected)
    with gang_width(1):
        np.testing.assert_array_equal(run(), expected)
