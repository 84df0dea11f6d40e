"""Markers change no result: the cases of tests/kernels, traced."""

from __future__ import annotations

import functools
import io

import pytest

from anymetal import targets
from anymetal.testing.metal_case import MetalCase, run
from anymetal.tracing.api import _TracingTarget
from tests.test_kernel_cases import CASES, case_name

#: They load from outside of an array, and leave what they get alone.
_STRAY = ("load_for_a_branch_and_behind_it",)
_TRACED = [one for one in CASES if one.path.stem not in _STRAY]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, id=case_name(one, ""), marks=[] if number % 40 == 7 else pytest.mark.slow)
        for number, one in enumerate(_TRACED)
    ],
)
def test_results_of_a_case(case: MetalCase) -> None:
    out = io.StringIO()
    targets.put_in_front(functools.partial(_TracingTarget, thread=(0, 0, 0), file=out))
    try:
        run(case, case.dtypes[0])
    finally:
        targets.put_in_front(None)
