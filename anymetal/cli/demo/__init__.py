"""`anymetal demo`: what AnyMetal does on this machine, measured while you look.

Exit status 1 if a result is wrong.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from importlib.util import find_spec

from rich.console import Console

import anymetal

_NEXT = (
    ("anymetal run script.py", "your own program, as it is"),
    ("anymetal doctor", "what this machine has, what is missing"),
    ("examples/", "five small kernels, each with one idea"),
    ("make bench", "speed beside PyTorch, NumPy and MLX"),
    ("make test", "the test suite"),
    ("docs/architecture.md", "how it works"),
)


def demo(console: Console | None = None, scale: float = 1.0) -> int:
    """Run the demo; `scale` shrinks its arrays and the time it takes to measure."""
    console = console or Console()
    if find_spec("numpy") is None:
        console.print("The demo compares with NumPy: pip install 'anymetal\\[demo]'")
        return 1
    start = time.perf_counter()
    # They import NumPy.
    from anymetal.cli.demo.cholesky import show_cholesky
    from anymetal.cli.demo.elementwise import show_exp, show_strided
    from anymetal.cli.demo.grid_sample_show import show_grid_sample
    from anymetal.cli.demo.screen import Screen

    screen = Screen(console)
    _show_machine(screen)
    side = 256 if scale == 1 else 32
    show_exp(screen, int(scale * (1 << 24)), 2 * scale)
    show_strided(screen, 16 * side, 2 * scale)
    show_grid_sample(screen, side, 64, 2 * scale)
    show_cholesky(screen, 2 * side, scale)
    screen.heading("Where to go next")
    screen.facts(_NEXT)
    good, seconds = screen.checks - screen.failures, time.perf_counter() - start
    screen.text(f"\n{good} of {screen.checks} checks are good. It took {seconds:.0f} s.")
    return int(screen.failures > 0)


def _show_machine(screen) -> None:
    from anymetal import targets
    from anymetal.cli.doctor import findings

    screen.heading(f"AnyMetal {anymetal.__version__} with MLX {version('mlx')}")
    rows = [
        (finding.name, finding.value)
        for finding in findings()
        if finding.section in ("machine", "tools") and finding.state == "good"
    ]
    screen.facts([*rows, ("target in use", targets.active().name)])
