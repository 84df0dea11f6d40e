"""Comments that silence findings.

    x[i] = 1;  // anymetal: ignore[AM201]
    // anymetal: ignore-kernel[AM101, unwritten-output(scratch)]

The first is about its line, and may stand in Python as `# anymetal: ignore[AM401]`; the second,
anywhere in the text of a kernel, about that kernel. Without brackets all rules of the linter are
meant; what the sanitizer has seen has to be named. In parentheses stands a buffer or array, if only
findings about that are meant.
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
    return _silences(finding.place.text, "ignore", finding, by_name) or any(
        _silences(text, "ignore-kernel", finding, by_name) for text in kernel
    )


def _silences(text: str, what: str, finding: Finding, by_name: bool) -> bool:
    if "anymetal:" not in text:
        return False
    memory = finding.details.get("buffer") or finding.details.get("array")
    named = {finding.code, f"{finding.code}({memory})"}
    for found in _COMMENT.finditer(text):
        codes = {"".join(one.split()) for one in (found["codes"] or "").split(",")}
        everything = found["codes"] is None and not by_name
        if found["what"] == what and (everything or codes & named):
            return True
    return False
