"""`anymetal demo`: what AnyMetal does on this machine, measured while you look.

Exit status 1 if a result is wrong.
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from importlib.util import find_spec

import mlx.core as mx
from rich.console import Console

import anymetal
from anymetal import targets
from anymetal.cli.demo.screen import Screen
from anymetal.cli.doctor import findings

_TARGETS = {
    "cpu": "CPU: the 32 threads of a SIMD-group run as SIMD lanes",
    "apple": "Apple GPU: kernels go to MLX unchanged",
}
_NEXT = (
    ("anymetal run script.py", "your own program, as it is"),
    ("anymetal doctor", "what this machine has, what is missing"),
    ("examples/", "small programs, one idea each"),
    ("make bench", "speed beside PyTorch, NumPy and MLX"),
    ("make test", "the test suite"),
    ("docs/architecture.md", "how it works"),
)


def demo(console: Console | None = None, quick: bool = False) -> int:
    """Run the demo; `quick` takes small arrays and few measurements, for a test of the demo."""
    if console is None:
        if hasattr(sys.stdout, "reconfigure"):  # a terminal without × and █ shows "?"
            sys.stdout.reconfigure(errors="replace")
        console = Console()
    if find_spec("numpy") is None:
        console.print("The demo compares with NumPy: pip install 'anymetal\\[demo]'")
        return 1
    # They import NumPy.
    from anymetal.cli.demo.cholesky import show_cholesky
    from anymetal.cli.demo.elementwise import show_exp, show_strided
    from anymetal.cli.demo.grid_sample import show_grid_sample

    start = time.perf_counter()
    mx.random.seed(0)
    side, seconds = (32, 0.0) if quick else (256, 2.0)
    screen = Screen(console)
    _show_machine(screen)
    show_exp(screen, 256 * side**2, seconds)
    show_strided(screen, 16 * side, seconds)
    show_grid_sample(screen, side, 64, seconds)
    show_cholesky(screen, 2 * side, seconds)
    screen.heading("Where to go next")
    screen.facts(_NEXT)
    return _verdict(screen, time.perf_counter() - start)


def _show_machine(screen: Screen) -> None:
    screen.heading(f"AnyMetal {anymetal.__version__} on MLX {version('mlx')}")
    name = targets.active().name
    rows = [
        (finding.name, finding.value)
        for finding in findings()
        if finding.section in ("machine", "tools") and finding.state == "good"
        if finding.name != "helper processes"  # a path
    ]
    screen.facts([*rows, ("target in use", _TARGETS.get(name, name))])


def _verdict(screen: Screen, seconds: float) -> int:
    if screen.failures:
        screen.text(f"\n[bold red]{screen.failures} of {screen.checks} checks FAILED.[/]")
    else:
        screen.text(f"\nAll {screen.checks} checks are good. It took {seconds:.0f} s.")
    return int(screen.failures > 0)
