"""The Python side: grids, threadgroups, kernel objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lint.programs import MARK, checked, found, marked, program

COPY = "uint i = thread_position_in_grid.x; y[i] = x[i];"
SUM = "uint i = thread_position_in_grid.x; y[i] = simd_sum(x[i]);"

GRIDS = [
    ("(§(x.size + 255) // 256, 1, 1)", "(256, 1, 1)"),
    ("(§x.size // size, 1, 1)", "(size, 1, 1)"),
    ("(1, §-(-x.size // size), 1)", "(1, size, 1)"),
    ("(§math.ceil(x.size / 256), 1, 1)", "(256, 1, 1)"),
    ("(§ceil_div(x.size, size), 1, 1)", "(size, 1, 1)"),
]
GOOD_GRIDS = [
    ("(x.size, 1, 1)", "(256, 1, 1)"),
    ("((x.size + 255) // 256 * 256, 1, 1)", "(256, 1, 1)"),
    ("(x.size // 4, 1, 1)", "(256, 1, 1)"),  # four elements a thread
    ("(x.size // rows, 1, 1)", "(8, 1, 1)"),
    ("(x.size // 1, 1, 1)", "(1, 1, 1)"),
]


@pytest.mark.parametrize(("grid", "threadgroup"), GRIDS)
def test_grids_that_count_threadgroups(grid: str, threadgroup: str, tmp_path: Path) -> None:
    text, places = marked(program(COPY, grid=grid, threadgroup=threadgroup))
    assert found(checked(text, tmp_path)) == [("AM401", *places[0])]


@pytest.mark.parametrize(("grid", "threadgroup"), GOOD_GRIDS)
def test_grids_that_count_threads(grid: str, threadgroup: str, tmp_path: Path) -> None:
    assert not found(checked(program(COPY, grid=grid, threadgroup=threadgroup), tmp_path))


@pytest.mark.parametrize(
    ("body", "grid", "threadgroup", "bad"),
    [
        (SUM, "(x.size, 1, 1)", "§(100, 1, 1)", True),
        (SUM, "(x.size, 1, 1)", "§(5, 5, 2)", True),
        (SUM, "(x.size, 1, 1)", "(8, 4, 2)", False),
        (SUM, "(10, 1, 1)", "(10, 1, 1)", False),  # all threads there are
        (SUM, "(x.size, 1, 1)", "(size, 1, 1)", False),
        (COPY, "(x.size, 1, 1)", "(100, 1, 1)", False),  # does not know SIMD-groups
    ],
)
def test_partial_simd_groups(
    body: str, grid: str, threadgroup: str, bad: bool, tmp_path: Path
) -> None:
    text, places = marked(program(body, grid=grid, threadgroup=threadgroup))
    assert found(checked(text, tmp_path)) == [("AM402", *place) for place in places]
    assert bool(places) == bad


_MAKE = 'mx.fast.metal_kernel("k", ["x"], ["y"], "y[0] = x[0];")'
_CALL = (
    "(inputs=[x], output_shapes=[(1,)], output_dtypes=[x.dtype], grid=(1, 1, 1), "
    "threadgroup=(1, 1, 1))"
)

MADE = {
    "name": f"def f(x):\n    kernel = §{_MAKE}\n    return kernel{_CALL}\n",
    "at once": f"def f(x):\n    return §{_MAKE}{_CALL}\n",
    "method": f"class C:\n    def f(self, x):\n        k = §{_MAKE}\n        return k{_CALL}\n",
    "module": f"kernel = {_MAKE}\ndef f(x):\n    return kernel{_CALL}\n",
    "factory": f"def make():\n    return {_MAKE}\nk = make()\ndef f(x):\n    return k{_CALL}\n",
    "factory that may refuse": (
        f"def make():\n  if no_gpu():\n    return\n  return {_MAKE}\n"
        f"def f(x):\n    k = make()\n    return k{_CALL}\n"
    ),
    "cached": f"@functools.cache\ndef f(x):\n    kernel = {_MAKE}\n    return kernel{_CALL}\n",
    "attribute": f"class C:\n  def f(self, x):\n    self.k = {_MAKE}\n    self.k{_CALL}\n",
    "global": f"def f(x):\n    global k\n    k = {_MAKE}\n    return k{_CALL}\n",
    "test": f"def test_f(x):\n    kernel = {_MAKE}\n    return kernel{_CALL}\n",
}


@pytest.mark.parametrize("name", MADE)
def test_kernels_made_in_calls(name: str, tmp_path: Path) -> None:
    text, places = marked("import functools\nimport mlx.core as mx\n" + MADE[name])
    assert found(checked(text, tmp_path)) == [("AM403", *place) for place in places]
    assert bool(places) == (MARK in MADE[name])
