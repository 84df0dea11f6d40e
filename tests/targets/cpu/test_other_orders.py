"""A sanitized launch runs its threadgroups and SIMD-groups in the order that it is told."""

from __future__ import annotations

from math import prod

import mlx.core as mx
import pytest

import anymetal
from anymetal.pipeline.program import thread_program
from anymetal.sanitizer import execution
from anymetal.sanitizer.order import other_orders
from anymetal.sanitizer.replay import Job
from anymetal.sanitizer.session import Options, Session
from anymetal.targets.cpu.llvm_target import machine_for
from anymetal.targets.cpu.variant import variant_for
from tests.compiling import vector_ir
from tests.conftest import RecordingTarget
from tests.frontend.kernels import kernel_source

Extent = tuple[int, int, int]

#: Each SIMD-group draws a ticket and leaves it at its place; behind a barrier, once more.
TICKETS = """
    uint group = threadgroup_position_in_grid.x + threadgroups_per_grid.x *
        (threadgroup_position_in_grid.y + threadgroups_per_grid.y * threadgroup_position_in_grid.z);
    if (thread_index_in_simdgroup == 0) {
      int ticket = atomic_fetch_add_explicit((device atomic_int*)n, 1, memory_order_relaxed);
      y[group * 32 + simdgroup_index_in_threadgroup] = ticket + 1;
    }
"""
AGAIN = """
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_index_in_simdgroup == 0)
      z[group * 32 + simdgroup_index_in_threadgroup] =
          1 + atomic_fetch_add_explicit((device atomic_int*)n, 1, memory_order_relaxed);
"""

#: Grids and threadgroups: whole and ragged SIMD-groups, one and many, smaller ones at the edges.
LAUNCHES: list[tuple[Extent, Extent]] = [
    ((256, 1, 1), (64, 1, 1)),
    ((250, 1, 1), (100, 1, 1)),
    ((20, 7, 3), (8, 3, 2)),
    ((64, 9, 1), (32, 4, 1)),
    ((10, 1, 1), (1, 1, 1)),
    ((2048, 1, 1), (1024, 1, 1)),
]


@pytest.fixture
def job(target: RecordingTarget, request: pytest.FixtureRequest) -> Job:
    grid, threadgroup, again = request.param
    kernel = anymetal.metal_kernel(
        name="tickets",
        input_names=[],
        output_names=["n", "y", "z"],
        source=TICKETS + (AGAIN if again else "    (void)z;"),
    )
    places = 32 * prod(-(-g // t) for g, t in zip(grid, threadgroup, strict=True))
    shapes = [(1,), (places,), (places,)]
    kernel(
        inputs=[], grid=grid, threadgroup=threadgroup, output_shapes=shapes,
        output_dtypes=[mx.int32] * 3, init_value=0,
    )  # fmt: skip
    assert target.launch
    return Job(
        target.launch.source, [], grid, threadgroup, True, shapes, [mx.int32] * 3, 0.0
    )  # fmt: skip


@pytest.mark.parametrize(
    "job",
    [(*launch, again) for launch in LAUNCHES for again in (False, True)],
    indirect=True,
    ids=str,
)
def test_tickets_are_drawn_in_the_order(job: Job) -> None:
    session = Session(Options(checks=()))
    work = execution._Execution(job, session, None)
    groups = work.plan.total_groups
    for order in other_orders(groups, 5):
        outputs = execution._outputs(job, fresh=True)
        work.run(outputs, order)
        _, first, second = (one.tolist() for one in outputs)
        drawn: list[int] = []
        for group in order.groups:
            there = [g for g in order.simdgroups if first[32 * group + g]]
            drawn += [first[32 * group + gang] for gang in there]
            if any(second):
                drawn += [second[32 * group + gang] for gang in there]
        assert len(drawn) >= groups and drawn == list(range(1, len(drawn) + 1))


def test_the_entry_of_other_builds_knows_no_orders() -> None:
    def entry(sanitized: bool) -> str:
        source = kernel_source("out[thread_position_in_grid.x] = 1;", inputs={"a": mx.zeros(64)})
        variant = variant_for((64, 1, 1), (64, 1, 1), sanitized=sanitized)
        program = thread_program(source, sanitized=sanitized)
        text = vector_ir(program, variant, machine_for(""))
        return text[text.index("@am_entry") :]

    assert "order" in entry(True) and "order" not in entry(False)
