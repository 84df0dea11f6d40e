"""The `.metal` cases under tests/kernels, sanitized: they give what they should, and exactly what
known.py lists is found in them."""

from __future__ import annotations

import random
import zlib

import pytest

import anymetal
from anymetal.testing.metal_case import MetalCase, run
from tests.sanitize.known import KNOWN
from tests.test_kernel_cases import CASES, FOLDER

_BY_DEFAULT = 16
_QUICK = set(random.Random(7).sample(range(len(CASES)), _BY_DEFAULT))
#: These were wrong, in a sanitized build only.
_ONCE_WRONG = {"language/variadic_class_templates", "matrices/algebra_3x4", "matrices/algebra_4x3"}


def _name(case: MetalCase) -> str:
    return str(case.path.relative_to(FOLDER).with_suffix(""))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=_name(case),
            marks=[] if number in _QUICK or _name(case) in _ONCE_WRONG else pytest.mark.slow,
        )
        for number, case in enumerate(CASES)
    ],
)
def test_sanitized(case: MetalCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANYMETAL_CHECK", "1")
    name = _name(case)
    dtype = case.dtypes[zlib.crc32(name.encode()) % len(case.dtypes)]
    with anymetal.sanitize(action="report") as session:
        run(case, dtype)
    found = {(one.code, one.place.line) for one in session.findings}
    listed = {(kind, line) for kind, lines in KNOWN.get(name, {}).items() for line in lines}
    assert found == listed, session.text()


def test_the_list_is_of_cases_that_exist() -> None:
    assert set(KNOWN) <= {_name(case) for case in CASES}
