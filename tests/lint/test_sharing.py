"""Threadgroup memory without the barriers that it needs, and right programs that look alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.programs import checked, found, marked, program

#: A value for all threads of a threadgroup, by way of one for each SIMD-group.
_HEAD = """
    threadgroup float shared[32];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
    float v = x[i];
"""
_BARRIER = "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"

BAD = {
    "AM104 second reduction, element 0": f"""{_HEAD}
    float m = simd_max(v);
    if (lane == 0) shared[group] = m;
{_BARRIER}
    if (group == 0) {{
        m = simd_max(shared[lane]);
        if (lane == 0) shared[0] = m;
    }}
{_BARRIER}
    m = shared[0];
    float s = simd_sum(exp(v - m));
    if (lane == 0) §shared[group] = s;
{_BARRIER}
    y[i] = exp(v - m) / simd_sum(shared[lane]);
""",
    "AM104 second reduction, all elements": f"""{_HEAD}
    float s = simd_sum(v), total = 0;
    if (lane == 0) shared[group] = s;
{_BARRIER}
    for (uint k = 0; k < simdgroups_per_threadgroup; ++k) total += shared[k];
    s = simd_sum((v - total) * (v - total));
    if (lane == 0) §shared[group] = s;
{_BARRIER}
    y[i] = shared[0];
""",
    "AM104 second reduction, lanes": f"""{_HEAD}
    float s = simd_sum(v);
    if (lane == 0) shared[group] = s;
{_BARRIER}
    float mean = simd_sum(shared[lane]);
    s = simd_sum((v - mean) * (v - mean));
    if (lane == 0) §shared[group] = s;
{_BARRIER}
    y[i] = simd_sum(shared[lane]);
""",
    "AM104 second reduction, pairs": f"""{_HEAD}
    float s = simd_sum(v);
    if (lane == 0) shared[2 * group + 1] = s;
{_BARRIER}
    float mean = simd_sum(lane < 8 ? shared[2 * lane + 1] : 0);
    s = simd_sum((v - mean) * (v - mean));
    if (lane == 0) §shared[2 * group + 1] = s;
{_BARRIER}
    y[i] = simd_sum(lane < 8 ? shared[2 * lane + 1] : 0);
""",
    "AM104 next row": f"""{_HEAD}
    for (uint row = 0; row < n; ++row) {{
        float s = simd_sum(x[row * 256 + t]);
        if (lane == 0) §shared[group] = s;
    {_BARRIER}
        y[row * 256 + t] = shared[0] + shared[1];
    }}
""",
    "AM104 read by one thread": f"""{_HEAD}
    for (uint row = 0; row < n; ++row) {{
        if (lane == 0) §shared[group] = simd_sum(x[row]) + v;
    {_BARRIER}
        if (t == 0) {{
            float total = 0;
            for (uint k = 0; k < 8; ++k) total += shared[k];
            y[row] = total;
        }}
    }}
""",
    "AM105 broadcast": f"""{_HEAD}
    if (t == 0) shared[0] = v;
    y[i] = v + lane + group + §shared[0];
""",
    "AM105 sum of all": f"""{_HEAD}
    if (lane == 0) shared[group] = simd_sum(v);
    float total = 0;
    for (uint k = 0; k < 8; ++k) total += §shared[k];
    y[i] = total;
""",
    "AM105 one thread sums": """
    threadgroup float all[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    all[t] = x[i];
    if (t == 0) {
        float total = 0;
        for (uint k = 0; k < threads_per_threadgroup.x; ++k) total += §all[k];
        y[threadgroup_position_in_grid.x] = total;
    }
""",
    "AM105 lanes of the first SIMD-group": f"""{_HEAD}
    if (lane == 0) shared[group] = simd_sum(v);
    if (group == 0) {{
        float total = simd_sum(§shared[lane]);
        if (lane == 0) y[threadgroup_position_in_grid.x] = total;
    }}
""",
}

CLEAN = {
    "two arrays": f"""{_HEAD}
    threadgroup float other[32];
    float s = simd_sum(v);
    if (lane == 0) shared[group] = s;
{_BARRIER}
    float mean = simd_sum(shared[lane]);
    s = simd_sum((v - mean) * (v - mean));
    if (lane == 0) other[group] = s;
{_BARRIER}
    y[i] = simd_sum(other[lane]);
""",
    "a barrier in between": f"""{_HEAD}
    float s = simd_sum(v);
    if (lane == 0) shared[group] = s;
{_BARRIER}
    float mean = simd_sum(shared[lane]);
{_BARRIER}
    s = simd_sum((v - mean) * (v - mean));
    if (lane == 0) shared[group] = s;
{_BARRIER}
    y[i] = simd_sum(shared[lane]);
""",
    "the result in element 0": f"""{_HEAD}
    float m = simd_max(v);
    if (lane == 0) shared[group] = m;
{_BARRIER}
    if (group == 0) {{
        m = simd_max(lane < 8 ? shared[lane] : -INFINITY);
        if (lane == 0) shared[0] = m;
    }}
{_BARRIER}
    y[i] = shared[0];
""",
    "a tree, barrier first": f"""
    threadgroup float all[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    all[t] = x[i];
    for (uint half_size = 128; half_size > 0; half_size /= 2) {{
    {_BARRIER}
        if (t < half_size) all[t] += all[t + half_size];
    }}
    if (t == 0) y[threadgroup_position_in_grid.x] = all[0];
""",
    "a tree, barrier last": f"""
    threadgroup float all[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    all[t] = x[i];
{_BARRIER}
    for (uint half_size = 128; half_size > 0; half_size >>= 1) {{
        if (t < half_size) all[t] += all[t + half_size];
    {_BARRIER}
    }}
    y[i] = all[0];
""",
    "tiles": f"""
    threadgroup float tile[16][17];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    float sum = 0;
    for (uint k = 0; k < n; ++k) {{
        tile[t / 16][t % 16] = x[i + k];
    {_BARRIER}
        for (uint j = 0; j < 16; ++j) sum += tile[j][t % 16];
    {_BARRIER}
    }}
    y[i] = sum;
""",
    "a thread's own element": """
    threadgroup float all[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    all[t] = x[i];
    all[t] += 1;
    y[i] = all[t];
""",
    "another element": f"""{_HEAD}
    if (t == 0) shared[0] = v;
{_BARRIER}
    float s = shared[0];
    if (lane == 0) shared[group + 1] = s;
{_BARRIER}
    y[i] = shared[lane];
""",
    "one thread does it all": f"""{_HEAD}
    if (t == 0) {{
        shared[0] = v + lane + group;
        shared[1] = shared[0] + 1;
        y[i] = shared[1];
    }}
""",
}


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str, tmp_path: Path) -> None:
    code = name.split()[0]
    text, places = marked(program(BAD[name]))
    report = checked(text, tmp_path)
    assert found(report) == [(code, line, column) for line, column in places]


@pytest.mark.parametrize("name", CLEAN)
def test_clean(name: str, tmp_path: Path) -> None:
    report = checked(program(CLEAN[name]), tmp_path)
    assert not found(report) and not report.unchecked


def test_one_simdgroup_runs_in_lockstep(tmp_path: Path) -> None:
    text, _ = marked(program(BAD["AM105 broadcast"], threadgroup="(32, 1, 1)"))
    assert not found(checked(text, tmp_path))
