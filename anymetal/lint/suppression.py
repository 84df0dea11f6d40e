"""Comments that silence the linter.

    x[i] = 1;  // anymetal: ignore[AM201]
    // anymetal: ignore-kernel[AM101, AM103]

The first is about its line, and may stand in Python as `# anymetal: ignore[AM401]`; the second,
anywhere in the text of a kernel, about that kernel. Without brackets all rules are meant.
"""

from __future__ import annotations

import re

from anymetal.findings.model import Finding
from anymetal.lint.kernels import Kernel

_COMMENT = re.compile(
    r"(?://|#|/\*)[^\n]*?anymetal:\s*(?P<what>ignore(?:-kernel)?)\b(?:\s*\[(?P<codes>[^\]\n]*)\])?"
)


def is_silenced(finding: Finding, kernel: Kernel | None) -> bool:
    """Whether a comment says that a finding is not wanted."""
    if _silences(finding.place.text, "ignore", finding.code):
        return True
    if kernel is None:
        return False
    texts = (kernel.header.value, kernel.body.value)
    return any(_silences(text, "ignore-kernel", finding.code) for text in texts)


def _silences(text: str, what: str, code: str) -> bool:
    if "anymetal:" not in text:
        return False
    for found in _COMMENT.finditer(text):
        codes = [one.strip() for one in (found["codes"] or "").split(",") if one.strip()]
        if found["what"] == what and (found["codes"] is None or code in codes):
            return True
    return False
