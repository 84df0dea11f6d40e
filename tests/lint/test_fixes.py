"""Repairs: the finding is gone, nothing else has changed, results stay."""

from __future__ import annotations

import os
import re
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

import anymetal
from anymetal.lint.checker import check_file
from anymetal.lint.fixes import apply
from tests.lint.programs import checked, found, program

_SHARED = """
    threadgroup float shared[256];
    uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
    shared[t] = x[i];
    threadgroup_barrier(mem_flags::mem_none);
    y[i] = shared[255 - t];
"""
_HALF = """
    uint i = thread_position_in_grid.x;
    half a = half(x[i]), b = a * 0.5, c = half(1.0 - a);
    b += 0.25;
    b = b / 8.;
    y[i] = b + c;
"""
FIXES = {
    "barrier": (_SHARED, [("mem_none", "mem_threadgroup")]),
    "constants": (
        _HALF,
        [("a * 0.5", "a * 0.5h"), ("1.0 -", "1.0h -"), ("+= 0.25", "+= 0.25h"), ("8.;", "8.h;")],
    ),
}


@pytest.mark.parametrize("name", FIXES)
def test_a_fixed_file_is_clean_and_means_the_same(name: str, tmp_path: Path) -> None:
    body, changes = FIXES[name]
    report = checked(program(body), tmp_path)
    assert len(report.findings) == len(report.edits()) == len(changes)
    assert apply(report.file, report.edits()) == len(changes)
    expected = program(body)
    for old, new in changes:
        expected = expected.replace(old, new)
    path = Path(report.file.name)
    assert path.read_text() == expected
    again = check_file(path)
    assert not found(again) and not again.edits()
    texts = [re.search('source="""(.*?)"""', t, re.S)[1] for t in (program(body), expected)]  # type: ignore[index]
    one, other = (_run(text) for text in texts)
    np.testing.assert_array_equal(one, other)


def _run(body: str) -> object:
    kernel = anymetal.metal_kernel("fixed", ["x"], ["y"], body)
    x = mx.array(np.random.default_rng(0).normal(size=1024).astype(np.float32) * 100)
    sizes = {"grid": (1024, 1, 1), "threadgroup": (256, 1, 1)}
    return np.array(
        kernel(inputs=[x], output_shapes=[(1024,)], output_dtypes=[mx.float32], **sizes)[0]
    )


def test_constants_that_half_does_not_have_stay(tmp_path: Path) -> None:
    report = checked(program("half a = half(x[0]); a *= 0.1; y[0] = a;"), tmp_path)
    assert len(report.findings) == 1 and not report.edits()


def test_a_file_that_has_changed_stays(tmp_path: Path) -> None:
    report = checked(program(_SHARED), tmp_path)
    path = Path(report.file.name)
    path.write_text("# new\n" + program(_SHARED))
    assert apply(report.file, report.edits()) == 0
    assert path.read_text() == "# new\n" + program(_SHARED)


def test_what_is_written_with_escapes_stays(tmp_path: Path) -> None:
    report = checked(program(_SHARED.replace("mem_none", "mem_n\\x6fne")), tmp_path)
    assert [finding.code for finding in report.findings] == ["AM103"]
    assert not report.edits()


def test_line_ends_encoding_and_permissions_stay(tmp_path: Path) -> None:
    text = "# coding: latin-1\n# \xe9\n" + program(_SHARED)
    path = tmp_path / "p.py"
    path.write_bytes(text.replace("\n", "\r\n").encode("latin-1"))
    os.chmod(path, 0o640)
    report = check_file(path)
    assert apply(report.file, report.edits()) == 1
    expected = text.replace("mem_none", "mem_threadgroup").replace("\n", "\r\n")
    assert path.read_bytes() == expected.encode("latin-1")
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["p.py"]
