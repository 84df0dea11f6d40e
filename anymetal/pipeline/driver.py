"""Passes as data, and the one loop that runs them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Generic, TypeVar

from anymetal.analysis.cache import Analyses
from anymetal.ir.spec import Stage
from anymetal.pipeline.stages import Stages


class Compilation:
    """A program on its way through the pipeline. Targets add what their passes need to know."""

    def __init__(
        self, known: Analyses, stages: Stages, without: Collection[str], stage: Stage = Stage.READ,
        sanitized: bool = False,
    ) -> None:  # fmt: skip
        self.program = known.program
        self.known = known
        self.stages = stages
        self.without = without  #: names of passes that are switched off
        self.stage = stage
        self.sanitized = sanitized  #: accesses stay where they are, as all are checked


C = TypeVar("C", bound=Compilation)


class Pass(Generic[C]):
    """One step of the pipeline."""

    def __init__(
        self,
        name: str,
        run: Callable[[C], bool],
        why: str,
        stage: Stage,
        needs: tuple[Callable[[C], bool], ...] = (),
        keeps: tuple[Callable[[Analyses], Any], ...] = (),
        optional: bool = True,
    ) -> None:
        self.name = name
        self.run = run  #: returns whether it changed the program
        self.why = why  #: why it stands where it stands
        self.stage = stage  #: the rules (ir/spec.py) that the program follows from here on
        self.needs = needs  #: it runs if all of these hold
        self.keeps = keeps  #: questions whose answers stay right
        self.optional = optional  #: an optimisation, which `ANYMETAL_PASSES` may switch off


def run(passes: Iterable[Pass[C]], compilation: C) -> None:
    """Runs the passes, except those that are switched off or whose needs do not hold."""
    for one in passes:
        off = one.optional and one.name in compilation.without
        if off or not all(fact(compilation) for fact in one.needs):
            continue
        with compilation.stages.running(one.name):
            changed = one.run(compilation)
        if changed:
            compilation.known.forget(one.keeps)
        compilation.stage = max(compilation.stage, one.stage)
        compilation.stages.passed(one.name, compilation.program, compilation.stage, changed)
