"""Every example, sanitized: only the one that lacks a barrier has findings."""

from __future__ import annotations

import runpy

import pytest

import anymetal
from tests.sanitize.known import EXAMPLES as KNOWN
from tests.test_examples import EXAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_example(script: str) -> None:
    with anymetal.sanitize(action="report") as session:
        runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    found = {(one.code, one.place.line) for one in session.findings}
    listed = {(kind, line) for kind, lines in KNOWN.get(script, {}).items() for line in lines}
    assert found == listed, session.text()
