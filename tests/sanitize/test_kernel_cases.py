"""The `.metal` cases under tests/kernels, sanitized: they give what they should, and as they are
right, no access is found to stray."""

from __future__ import annotations

import random

import pytest

from anymetal.passes.observe import MISALIGNED
from anymetal.testing.metal_case import MetalCase, run
from tests.sanitize.launching import seen, watching
from tests.test_kernel_cases import CASES, case_name

_BY_DEFAULT = 24
_DTYPE = random.Random(7)
_ALL = [(case, _DTYPE.choice(case.dtypes)) for case in CASES]
_QUICK = set(random.Random(7).sample(range(len(_ALL)), _BY_DEFAULT))


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        pytest.param(
            case,
            dtype,
            id=case_name(case, dtype),
            marks=[] if number in _QUICK else pytest.mark.slow,
        )
        for number, (case, dtype) in enumerate(_ALL)
    ],
)
def test_sanitized(case: MetalCase, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CHECK", "1")
    with watching() as plans:
        run(case, dtype)
    found = [one for plan in plans for one in seen(plan)]
    assert [one for one in found if one.kind <= MISALIGNED] == []
