"""Loads before checks, outputs that stay unwritten, inputs that are not used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.programs import checked, found, marked, program

BAD = {
    "AM201 select": """
    int i = thread_position_in_grid.x;
    float left = §x[i - 1];
    y[i] = i - 1 >= 0 ? left : 0;
""",
    "AM201 branch": """
    uint i = thread_position_in_grid.x;
    float right = §x[i + 1];
    float sum = 1;
    if (i + 1 < threads_per_grid.x) sum += right;
    y[i] = sum;
""",
    "AM201 image": """
    int column = thread_position_in_grid.x, row = thread_position_in_grid.y;
    int width = x_shape[1], height = x_shape[0];
    float below = §x[(row + 1) * width + column];
    bool inside = row + 1 < height;
    y[row * width + column] = inside ? below : 0;
""",
    "AM201 computed": """
    uint i = thread_position_in_grid.x;
    int at = int(floor(y[i]));
    float v = §x[at];
    y[i] = at >= 0 && at < int(n) ? v : 0;
""",
    "AM202 condition": """
    uint i = thread_position_in_grid.x;
    if (x[i] > 0) {
        §y[i] = x[i];
    }
""",
    "AM202 in a range": """
    uint i = thread_position_in_grid.x;
    if (i < n) {
        float v = x[i];
        if (v > 0 || v < -1) §y[i] = v;
    }
""",
}

CLEAN = {
    "checked first": """
    int i = thread_position_in_grid.x;
    y[i] = i - 1 >= 0 ? x[i - 1] : 0;
""",
    "clamped": """
    int i = thread_position_in_grid.x;
    float left = x[max(i - 1, 0)];
    y[i] = i - 1 >= 0 ? left : 0;
""",
    "some threads": """
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    float v = x[i];
    y[i] = t < 16 ? v : 0;
""",
    "the value decides": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    y[i] = v < 3 ? v : 0;
""",
    "another array's index": """
    uint lane = thread_index_in_simdgroup;
    for (uint s = 0; s < 4; ++s) {
        uint column = 32 * s + lane;
        float v = x[64 + lane];
        if (column < n) y[column] = v;
    }
""",
    "odd ones": """
    uint i = thread_position_in_grid.x;
    float v = x[i];
    y[i] = i % 2 == 0 ? v : 0;
""",
    "both ways": """
    uint i = thread_position_in_grid.x;
    if (x[i] > 0) y[i] = x[i]; else y[i] = 0;
""",
    "written before": """
    uint i = thread_position_in_grid.x;
    y[i] = 0;
    if (x[i] > 0) y[i] = x[i];
""",
    "a range": """
    uint i = thread_position_in_grid.x;
    if (i >= n) return;
    y[i] = x[i];
""",
    "one lane": """
    uint i = thread_position_in_grid.x;
    float s = simd_sum(x[i]);
    if (thread_index_in_simdgroup == 0) y[i / 32] = s;
""",
    "where the data says": """
    uint i = thread_position_in_grid.x;
    int at = int(x[i]);
    if (at >= 0) y[at] = 1;
""",
}


@pytest.mark.parametrize("name", BAD)
def test_bad(name: str, tmp_path: Path) -> None:
    code = name.split()[0]
    text, places = marked(program(BAD[name]))
    assert found(checked(text, tmp_path)) == [(code, line, column) for line, column in places]


@pytest.mark.parametrize("name", CLEAN)
def test_clean(name: str, tmp_path: Path) -> None:
    report = checked(program(CLEAN[name]), tmp_path)
    assert not found(report) and not report.unchecked


def test_outputs_that_have_a_value_before(tmp_path: Path) -> None:
    text, _ = marked(program(BAD["AM202 condition"], options="init_value=0"))
    assert not found(checked(text, tmp_path))


def test_an_output_that_is_never_written(tmp_path: Path) -> None:
    report = checked(program("\n    float v = x[0];\n"), tmp_path)
    assert found(report) == [("AM202", 6, 18)]


def test_unused_inputs(tmp_path: Path) -> None:
    report = checked(program("y[0] = x[0];  // not z", inputs="x z"), tmp_path)
    assert found(report) == [("AM203", 5, 17)]
    shape = checked(program("y[0] = x_shape[0];", inputs="x"), tmp_path)
    macro = checked(program("y[0] = X;", inputs="x", header="#define X x[0]\\n"), tmp_path)
    assert not found(shape) and not found(macro)
