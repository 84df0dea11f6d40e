"""Registers of a PTX text that may be read before they have a value.

NVIDIA's assembler takes such a register for any other one, which went wrong with threads that keep
in step (targets/cuda/in_step.py): what one of them did not need, another one did.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_REGISTER = re.compile(r"%(?:rs|rd|r|p|fd|f)\d+")
_GUARDED = re.compile(r"@!?(%p\d+)\s+(.*)")
#: Instructions that give no register a value.
_NO_RESULT = ("st.", "bra", "bar", "ret", "exit", "red.", "membar", "fence", "call", "trap")


class Line(NamedTuple):
    text: str
    reads: list[str]
    writes: list[str]
    leads_to: list[str]  #: labels
    goes_on: bool  #: to the next line


def without_values(ptx: str) -> list[str]:
    """The lines that read such registers, and which those are."""
    lines, labels = _lines(ptx)
    known: dict[int, frozenset[str]] = {0: frozenset()}
    work = [0]
    while work:
        here = work.pop()
        line = lines[here]
        behind = known[here] | frozenset(line.writes)
        following = [labels[label] for label in line.leads_to] + [here + 1] * line.goes_on
        for place in following:
            if place < len(lines):
                both = known[place] & behind if place in known else behind
                if known.get(place) != both:
                    known[place] = both
                    work.append(place)
    return [
        f"{line.text}: {', '.join(missing)}"
        for place, line in enumerate(lines)
        if place in known and (missing := [r for r in line.reads if r not in known[place]])
    ]


def _lines(ptx: str) -> tuple[list[Line], dict[str, int]]:
    lines: list[Line] = []
    labels: dict[str, int] = {}
    for text in ptx.split("{\n", 1)[1].splitlines():
        text = text.strip()
        if label := re.match(r"(\$\w+):", text):
            labels[label[1]] = len(lines)
        elif text and not text.startswith((".", "//", "}", "{")):
            lines.append(_line(text))
    return lines, labels


def _line(text: str) -> Line:
    guarded = _GUARDED.match(text)
    guard, body = ([guarded[1]], guarded[2]) if guarded else ([], text)
    operation, _, operands = body.partition("\t")
    first, rest = re.match(r"\s*(\{[^}]*\}|[^,]*)(.*)", operands, re.S).groups()  # type: ignore[union-attr]
    if operation.strip().startswith(_NO_RESULT):
        first, rest = "", operands
    target = re.findall(r"\$\w+", operands) if operation.startswith("bra") else []
    ends = operation.startswith(("bra", "ret", "exit")) and not guard
    reads = [*guard, *_REGISTER.findall(rest)]
    return Line(text, reads, _REGISTER.findall(first), target, not ends)
