"""What the documents show and say of the sanitizer is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anymetal.sanitizer.kinds import KINDS
from tests.sanitize.test_process import run

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "sanitizer.md").read_text()


def test_the_table_has_every_kind_with_its_severity() -> None:
    table = PAGE[PAGE.index("## What each kind means") : PAGE.index("## Other orders")]
    rows = re.findall(r"^\| (`.*?`) \| (\w+) \|", table, re.MULTILINE)
    said = {kind: severity for kinds, severity in rows for kind in re.findall(r"`(.+?)`", kinds)}
    assert said == {kind.name: kind.severity for kind in KINDS}


@pytest.mark.parametrize("page", ["README.md", "docs/sanitizer.md"])
def test_the_report_that_is_shown_is_real(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ended = run("--sanitize", "examples/missing_barrier.py")
    assert ended.returncode == 66
    text = (ROOT / page).read_text()
    assert "anymetal run --sanitize examples/missing_barrier.py" in text
    for told in (ended.stdout, ended.stderr):
        assert told in text or told.replace("\n", "\n    ") in text
