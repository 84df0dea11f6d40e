"""Findings as JSON, and back: for programs of one's own, and for files that are read again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from anymetal.findings.model import Finding, Place

_PLACE = {field.name for field in fields(Place)}


def as_json(findings: Iterable[Finding]) -> str:
    """`{"version": 1, "findings": [...]}`; what is unknown is left out."""
    document = {"version": 1, "findings": [as_record(finding) for finding in findings]}
    return json.dumps(document, indent=2, ensure_ascii=False, default=_plain)


def as_record(finding: Finding) -> dict[str, Any]:
    """A finding as dictionaries, lists, strings and numbers."""
    record = {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "kernel": finding.kernel,
        **_of_place(finding.place),
        "others": [_of_place(other) for other in finding.others],
        "details": json.loads(json.dumps(dict(finding.details), default=_plain)),
        "hint": finding.hint,
        "count": finding.count,
    }
    return {name: value for name, value in record.items() if value not in ("", [], {})}


def from_record(record: dict[str, Any]) -> Finding:
    """The finding that `as_record` made a record of; lists stay lists in its details."""
    place = {name: value for name, value in record.items() if name in _PLACE - {"message"}}
    return Finding(
        code=record["code"],
        severity=record["severity"],
        message=record["message"],
        kernel=record.get("kernel", ""),
        place=Place(**place),
        others=tuple(Place(**other) for other in record.get("others", ())),
        details=record.get("details", {}),
        hint=record.get("hint", ""),
        count=record.get("count", 1),
    )


def _of_place(place: Place) -> dict[str, Any]:
    known = {name: value for name, value in asdict(place).items() if value not in ("", 0)}
    return {"file": place.file, "line": place.line, **known}


def _plain(value: object) -> object:
    """Numbers of NumPy and MLX as Python's, anything else by its text."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)
