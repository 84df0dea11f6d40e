"""Every example runs: it checks itself, and says what it shows."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from release import notebooks

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.filterwarnings("error::anymetal.errors.AnyMetalWarning")
@pytest.mark.parametrize(
    "script",
    [
        # Ranks are processes, each of which compiles all kernels.
        pytest.param(name, marks=pytest.mark.slow if name == "data_parallel" else [])
        for name in sorted(path.stem for path in EXAMPLES.glob("*.py"))
    ],
)
def test_example(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("notebook", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(notebook: Path) -> None:
    pytest.importorskip("ipykernel")
    assert notebooks.run(notebook) > 3


def test_the_list_of_examples_is_complete() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    there = [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")]
    assert there and all(path.name in listed for path in there)
