"""Comments that silence findings.

    x[i] = 1;  // anymetal: ignore[AM201]
    // anymetal: ignore-kernel[AM101, unwritten-output]

The first is about its line, and may stand in Python as `# anymetal: ignore[AM401]`; the second,
anywhere in the text of a kernel, about that kernel. Without brackets all rules of the linter are
meant; what the sanitizer has seen has to be named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from anymetal.findings.model import Finding

_COMMENT = re.compile(
    r"(?://|#|/\*)[^\n]*?anymetal:\s*(?P<what>ignore(?:-kernel)?)\b(?:\s*\[(?P<codes>[^\]\n]*)\])?"
)


def is_silenced(finding: Finding, kernel: Iterable[str], by_name: bool = False) -> bool:
    """Whether a comment says that a finding is not wanted.

    `kernel`: the texts of the kernel. `by_name`: only if it names the kind of finding.
    """
    return _silences(finding.place.text, "ignore", finding.code, by_name) or any(
        _silences(text, "ignore-kernel", finding.code, by_name) for text in kernel
    )


def _silences(text: str, what: str, code: str, by_name: bool) -> bool:
    if "anymetal:" not in text:
        return False
    for found in _COMMENT.finditer(text):
        codes = [one.strip() for one in (found["codes"] or "").split(",") if one.strip()]
        everything = found["codes"] is None and not by_name
        if found["what"] == what and (everything or code in codes):
            return True
    return False
