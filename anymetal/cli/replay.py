"""`anymetal replay FILE`: a launch from a replay file, once more under observation."""

from __future__ import annotations

import sys
from pathlib import Path

from anymetal.sanitizer import replay as files
from anymetal.sanitizer import session
from anymetal.sanitizer.api import tell
from anymetal.sanitizer.execution import run
from anymetal.sanitizer.process import STATUS


def replay(file: Path, form: str) -> int:
    """Runs the launch and reports; the exit status is 66 if the findings include errors."""
    try:
        job, options, before = files.load(file)
    except (OSError, ValueError) as error:
        print(f"anymetal replay: {error}", file=sys.stderr)
        return 2
    found, outer = session.start(options)
    try:
        run(job, found, None)
    finally:
        session.stop(found, outer)
        if form == "text":
            tell(found)
        else:
            print(found.json() if form == "json" else found.sarif())
    if missing := {one.code for one in before} - {one.code for one in found.findings}:
        words = ", ".join(sorted(missing))
        print(f"anymetal replay: not found again: {words}", file=sys.stderr)
    return STATUS if found.errors else 0
