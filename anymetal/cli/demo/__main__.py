"""`python -m anymetal.cli.demo [--svg FILE]`: the demo, and a picture of what it printed."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from anymetal.cli.demo import demo


def main() -> int:
    """Run the demo."""
    parser = argparse.ArgumentParser(prog="python -m anymetal.cli.demo")
    parser.add_argument("--svg", metavar="FILE", help="also draw the output")
    picture = parser.parse_args().svg
    if picture is None:
        return demo()
    console = Console(record=True, width=80)
    status = demo(console)
    console.save_svg(picture, title="make demo")
    return status


if __name__ == "__main__":
    sys.exit(main())
