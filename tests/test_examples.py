"""Every example runs: it checks itself, and says what it shows."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.filterwarnings("error::anymetal.errors.AnyMetalWarning")
@pytest.mark.parametrize("script", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_example(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_list_of_examples_is_complete() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    assert all(path.name in listed for path in EXAMPLES.glob("*.py"))
