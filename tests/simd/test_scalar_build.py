"""The scalar build (one lane a gang) executes cross-lane calls as the vectorized build does.

Both must agree with an expectation that knows of neither.
"""

from __future__ import annotations

import itertools
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.targets.cpu.variant import gang_width
from tests.simd import cross_lane_flow, cross_lane_functions  # noqa: F401 (they add cases
from tests.simd.cross_lane import CASES, Case

#: Threads and threads per threadgroup: full, partial and single-lane SIMD-groups, smaller last
#: groups, one thread alone.
LAUNCHES = [(203, 72), (64, 32), (3, 1)]


def run(body: str, x: np.ndarray, launch: tuple[int, int], width: int, dtype: type) -> np.ndarray:
    prologue = (
        "uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup; auto v = x[i];"
    )
    kernel = anymetal.metal_kernel(
        name="scalar_build",
        input_names=["x"],
        output_names=["o"],
        source=f"{prologue}\n{body}",
    )
    threads, threadgroup = launch
    with gang_width(width):
        (result,) = kernel(
            inputs=[mx.array(x)],
            output_shapes=[(threads,)],
            output_dtypes=[
                {np.uint32: mx.uint32, np.int32: mx.int32, np.float32: mx.float32}[dtype]
            ],
            grid=(threads, 1, 1),
            threadgroup=(threadgroup, 1, 1),
            init_value=0,
        )
        mx.eval(result)
    return np.array(result)


def expected(case: Case, x: np.ndarray, launch: tuple[int, int]) -> np.ndarray:
    threads, threadgroup = launch
    parts = []
    for first in range(0, threads, threadgroup):
        group = x[first : min(first + threadgroup, threads)]
        step = threadgroup if case.whole else 32
        parts += [case.expect(group[at : at + step]) for at in range(0, len(group), step)]
    return np.concatenate(parts)


def data(count: int, dtype: type) -> np.ndarray:
    numbers = np.random.default_rng(count).integers(0, 100, count)
    return numbers.astype(dtype)


def _runs() -> list[Any]:
    """All combinations. The first launch has SIMD-groups of every kind, so that the others add
    little: vectorized code for threads alone runs by default, the rest counts as slow."""
    quick = [(LAUNCHES[0], 1), (LAUNCHES[0], 32), (LAUNCHES[-1], 32)]
    return [
        pytest.param(
            name,
            launch,
            width,
            id=f"{width}-{name}-{launch}",
            marks=[] if (launch, width) in quick else pytest.mark.slow,
        )
        for width, name, launch in itertools.product((1, 32), CASES, LAUNCHES)
    ]


@pytest.mark.parametrize(("name", "launch", "width"), _runs())
def test_case(name: str, launch: tuple[int, int], width: int) -> None:
    chosen = CASES[name]
    x = data(launch[0], chosen.dtype)
    result = run(chosen.body, x, launch, width, chosen.dtype)
    np.testing.assert_array_equal(result, expected(chosen, x, launch))


def test_threadgroups_in_three_dimensions() -> None:
    """SIMD-groups are 32 consecutive threads, x fastest, also where they span rows."""
    body = """
    uint3 p = thread_position_in_grid, n = threads_per_grid;
    uint i = (p.z * n.y + p.y) * n.x + p.x, s = 0;
    for (uint k = 0; k < x[i] % 4; k++) s += simd_sum(x[i]) + simd_shuffle_xor(k, 1);
    o[i] = s;
    """
    kernel = anymetal.metal_kernel(
        name="scalar_build_3d", input_names=["x"], output_names=["o"], source=body
    )
    x = mx.array(data(7 * 9 * 5, np.uint32))
    results = []
    for width in (1, 32):
        with gang_width(width):
            (result,) = kernel(
                inputs=[x],
                output_shapes=[x.shape],
                output_dtypes=[mx.uint32],
                grid=(7, 9, 5),
                threadgroup=(5, 4, 3),
            )
            mx.eval(result)
        results.append(np.array(result))
    np.testing.assert_array_equal(*results)


def test_private_arrays_last_while_threads_wait() -> None:
    """Also in loops where the wait is for a cross-lane call: what one thread has stored is not seen
    by the next one."""
    body = """
    float parts[8];
    uint n = uint(v), count = v > 1000 ? 9 : 8;
    for (uint k = 0; k < count; k++) parts[(k * 3 + n) & 7] = simd_sum(v) + k + lane;
    float total = 0;
    for (uint k = 0; k < 8; k++) total += parts[(n + 5 * k) & 7] * (k + 1);
    o[i] = total;
    """
    x = data(64, np.float32)
    scalar, vectorized = (run(body, x, (64, 64), width, np.float32) for width in (1, 32))
    np.testing.assert_array_equal(scalar, vectorized)
