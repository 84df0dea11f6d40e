"""Barriers under conditions, barriers for other memory, and functions of SIMD-groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.programs import checked, found, marked, program

BAD = {
    "AM101 if": """
    uint i = thread_position_in_grid.x;
    if (i % 3 == 0) {
        §threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    y[i] = x[i];
""",
    "AM101 at the end": """
    uint i = thread_position_in_grid.x;
    y[i] = x[i];
    if (thread_index_in_simdgroup < 7)
        §threadgroup_barrier(mem_flags::mem_threadgroup);
""",
    "AM101 both sides": """
    uint i = thread_position_in_grid.x;
    if (i & 1) {
        y[i] = 1;
        §threadgroup_barrier(mem_flags::mem_device);
    } else {
        y[i] = 2;
        §threadgroup_barrier(mem_flags::mem_device);
    }
""",
    "AM101 loop": """
    uint i = thread_position_in_grid.x;
    for (uint k = thread_position_in_threadgroup.x; k < n; k += 100) {
        y[k] = x[i];
        §threadgroup_barrier(mem_flags::mem_device);
    }
""",
    "AM101 one simdgroup": """
    uint i = thread_position_in_grid.x;
    if (simdgroup_index_in_threadgroup == 0) {
        §metal::threadgroup_barrier(mem_flags::mem_device);
    }
    y[i] = x[i];
""",
    "AM101 data": """
    uint i = thread_position_in_grid.x;
    while (x[i] > y[i]) {
        y[i] += 1;
        §threadgroup_barrier(mem_flags::mem_device);
    }
    y[i] -= 1;
""",
    "AM102 return": """
    uint i = thread_position_in_grid.x;
    if (i >= n) return;
    §threadgroup_barrier(mem_flags::mem_device);
    y[i] = x[i];
""",
    "AM103 none": """
    threadgroup float shared[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    shared[t] = x[i];
    §threadgroup_barrier(mem_flags::mem_none);
    y[i] = shared[255 - t];
""",
    "AM103 device": """
    threadgroup float shared[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    for (uint k = 0; k < n; ++k) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        shared[t] = x[i];
        §threadgroup_barrier(mem_flags::mem_device);
        y[i] += shared[255 - t];
    }
""",
    "AM106 shuffle": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    if (thread_index_in_simdgroup < 16) v += §simd_shuffle_down(v, 8);
    y[i] = v;
""",
    "AM106 data": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    if (v > 0) {
        v += §simd_shuffle_xor(v, 1);
        y[i] = v;
    } else {
        y[i] = 0;
    }
""",
    "AM106 barrier": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    if (v > 0) {
        §simdgroup_barrier(mem_flags::mem_threadgroup);
        v = 1;
    }
    y[i] = v;
""",
}

CLEAN = {
    "uniform conditions": """
    uint i = thread_position_in_grid.x;
    if (n > 3) threadgroup_barrier(mem_flags::mem_device);
    for (uint k = threadgroup_position_in_grid.x; k < n; ++k) {
        threadgroup_barrier(mem_flags::mem_device);
    }
    y[i] = x[i];
""",
    "behind the condition": """
    uint i = thread_position_in_grid.x;
    if (i < n) { y[i] = x[i]; }
    threadgroup_barrier(mem_flags::mem_device);
    if (i < n) y[i] += 1;
""",
    "the whole threadgroup returns": """
    if (threadgroup_position_in_grid.x >= n) return;
    threadgroup_barrier(mem_flags::mem_device);
    y[thread_position_in_grid.x] = x[0];
""",
    "a value that all read": """
    threadgroup float shared[1];
    uint i = thread_position_in_grid.x;
    if (thread_position_in_threadgroup.x == 0) shared[0] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (shared[0] > 0) threadgroup_barrier(mem_flags::mem_device);
    y[i] = x[i];
""",
    "memory for nobody else": """
    uint i = thread_position_in_grid.x;
    threadgroup_barrier(mem_flags::mem_none);
    y[i] = x[i];
""",
    "none, and then for threadgroup memory": """
    threadgroup float shared[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    shared[t] = x[i];
    threadgroup_barrier(mem_flags::mem_none);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = shared[255 - t];
""",
    "both memories": """
    threadgroup float shared[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    shared[t] = x[i];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    y[i] = shared[255 - t];
""",
    "read before, written behind": """
    threadgroup float shared[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    shared[t] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = shared[255 - t];
    threadgroup_barrier(mem_flags::mem_none);
    shared[t] = y[i];
""",
    "one simdgroup shuffles": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    if (simdgroup_index_in_threadgroup == 0) v += simd_shuffle_xor(v, 1);
    y[i] = v;
""",
    "lanes among themselves": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    if (thread_index_in_simdgroup < 16) v += simd_shuffle_xor(v, 8);
    y[i] = v;
""",
    "sums of active lanes": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    if (v > 0) v = simd_sum(v) + simd_broadcast_first(v);
    y[i] = v;
""",
    "first 32 threads": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    if (thread_position_in_threadgroup.x < 32) v += simd_shuffle_down(v, 4);
    y[i] = v;
""",
    "shuffle behind a return": """
    uint i = thread_position_in_grid.x;
    if (i >= n) return;
    y[i] = x[i] + simd_shuffle_down(x[i], 1);
""",
}


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str, tmp_path: Path) -> None:
    code = name.split()[0]
    text, places = marked(program(BAD[name]))
    report = checked(text, tmp_path)
    assert found(report) == [(code, line, column) for line, column in places]
    assert not report.unchecked


@pytest.mark.parametrize("name", CLEAN)
def test_clean(name: str, tmp_path: Path) -> None:
    report = checked(program(CLEAN[name]), tmp_path)
    assert not found(report)
    assert not report.unchecked


def test_a_threadgroup_of_one_simdgroup_needs_only_its_lanes(tmp_path: Path) -> None:
    body = """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    if (simd_any(v > 0)) threadgroup_barrier(mem_flags::mem_device);
    y[i] = v;
"""
    assert not found(checked(program(body, threadgroup="(32, 1, 1)"), tmp_path))
    several = checked(program(body, threadgroup="(64, 1, 1)"), tmp_path)
    assert found(several) == [("AM101", 10, 26)]


def test_the_branch_is_named(tmp_path: Path) -> None:
    (finding,) = checked(marked(program(BAD["AM101 if"]))[0], tmp_path).findings
    (branch,) = finding.others
    assert (branch.line, branch.text.strip()) == (9, "if (i % 3 == 0) {")
    assert finding.place.part == "source" and finding.place.part_line == 4
