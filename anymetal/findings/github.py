"""Findings as commands of GitHub's workflows, which become remarks at the lines of a change."""

from __future__ import annotations

from anymetal.findings.model import Finding

_KINDS = {"error": "error", "warning": "warning", "note": "notice"}
_IN_TEXT = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_TEXT, ":": "%3A", ",": "%2C"}


def as_github(finding: Finding) -> str:
    """`::error file=a.py,line=3,col=5,title=AM101::message`"""
    place = finding.place
    properties: dict[str, object] = {"file": place.file} if place.is_file else {}
    if place.is_file and place.line > 0:
        properties["line"] = place.line
        if place.column > 0:
            properties["col"] = place.column
            properties["endColumn"] = max(place.end_column, place.column + 1)
    properties["title"] = finding.code
    text = finding.message if place.is_file else f"{place}: {finding.message}"
    notes = [f"{other}: {other.message}" for other in finding.others]
    text = "\n".join([text, *notes, *([f"hint: {finding.hint}"] if finding.hint else [])])
    told = ",".join(f"{key}={_escaped(str(v), _IN_PROPERTY)}" for key, v in properties.items())
    return f"::{_KINDS[finding.severity]} {told}::{_escaped(text, _IN_TEXT)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(character, character) for character in text)
