"""What the documents say about files is true, and the README's program runs."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from anymetal.pipeline import thread
from anymetal.pipeline.driver import Pass
from anymetal.targets.cpu import pipeline
from anymetal.tune import operations, policies, switch
from release import pages

ROOT = Path(__file__).parent.parent
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(ROOT / name for name in ("examples/README.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
#: Folders that the architecture describes as a whole.
_WHOLE = ("frontend/include", "testing/fuzz", "testing/lockstep", "testing/fire", "cli/demo")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = _LINK.findall(page.read_text())
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_every_file_has_a_line() -> None:
    text = (ROOT / "docs" / "files.md").read_text()
    package = ROOT / "anymetal"
    files = (path for path in package.rglob("*") if path.suffix in (".py", ".cpp", ".h"))
    missing = [
        str(path.relative_to(package))
        for path in files
        if not path.name.startswith("__")
        and not str(path.relative_to(package)).startswith(_WHOLE)
        and f"`{path.name}`" not in text
    ]
    assert not missing, "add a line for each to docs/files.md"


def test_the_architecture_has_a_row_for_every_pass() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    passes: list[Pass[Any]] = [*thread.PASSES, *pipeline.PASSES]
    rows = re.findall(r"^\| `([a-z-]+)`( \*)? \|.* \| ([^|]*) \| (\w+) \|$", text, re.MULTILINE)
    assert rows == [
        (one.name, "" if one.optional else " *", one.why, one.stage.name.lower()) for one in passes
    ]


def test_the_tour_names_each_file_once() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    tour = text[text.index("## A tour") : text.index("## The pipeline")]
    files = re.findall(r"`([\w/]+\.py)`", tour)
    assert len(files) > 20 and len(files) == len(set(files))
    assert not [name for name in files if not (ROOT / "anymetal" / name).exists()]


def test_the_glossary_has_words_of_the_code_only() -> None:
    table = (ROOT / "docs" / "glossary.md").read_text()
    first = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    words = [word for cell in first for word in cell.split(", ") if word not in ("word", "---")]
    files = [p for p in (ROOT / "anymetal").rglob("*") if p.suffix in (".py", ".cpp", ".h")]
    code = re.sub(r"[\s_#/]+", " ", "\n".join(path.read_text() for path in files))
    assert len(words) > 50
    assert not [word for word in words if not re.search(rf"\b{word}(s|es)?\b", code, re.IGNORECASE)]
    named = re.findall(r"`([\w./]+)` \|$", table, re.MULTILINE)
    ends = tuple(f"/{path.relative_to(ROOT)}" for path in files)
    assert len(named) > 50
    assert not [name for name in named if not any(end.endswith(f"/{name}") for end in ends)]


@pytest.mark.parametrize(
    "routine", ["grid_sample", "cholesky", "qr", "svd", "gemm", "extended_precision", "autoswitch"]
)
def test_pages_of_routines_show_when_each_path_wins(routine: str) -> None:
    """The pictures of `python -m benchmarks.paths --write`, which say how they were made."""
    assert f"](paths/{routine}.svg)" in (ROOT / "docs" / f"{routine}.md").read_text()
    picture = (ROOT / "docs" / "paths" / f"{routine}.svg").read_text()
    assert "python -m benchmarks.paths --write" in picture
    assert "AnyMetal" in picture
    if routine != "autoswitch":  # that one is drawn from the numbers of the others
        kept = json.loads((ROOT / "docs" / "paths" / f"{routine}.json").read_text())
        assert all(panel["title"] in html.unescape(picture) for panel in kept["panels"])


def _pages_with_programs() -> list[Path]:
    """Those of docs/testing.md are files of a library: tests/test_pytest_anymetal.py."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in every if pages.blocks(page.read_text()) and page.stem != "testing"]


@pytest.mark.parametrize("page", _pages_with_programs(), ids=lambda page: page.stem)
def test_programs_run_and_print_what_the_page_says(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(policies, "POLICIES", dict(policies.POLICIES))
    monkeypatch.setattr(operations, "_registered", {})

    pages.run(page, lambda: tuple(capfd.readouterr()))
    switch.forget()
