"""The loop that runs passes: which it runs, what it forgets, and whom it tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anymetal.analysis.cache import Analyses
from anymetal.ir import types as t
from anymetal.ir.model import Block, Instr, Program
from anymetal.ir.spec import Stage
from anymetal.pipeline import thread
from anymetal.pipeline.driver import Compilation, Pass, run
from anymetal.pipeline.stages import Stages
from anymetal.targets.cpu import pipeline as gang


class Told(Stages):
    """Notes what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.passes_run: list[tuple[str, Stage, bool]] = []

    def passed(self, name: str, program: Program, stage: Stage, changed: bool) -> None:
        """Behind a pass."""
        self.passes_run.append((name, stage, changed))


def compilation(*off: str) -> Compilation:
    program = Program("k", [], [Block("%0", [Instr(t.VOID, "ret", [])])], {}, [])
    return Compilation(Analyses(program), Told(), off)


def a_pass(name: str, changes: bool = False, **words: Any) -> Pass[Compilation]:
    words = {"stage": Stage.READ, **words}
    return Pass(name, lambda c: changes, "for the test", **words)


def names_run(c: Compilation) -> list[str]:
    assert isinstance(c.stages, Told)
    return [name for name, *_ in c.stages.passes_run]


def test_passes_run_in_their_order() -> None:
    c = compilation()
    run([a_pass("first"), a_pass("second"), a_pass("first")], c)
    assert names_run(c) == ["first", "second", "first"]


def test_a_pass_runs_only_if_all_is_so_that_it_needs() -> None:
    def so(_: Compilation) -> bool:
        return True

    def not_so(_: Compilation) -> bool:
        return False

    c = compilation()
    run([a_pass("one", needs=(so, so)), a_pass("two", needs=(so, not_so))], c)
    assert names_run(c) == ["one"]


def test_needs_are_asked_when_the_pass_is_next() -> None:
    """So passes can decide on those behind them."""
    decided: list[str] = []

    def decide(c: Compilation) -> bool:
        decided.append("yes")
        return False

    c = compilation()
    first = Pass("first", decide, "", Stage.READ)
    run([first, a_pass("second", needs=(lambda _: bool(decided),))], c)
    assert names_run(c) == ["first", "second"]


def test_only_optional_passes_are_switched_off() -> None:
    c = compilation("one", "two")
    run([a_pass("one"), a_pass("two", optional=False), a_pass("three")], c)
    assert names_run(c) == ["two", "three"]


def test_what_is_switched_off_leads_to_no_stage() -> None:
    c = compilation("one")
    run([a_pass("one", stage=Stage.ORDERED)], c)
    assert c.stage is Stage.READ


def test_stages_never_go_back() -> None:
    c = compilation()
    run([a_pass("up", stage=Stage.GANG), a_pass("low", stage=Stage.SCALAR)], c)
    assert isinstance(c.stages, Told)
    assert [stage for _, stage, _ in c.stages.passes_run] == [Stage.GANG, Stage.GANG]
    assert c.stage is Stage.GANG


def test_followers_hear_whether_something_changed_and_how_long_it_took() -> None:
    c = compilation()
    run([a_pass("one", changes=True), a_pass("two")], c)
    assert isinstance(c.stages, Told)
    assert [changed for *_, changed in c.stages.passes_run] == [True, False]
    assert set(c.stages.passes) == {"one", "two"}


def _counted() -> tuple[Callable[[Analyses], int], Callable[[Analyses], int], list[str]]:
    asked: list[str] = []

    def here(_: Analyses) -> int:
        asked.append("here")
        return 1

    def there(_: Analyses) -> int:
        asked.append("there")
        return 2

    return here, there, asked


@pytest.mark.parametrize(
    ("changes", "asked_again"), [(True, ["there"]), (False, [])], ids=["changed", "unchanged"]
)
def test_answers_are_forgotten_if_something_changed(changes: bool, asked_again: list[str]) -> None:
    here, there, asked = _counted()
    c = compilation()
    assert (c.known(here), c.known(there)) == (1, 2)
    asked.clear()
    run([a_pass("one", changes=changes, keeps=(here,))], c)
    assert (c.known(here), c.known(there)) == (1, 2)
    assert asked == asked_again


def test_no_two_passes_have_one_name() -> None:
    """Or `ANYMETAL_PASSES` would switch both off."""
    passes: list[Pass[Any]] = [*thread.PASSES, *gang.PASSES]
    names = [one.name for one in passes]
    assert len(set(names)) == len(names)
