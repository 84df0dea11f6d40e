"""The `anymetal` command.

`anymetal run` is in the way of a user's own program, so it starts without typer and rich.
"""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status, or raises SystemExit with it."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["run"]:
        from anymetal.cli.run import run

        return run(arguments[1:])
    from anymetal.cli.app import app

    app(arguments, prog_name="anymetal")
    return 0
