"""What the demo shows: headings, Metal text, checks and comparisons, on a terminal or in a file."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from anymetal.timing import Timing, duration

_BAR = 24  # characters of the longest bar


class Screen:
    """The console of one demo; counts the checks that failed."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.checks = 0
        self.failures = 0

    def heading(self, title: str) -> None:
        """The start of a section."""
        self.console.print()
        self.console.print(Rule(f"[bold]{title}", align="left", characters="─"))

    def text(self, words: str) -> None:
        """A paragraph, with rich's markup."""
        self.console.print(words, highlight=False)

    def source(self, metal: str) -> None:
        """Metal text."""
        code = Syntax(metal, "cpp", theme="ansi_dark", background_color="default", word_wrap=True)
        self.console.print(Padding(code, (0, 2), expand=False))

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Names and values, side by side."""
        table = Table.grid(padding=(0, 2))
        for name, value in rows:
            table.add_row(f"[dim]{name}", value)
        self.console.print(Padding(table, (0, 2), expand=False))

    def check(self, what: str, error: float, limit: float) -> None:
        """Whether a measured error stays below its limit; NaN does not."""
        good = error <= limit
        self.checks += 1
        self.failures += not good
        verdict = "[bold green]ok[/]" if good else "[bold red]FAILED[/]"
        self.console.print(
            f"  {verdict}  {what}: {error:.1e} (at most {limit:.0e})", highlight=False
        )

    def comparison(self, timings: Sequence[Timing]) -> None:
        """Times with bars; the first contender is the one that the others are compared with."""
        first, longest = timings[0], max(timing.median for timing in timings)
        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(justify="right")
        table.add_column()
        table.add_column()
        for timing in timings:
            ours = timing is first
            bar = "█" * max(1, round(_BAR * timing.median / longest))
            ratio = "" if ours else f"{timing.over(first):.2f} × as long"
            table.add_row(
                Text(timing.name, "bold" if ours else ""),
                Text(duration(timing.median)),
                Text(bar, "green" if ours else "dim"),
                Text(ratio),
            )
        self.console.print(Padding(table, (0, 2), expand=False))
