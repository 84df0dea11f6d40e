"""`anymetal check FILE…`: mistakes in kernels, found without running the program."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import anymetal
from anymetal.findings import Finding, text
from anymetal.findings.github import as_github
from anymetal.findings.records import as_json
from anymetal.findings.sarif import as_sarif
from anymetal.lint.checker import Report, check_file
from anymetal.lint.fixes import apply
from anymetal.lint.rules import RULES

FORMATS = ("text", "json", "github", "sarif")
CLEAN, FOUND, FAILED = 0, 1, 2
_SUFFIXES = (".py", ".metal")
_HIDDEN = ("__pycache__", "node_modules")


def check(
    paths: Sequence[Path], form: str, select: Sequence[str], ignore: Sequence[str], fix: bool
) -> int:
    """Checks the files, and those in folders; prints what was found. The exit status."""
    reports = []
    for path in _files(paths):
        report = check_file(path, lambda code: _is_wanted(code, select, ignore))
        if fix and _fixed(report):
            report = check_file(path, lambda code: _is_wanted(code, select, ignore))
        reports.append(report)
    findings = [finding for report in reports for finding in report.findings]
    _print(findings, reports, form)
    if any(one.failed for report in reports for one in report.unchecked):
        return FAILED
    return FOUND if any(finding.severity != "note" for finding in findings) else CLEAN


def unknown_codes(codes: Sequence[str]) -> list[str]:
    """Codes, or beginnings of codes, that no rule has."""
    return [one for one in codes if not any(code.startswith(one) for code in RULES)]


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for inside in sorted(path.rglob("*")):
            parts = inside.relative_to(path).parts
            hidden = any(part.startswith(".") or part in _HIDDEN for part in parts)
            if inside.suffix in _SUFFIXES and inside.is_file() and not hidden:
                yield inside


def _is_wanted(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    selected = not select or any(code.startswith(one) for one in select)
    return selected and not any(code.startswith(one) for one in ignore)


def _fixed(report: Report) -> bool:
    """Repairs a file; whether it has changed."""
    try:
        made = apply(report.file, report.edits())
    except (OSError, ValueError) as error:
        print(f"{report.file.name}: cannot be repaired: {error}", file=sys.stderr)
        return False
    if made:
        print(f"{report.file.name}: {made} repaired", file=sys.stderr)
    return bool(made)


def _print(findings: list[Finding], reports: list[Report], form: str) -> None:
    for report in reports:
        for one in report.unchecked:
            print(f"{one.place}: not checked: {one.reason}", file=sys.stderr)
    if form == "json":
        print(as_json(findings))
    elif form == "sarif":
        print(as_sarif(findings, RULES.values(), anymetal.__version__))
    elif form == "github":
        for finding in findings:
            print(as_github(finding))
    else:
        text.write(findings)
        kernels = sum(report.kernels for report in reports)
        files = len(reports)
        print(
            f"{text.summary(findings)} in {kernels} kernel{'s' * (kernels != 1)} "
            f"of {files} file{'s' * (files != 1)}"
        )
