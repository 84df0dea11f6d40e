"""Cases of errors: their type, their message and their place are compared, each as what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymetal.testing.metal_case import parse, position_in, run

_CASE = """\
// output: y = float32[32]
// grid: 32
// threadgroup: 32
// error: {}
// header:
float one() {{ return 1; }}
// body:
               y[thread_position_in_grid.x] = two() + one();
"""


def check(expected: str, folder: Path) -> None:
    path = folder / "case.metal"
    path.write_text(_CASE.format(expected))
    run(parse(path))


@pytest.mark.parametrize("prefix", ["", "MetalCompileError: "])
def test_what_is_right_passes(prefix: str, tmp_path: Path) -> None:
    check(f"{prefix}undeclared identifier 'two' at 8:47", tmp_path)
    check(f"{prefix}undeclared identifier", tmp_path)


@pytest.mark.parametrize(
    ("expected", "complaint"),
    [
        ("undeclared identifier at 8:4", "does not point"),  # the beginning of 8:47
        ("undeclared identifier at 8:7", "does not point"),
        ("undeclared identifier at 7:47", "does not point"),
        ("no such function at 8:47", "no 'no such function' in"),
        ("KernelLoadError: undeclared identifier at 8:47", "should be a KernelLoadError"),
    ],
)
def test_what_is_wrong_does_not(expected: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check(expected, tmp_path)


def test_places_are_numbers_behind_names() -> None:
    assert position_in("k: source:12:3: error: x at 4:5") == (12, 3)
    assert position_in("a ratio of 3:4 at 12:30:00") is None
