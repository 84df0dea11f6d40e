"""Findings as SARIF 2.1.0, the form that code scanning services read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from anymetal.findings.model import Finding, Place, Rule
from anymetal.findings.records import as_record

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def as_sarif(findings: Iterable[Finding], rules: Iterable[Rule], version: str) -> str:
    """One run of the tool. `rules` must have the code of every finding.

    `version` is that of AnyMetal.
    """
    rules = list(rules)
    index = {rule.code: number for number, rule in enumerate(rules)}
    driver = {
        "name": "AnyMetal",
        "version": version,
        "rules": [_rule(rule) for rule in rules],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.code]) for finding in findings],
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _rule(rule: Rule) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.severity},
    }
    return {**record, "helpUri": rule.url} if rule.url else record


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    text = finding.message + (f"\n{finding.hint}" if finding.hint else "")
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": text},
        "locations": [_location(finding.place, finding.kernel)],
        "occurrenceCount": finding.count,
    }
    if finding.others:
        result["relatedLocations"] = [
            {"id": number, **_location(place), "message": {"text": place.message or "see here"}}
            for number, place in enumerate(finding.others)
        ]
    if details := as_record(finding).get("details"):
        result["properties"] = details
    return result


def _location(place: Place, kernel: str = "") -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place.is_file:
        region: dict[str, Any] = {}
        if place.line > 0:
            region["startLine"] = place.line
            if place.column > 0:
                region["startColumn"] = place.column
                region["endColumn"] = max(place.end_column, place.column + 1)
            if place.text:
                region["snippet"] = {"text": place.text}
        physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.file)}}
        location["physicalLocation"] = {**physical, "region": region} if region else physical
    else:
        location["message"] = {"text": str(place)}
    if kernel:
        location["logicalLocations"] = [{"name": kernel, "kind": "function"}]
    return location


def _uri(file: str) -> str:
    """A relative path stays one: what reads the file knows what it is relative to."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
