"""Kernels whose results may depend on the order of threadgroups, and ANYMETAL_DETERMINISTIC."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.analysis.order_dependence import depends_on_order
from anymetal.pipeline.program import thread_program
from tests.frontend.kernels import kernel_source
from tests.runtime.native import run_script

ATOMIC = "device atomic_{0}* at = (device atomic_{0}*)out;"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("out[thread_position_in_grid.x] = 1;", False),
        (
            ATOMIC.format("float")
            + "atomic_fetch_add_explicit(at, a[thread_position_in_grid.x], memory_order_relaxed);",
            True,
        ),
        (
            ATOMIC.format("int")
            + "out[thread_position_in_grid.x] = atomic_load_explicit(at, memory_order_relaxed);",
            True,
        ),
        (ATOMIC.format("int") + "atomic_store_explicit(at, 1, memory_order_relaxed);", True),
        (
            ATOMIC.format("int")
            + "int e = 0; while (!atomic_compare_exchange_weak_explicit(at, &e, 1, "
            "memory_order_relaxed, memory_order_relaxed)) {}",
            True,
        ),
        (
            "threadgroup atomic_int t; atomic_store_explicit(&t, 0, memory_order_relaxed);"
            "threadgroup_barrier(mem_flags::mem_threadgroup);"
            "atomic_fetch_add_explicit(&t, 1, memory_order_relaxed);"
            "threadgroup_barrier(mem_flags::mem_threadgroup);"
            "out[thread_position_in_grid.x] = atomic_load_explicit(&t, memory_order_relaxed);",
            False,
        ),
    ],
    ids=["none", "float add", "load", "store", "exchange", "threadgroup"],
)
def test_which_kernels(body, expected) -> None:
    assert depends_on_order(Analyses(thread_program(kernel_source(body)))) is expected


RUN = """
import hashlib, os
import mlx.core as mx
import anymetal
HEAD = "uint i = thread_position_in_grid.x; uint g = threadgroup_position_in_grid.x;"
kernels = {
    "sums": HEAD + "float v = x[i]; for (int k = 0; k < 40; ++k) v = metal::sin(v) + x[i];"
        "atomic_fetch_add_explicit((device atomic_float*)y + i % 5, v, memory_order_relaxed);",
    "list": HEAD + "float v = x[i]; for (int k = 0; k < 40; ++k) v = metal::sin(v) + x[i];"
        "if (v > 0) { int at = atomic_fetch_add_explicit((device atomic_int*)y, 1,"
        "memory_order_relaxed); y[1 + at] = v; }",
}
x = mx.random.normal((1 << 16,), key=mx.random.key(7))
for name, body in kernels.items():
    kernel = anymetal.metal_kernel(name, ["x"], ["y"], body)
    seen = set()
    for _ in range(RUNS):
        (y,) = kernel(inputs=[x], output_shapes=[(x.size + 1,)], output_dtypes=[mx.float32],
                      grid=(x.size, 1, 1), threadgroup=(32, 1, 1), init_value=0.0)
        seen.add(hashlib.sha256(bytes(memoryview(y))).hexdigest())
    print(len(seen), *(seen if len(seen) == 1 else ()))
"""


def results(runs: int, bridge: str, **variables: str) -> list[str]:
    """How many different results each kernel has; if it is one, which."""
    script = RUN.replace("RUNS", str(runs))
    return run_script(script, timeout=240, ANYMETAL_BRIDGE=bridge, **variables).stdout.splitlines()


@pytest.mark.slow  # chance may not show it on a busy machine
def test_results_that_depend_on_the_order_differ(built_bridge) -> None:
    found = results(400, "wait", ANYMETAL_NUM_THREADS="4")
    assert all(int(line.split()[0]) > 1 for line in found)


@pytest.mark.parametrize("bridge", ["0", "wait"])
def test_the_same_bits_each_time(bridge, built_bridge) -> None:
    fixed = [
        results(3, bridge, ANYMETAL_NUM_THREADS=threads, ANYMETAL_DETERMINISTIC="1")
        for threads in "18"
    ]
    assert all(line.startswith("1 ") for line in fixed[0]) and len(fixed[0]) == 2
    assert fixed[0] == fixed[1]


def test_what_the_variable_may_say() -> None:
    said = run_script(
        "from anymetal.runtime.pool import pool\ntry:\n    pool()\n"
        "except ValueError as error:\n    print(error)",
        ANYMETAL_DETERMINISTIC="yes",
    ).stdout
    assert said == "ANYMETAL_DETERMINISTIC must be 0 or 1, not 'yes'\n"
