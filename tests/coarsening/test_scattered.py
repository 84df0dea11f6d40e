"""Straight code whose scattered accesses are none where SIMD-groups of a column run as one."""

from __future__ import annotations

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.coarsening import teams
from anymetal.passes import address_spaces, place_in_rows
from tests.coarsening.test_coarsen import LAUNCH, WIDE
from tests.compiling import known_of
from tests.ir.programs import program
from tests.ir.short import llvm

_PLACE = """
    gx = group_x()
    gy = group_y()
    tx = thread_x()
    ty = thread_y()
    x = gx * 32 + tx
    y = gy * 8 + ty
"""
_CASES = {
    "neighbours are stored": ("out[x * 500 + y] = a[y * 600 + x]", 8),
    "neighbours are loaded": ("out[y * 500 + x] = a[x * 600 + y]", 8),
    "all load the same rows": ("out[y * 500 + x] = a[x * 600 + 7] + a[y]", 8),
    "others are scattered for all": ("out[y * 500 + x] = a[x * 600 + y * 7]", 1),
    "runs as they are": ("out[y * 500 + x] = a[y * 500 + x] + a[x]", 1),
    "pairs of rows": ("out[y * 500 + x] = a[x * 600 + y * 2]", 1),
}


@pytest.mark.parametrize("name", _CASES)
def test_of_columns(name: str) -> None:
    line, size = _CASES[name]
    kernel = program(llvm(f"{_PLACE}\n{line}\nret void"))
    place_in_rows.run(Analyses(kernel), 32)
    assert teams.form(known_of(kernel, LAUNCH, machine=WIDE), 8, in_row=False) == size


def test_arrays_of_a_threads_own_are_not_scattered() -> None:
    text = f"""
        %own = alloca [64 x float]
        {_PLACE}
        %at = getelementptr float, ptr %own, i32 %y
        store float 1.0, ptr %own
        %v = load float, ptr %at
        out[y * 500 + x] = v
        ret void
    """
    kernel = program(llvm(text))
    address_spaces.run(Analyses(kernel))
    place_in_rows.run(Analyses(kernel), 32)
    assert teams.form(known_of(kernel, LAUNCH, machine=WIDE), 8, in_row=False) == 1
