"""A version with all facts of a launch compiled in computes the bits of the general version."""

from __future__ import annotations

import random
from collections.abc import Iterator

import mlx.core as mx
import numpy as np
import pytest

from anymetal import targets
from anymetal.targets.cpu import CpuTarget
from anymetal.testing import metal_case
from anymetal.testing.metal_case import MetalCase
from tests.test_kernel_cases import CASES, case_name

#: The others run with the long tests.
_BY_DEFAULT = 50
_RUN = [case for case in CASES if not case.all("error") and case.dtypes]
_QUICK = {id(case) for case in random.Random(16).sample(_RUN, _BY_DEFAULT)}


@pytest.fixture(autouse=True)
def fresh_target() -> Iterator[None]:
    """Plans are kept with what ANYMETAL_SPECIALISE said when they were made."""
    yield
    targets.select(None)


def outputs(case: MetalCase, how: str, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    targets.select(CpuTarget())
    monkeypatch.setenv("ANYMETAL_SPECIALISE", how)
    inputs = metal_case.inputs(case, case.dtypes[0])
    results = metal_case.launcher(case, case.dtypes[0], inputs)()
    return [np.array(result.reshape(-1).view(mx.uint8)) for result in results]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, id=case_name(case, ""), marks=[] if id(case) in _QUICK else [pytest.mark.slow]
        )
        for case in _RUN
    ],
)
def test_same_bits(case: MetalCase, monkeypatch: pytest.MonkeyPatch) -> None:
    general, again, special = (outputs(case, how, monkeypatch) for how in ("0", "0", "eager"))
    for first, second, third in zip(general, again, special, strict=True):
        if not np.array_equal(first, second):
            pytest.skip("its bits differ from run to run anyway")
        np.testing.assert_array_equal(first, third)
