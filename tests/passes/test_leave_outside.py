"""Threads beyond the edge of the grid."""

from __future__ import annotations

import numpy as np
import pytest

from anymetal.ir.spec import Stage, check
from anymetal.passes import leave_outside
from tests.ir.programs import ops, program, run_program

#: A loop whose phi comes from the entry, an array of the thread's own, and a `ret` behind a store.
_PROGRAM = """
    %own = alloca [2 x i32]
    %g = call i32 @__am_group_x()
    %n = call i32 @__am_full_size_x()
    %t = call i32 @__am_thread_x()
    %first = mul i32 %g, %n
    %i = add i32 %first, %t
    store i32 %i, ptr %own
    br label %loop
    loop:
    %k = phi i32 [ 0, %entry ], [ %next, %loop ]
    %next = add i32 %k, 3
    %more = icmp ult i32 %next, 10
    br i1 %more, label %loop, label %end
    end:
    %last = phi i32 [ %next, %loop ]
    %kept = load i32, ptr %own
    %sum = add i32 %kept, %last
    %to = getelementptr i32, ptr %out, i32 %i
    store i32 %sum, ptr %to
    ret void
"""


def test_the_program_follows_the_rules() -> None:
    kernel = program(_PROGRAM)
    assert leave_outside.run(kernel, "x")
    check(kernel, Stage.SCALAR)
    assert ops(kernel)[0] == "alloca" and ops(kernel).count("ret") == 1


@pytest.mark.parametrize("grid", [1, 5, 31, 32])
def test_only_threads_of_the_grid_write(grid: int) -> None:
    out = np.full(32, -1, np.int32)
    run_program(
        program(_PROGRAM),
        [np.zeros(4, np.uint8), out.view(np.uint8)],
        width=32,
        threads=32,
        grid=grid,
    )
    threads = np.arange(32)
    assert out.tolist() == np.where(threads < grid, threads + 12, -1).tolist()


def test_a_program_that_never_returns() -> None:
    kernel = program("br label %loop\nloop:\nbr label %loop")
    leave_outside.run(kernel, "xy")
    check(kernel, Stage.SCALAR)
    assert [b.terminator.op for b in kernel.blocks] == ["br", "br", "br", "ret"]
