"""`anymetal profile PROGRAM`: where the time of a program's kernels goes."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

import anymetal
from anymetal.cli.run import run_to_end
from anymetal.profiling import Profile
from anymetal.profiling.report import show


def profile_program(arguments: list[str], as_json: bool, trace: Path | None) -> int:
    """Run a program, given as to `anymetal run`, and print the profile of its kernels.

    The exit status is that of the program. After Ctrl-C the profile is printed, too.
    """
    found = anymetal.profile()
    with contextlib.ExitStack() as stack:
        if as_json:
            stack.enter_context(_output_on_stderr())
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


@contextlib.contextmanager
def _output_on_stderr() -> Iterator[None]:
    """What anybody writes to stdout, C++ included, goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
