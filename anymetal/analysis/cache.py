"""What is known of a program: answers to questions, each found once until the program changes.

A question is a function of `Analyses`, and may ask others: `known(shapes)` finds the shapes, or has
them from the cache. A pass that has changed the program says which answers are still right
(pipeline/driver.py); all others are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, TypeVar

from anymetal.ir.model import Program
from anymetal.machine import ANY_MACHINE, Machine

T = TypeVar("T")


class LaunchFacts(NamedTuple):
    """What is known of the launches that a compiled version serves."""

    linear: bool  #: x of a gang's threads is consecutive, y and z are uniform
    aligned: bool  #: the dispatched threadgroup size in x is a multiple of the gang
    flat: bool  #: y and z of the threadgroup are 1
    whole: bool = False  #: no threadgroup is smaller than the dispatched size


#: Nothing is known.
ANY_LAUNCH = LaunchFacts(linear=False, aligned=False, flat=False)


class Analyses:
    """The answers about one program in one class of launches, for gangs of `width` lanes."""

    def __init__(
        self,
        program: Program,
        launch: LaunchFacts = ANY_LAUNCH,
        width: int = 1,
        machine: Machine = ANY_MACHINE,
    ) -> None:
        self.program = program
        self.launch = launch
        self.width = width
        self.machine = machine
        self._answers: dict[Callable[[Analyses], Any], Any] = {}

    def __call__(self, question: Callable[[Analyses], T]) -> T:
        """The answer to a question."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: T = self._answers[question]
        return answer

    def forget(self, keep: Collection[Callable[[Analyses], Any]] = ()) -> None:
        """The program has changed; the answers to these questions are still right."""
        self._answers = {q: answer for q, answer in self._answers.items() if q in keep}
