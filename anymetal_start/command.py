"""The `anymetal` command: it can say what is missing where AnyMetal cannot be imported."""

from __future__ import annotations

import contextlib
import io
import platform
import sys

from anymetal_start import report
from anymetal_start.back_end import BackEndError, check
from anymetal_start.report import Finding


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status, or raises SystemExit with it."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] != ["run"]:
        _print_what_can_be_printed()
    try:
        check()
    except BackEndError as error:
        if arguments[:1] == ["doctor"]:
            return report.show(_without_mlx(error), as_json="--json" in arguments)
        print(f"anymetal: {error}", file=sys.stderr)
        return 1
    from anymetal.cli import main

    return main(arguments)


def _print_what_can_be_printed() -> None:
    """Where the locale has only ASCII, other characters are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors="backslashreplace")


def _without_mlx(error: BackEndError) -> list[Finding]:
    """What a doctor can tell all the same."""
    return [
        Finding("machine", "system", f"{platform.system()} {platform.machine()}"),
        Finding("packages", "Python", f"{platform.python_version()} ({sys.executable})"),
        Finding("targets", "MLX", error.problem, "broken", error.remedy),
    ]
