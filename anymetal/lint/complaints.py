"""Rules about what compiles here and Metal may refuse, or what Clang finds suspicious: the same
that a running program is warned of (frontend/strict.py).

What depends on a guess about dtypes must hold with all guesses (see guess.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from anymetal.findings.model import Finding
from anymetal.frontend import strict
from anymetal.frontend.complaints import AMBIGUOUS, TRUNCATED, Complaint
from anymetal.frontend.unit import part_name
from anymetal.lint.look import Look

_AMBIGUOUS, _REFUSED, _SUSPICIOUS = "AM303", "AM305", "AM306"
_HINT = "convert the arguments to one type, as in {}(float(…), …)"


def check(look: Look) -> Iterator[Finding]:
    """AM303, AM305, AM306."""
    common: dict[object, Complaint] | None = None
    for made in look.compiled.sources:
        found = strict.complaints_about(made.source, made.heard)
        at: dict[object, Complaint] = {
            (one.line, one.column, one.rule, _part(look, one)): one for one in found
        }
        common = at if common is None else {k: one for k, one in common.items() if k in at}
    for complaint in (common or {}).values():
        yield _finding(look, complaint)


def _part(look: Look, complaint: Complaint) -> str:
    return "header" if complaint.file == part_name(look.source, "header") else "source"


def _finding(look: Look, complaint: Complaint) -> Finding:
    part, line, column = _part(look, complaint), complaint.line, complaint.column
    name = look.word(part, line, column)
    place = look.kernel.place(part, line, column, len(name))
    if complaint.rule in (AMBIGUOUS, TRUNCATED):
        hint = _HINT.format(name)
        return look.finding(_AMBIGUOUS, place, complaint.text, hint=hint)
    if complaint.refused:
        return look.finding(_REFUSED, place, complaint.text)
    return look.finding(_SUSPICIOUS, place, f"{complaint.text} [-W{complaint.rule}]")
