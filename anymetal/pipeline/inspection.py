"""Shows programs between passes to people, and checks them."""

from __future__ import annotations

from collections.abc import Callable
from difflib import unified_diff

from anymetal.debug import Wanted
from anymetal.ir.model import Program
from anymetal.ir.printer import print_program
from anymetal.ir.problem import Problem
from anymetal.ir.spec import Stage, check


def check_behind(name: str, program: Program, stage: Stage) -> None:
    """Checks a program behind a pass; the Problem that it raises names the pass."""
    try:
        check(program, stage)
    except Problem as problem:
        raise Problem(f"behind {name}: {problem}") from None


class Inspector:
    """Shows the program behind passes: the whole, or what each has changed."""

    def __init__(self, wanted: Wanted, tell: Callable[[str, str], None]) -> None:
        self._wanted, self._tell = wanted, tell
        self._before: dict[str, str] = {}  #: by the name of the program

    def passed(self, name: str, program: Program) -> None:
        """Behind a pass."""
        if not (self._wanted.passes or self._wanted.shows("changes")):
            return
        text = print_program(program)
        if name in self._wanted.passes:
            self._tell(f"behind {name}", text)
        if self._wanted.shows("changes") and text != self._before.get(program.name, ""):
            before = self._before.get(program.name, "").splitlines()
            lines = unified_diff(before, text.splitlines(), "before", name, n=1, lineterm="")
            self._tell(f"changes: {name}", "\n".join(lines))
            self._before[program.name] = text
