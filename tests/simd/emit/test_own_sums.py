"""Additions to arrays that each worker has for itself, whose size the launch knows."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.targets.cpu import CpuTarget
from tests.frontend.kernels import kernel_source

_THREADS = 1 << 17
_ONE_BIN = "atomic_fetch_add_explicit(&out[x[i]], w[i], memory_order_relaxed);"
#: Of each lane; `first` is 0.
_FOUR_NEIGHBOURS = """
    uint at = i % 32 * 4 + {first};
    for (uint c = 0; c < 4; ++c)
        atomic_fetch_add_explicit(&out[at + c], w[i], memory_order_relaxed);
"""
_CASES = {
    "neighbours": (
        _FOUR_NEIGHBOURS.format(first="0"),
        lambda i, x: [i % 32 * 4 + c for c in range(4)],
    ),
    "neighbours somewhere": (
        _FOUR_NEIGHBOURS.format(first="x[1] / 100000"),
        lambda i, x: [i % 32 * 4 + c for c in range(4)],
    ),
    "one bin": (_ONE_BIN, lambda i, x: [x]),
    "some threads": (f"if (i % 3 == 1) {_ONE_BIN}", lambda i, x: [x[i % 3 == 1]]),
    "a bin, a row, a counter": (
        f"""
        {_ONE_BIN}
        atomic_fetch_add_explicit(&out[i % (x_shape[0] / 1024)], w[i], memory_order_relaxed);
        atomic_fetch_add_explicit(&out[x[0]], w[i], memory_order_relaxed);
        """,
        lambda i, x: [x, i % 128, np.full(len(i), x[0])],
    ),
}


@pytest.mark.parametrize("bins", [1, 129, 1000, 60_000, 70_000])
@pytest.mark.parametrize("name", _CASES)
@pytest.mark.parametrize("dtype", [mx.uint32, mx.int32, mx.float32], ids=str)
def test_sums_are_those_of_numpy(name: str, bins: int, dtype: mx.Dtype) -> None:
    random = np.random.default_rng()
    body, places = _CASES[name]
    x = random.integers(0, bins, _THREADS)
    w = random.integers(0, 9, _THREADS)
    kernel = anymetal.metal_kernel(
        name="sums",
        input_names=["x", "w"],
        output_names=["out"],
        source=f"uint i = thread_position_in_grid.x; {body}",
        atomic_outputs=True,
    )
    size = max(bins, 128)
    (out,) = kernel(
        inputs=[mx.array(x.astype(np.uint32)), mx.array(w).astype(dtype)],
        grid=(_THREADS, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[dtype],
        init_value=3,
    )
    right = np.full(size, 3)
    i = np.arange(_THREADS)
    chosen = i % 3 == 1 if name == "some threads" else i >= 0
    for place in places(i, x):
        np.add.at(right, place, w[chosen])
    assert np.array(out).tolist() == right.tolist()


@pytest.mark.parametrize("stray", [-3, 64, 90, 1000])
def test_additions_beyond_the_array_go_where_they_would_have_gone(stray: int) -> None:
    random = np.random.default_rng()
    x = random.integers(0, 64, _THREADS).astype(np.int32)
    x[77_777] = stray
    source = kernel_source(
        """
        uint i = thread_position_in_grid.x;
        atomic_fetch_add_explicit(&out[x[i]], 1u, memory_order_relaxed);
        """,
        inputs={"x": mx.zeros((8,), mx.int32)},
        outputs={"out": mx.uint32},
        atomic_outputs=True,
    )
    memory = np.zeros(2048, np.uint32)
    right = np.zeros(2048, np.uint32)
    np.add.at(right, x + 512, 1)
    CpuTarget().run_in_place(source, [x, memory[512:576]], (_THREADS, 1, 1), (256, 1, 1))
    assert memory.tolist() == right.tolist()


def test_a_run_over_the_end_of_the_array() -> None:
    """Threads of a gang add to neighbours; those that would leave the array do not take part."""
    bins, threads = 1003, 1 << 15
    kernel = anymetal.metal_kernel(
        name="run",
        input_names=["x"],
        output_names=["out"],
        source=f"""
            uint at = x[threadgroup_position_in_grid.x] + thread_position_in_threadgroup.x;
            if (at >= {bins}u) return;
            atomic_fetch_add_explicit(&out[at], 1.0f, memory_order_relaxed);
        """,
        atomic_outputs=True,
    )
    starts = np.random.default_rng().integers(0, bins, threads // 64)
    (out,) = kernel(
        inputs=[mx.array(starts.astype(np.uint32))],
        grid=(threads, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[(bins,)],
        output_dtypes=[mx.float32],
        init_value=0,
    )
    right = np.zeros(bins + 64)
    np.add.at(right, (starts[:, None] + np.arange(64)).ravel(), 1)
    assert np.array(out).tolist() == right[:bins].tolist()
