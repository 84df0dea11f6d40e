"""Every rule has a section in docs/lint.md, whose first example it finds, and not in the second."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anymetal.lint.rules import RULES
from tests.lint.programs import checked, program

PAGE = (Path(__file__).parents[2] / "docs" / "lint.md").read_text()
_SECTION = re.compile(r"^## (AM\d+) ([a-z-]+)\n(.*?)(?=^## |\Z)", re.M | re.S)
_EXAMPLE = re.compile(r"^```(metal|python)\n(.*?)^```$", re.M | re.S)
SECTIONS = {code: (name, text) for code, name, text in _SECTION.findall(PAGE)}


def test_there_is_a_section_for_each_rule() -> None:
    assert {code: name for code, (name, _) in SECTIONS.items()} == {
        code: rule.name for code, rule in RULES.items()
    }
    for code, rule in RULES.items():
        assert rule.code == code and rule.url == f"docs/lint.md#{code.lower()}-{rule.name}"


@pytest.mark.parametrize("code", SECTIONS)
def test_the_examples(code: str, tmp_path: Path) -> None:
    bad, good = (
        text if language == "python" else program(f"\n{text}")
        for language, text in _EXAMPLE.findall(SECTIONS[code][1])
    )
    report = checked(bad, tmp_path)
    assert {finding.code for finding in report.findings} == {code}
    assert all(f.severity == RULES[code].severity for f in report.findings)
    assert not checked(good, tmp_path).findings
