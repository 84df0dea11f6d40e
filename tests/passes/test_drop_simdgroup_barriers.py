"""Barriers of a SIMD-group that a gang does without."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir.calls import SIMDGROUP_BARRIER
from anymetal.passes import drop_simdgroup_barriers
from tests.ir.programs import program


@pytest.mark.parametrize(
    ("flags", "stays"),
    [("i32 0", False), ("i32 2", False), ("i32 1", True), ("i32 3", True), ("i32 %n", True)],
    ids=["none", "threadgroup", "device", "both", "not known"],
)
def test_which_stay(flags: str, stays: bool) -> None:
    """Those that order accesses to device memory, of which other threadgroups know."""
    before = program(f"""
        %n = load i32, ptr %a
        store i32 %n, ptr %out
        call void @{SIMDGROUP_BARRIER}({flags})
        call void @__am_threadgroup_barrier(i32 2)
        ret void
    """)
    assert drop_simdgroup_barriers.run(Analyses(before)) is not stays
    assert before.calls(SIMDGROUP_BARRIER) is stays
    assert before.calls("__am_threadgroup_barrier")
