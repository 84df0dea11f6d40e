"""`anymetal profile PROGRAM`: where the time of a program's kernels goes."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

from rich.console import Console

import anymetal
from anymetal.cli.run import output_on_stderr, run_to_end
from anymetal.profiling import Profile
from anymetal.profiling.report import show


def profile_program(arguments: list[str], as_json: bool, trace: Path | None) -> int:
    """Run a program, given as to `anymetal run`, and print the profile of its kernels.

    The exit status is that of the program. After Ctrl-C the profile is printed, too.
    """
    found = anymetal.profile()
    with contextlib.ExitStack() as stack:
        if as_json:
            stack.enter_context(output_on_stderr())
        stack.enter_context(found)

        def finish() -> None:
            stack.close()
            _tell(found, as_json, trace)

        status = run_to_end(arguments, finish)
    _tell(found, as_json, trace)
    return status


def _tell(found: Profile, as_json: bool, trace: Path | None) -> None:
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        print()
        show(found, Console(highlight=False))
    if trace is not None:
        try:
            found.write_trace(str(trace))
        except OSError as error:
            print(f"anymetal profile: cannot write the trace: {error}", file=sys.stderr)
