"""What `anymetal doctor` has found, for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

State = Literal["good", "absent", "broken"]

_MARKS = {"good": "[green]✓[/]", "absent": "[yellow]–[/]", "broken": "[red]✗[/]"}
_PLAIN_MARKS = {"good": "[green]ok[/]", "absent": "[yellow]--[/]", "broken": "[red]!![/]"}


@dataclass(frozen=True)
class Finding:
    """One line of the report: "absent" is a choice, "broken" keeps kernels from running."""

    section: str
    name: str
    value: str
    state: State = "good"
    remedy: str = ""


def show(findings: Iterable[Finding], as_json: bool = False) -> int:
    """Print the report; status 1 if something that AnyMetal needs is broken."""
    report = list(findings)
    works = all(finding.state != "broken" for finding in report)
    if as_json:
        print(json.dumps({"works": works, "findings": [asdict(one) for one in report]}, indent=2))
    else:
        _print(report)
    return int(not works)


def _print(report: list[Finding]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    marks = _MARKS if _can_print("✓–✗") else _PLAIN_MARKS
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    section = ""
    for finding in report:
        if finding.section != section:
            section = finding.section
            table.add_row(f"[bold]{section}[/]")
        table.add_row(f"  {marks[finding.state]} {finding.name}", escape(finding.value))
        if finding.remedy:
            table.add_row("", f"[dim]{escape(finding.remedy)}[/]")
    Console().print(table)


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
