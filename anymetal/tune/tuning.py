"""A run of `anymetal tune`: which cases are left, and what becomes of the table meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from anymetal.tune import switch, tables
from anymetal.tune.device import Device
from anymetal.tune.measure import measure
from anymetal.tune.operations import Case, Operation
from anymetal.tune.tables import Entry, Table

Measure = Callable[[Operation, Case, float, bool], Entry]

#: Seconds for all paths of a case.
_SECONDS, _QUICK_SECONDS = 1.0, 0.15


class Step(NamedTuple):
    """One case of a run."""

    operation: Operation
    case: Case


class Tuning:
    """What is to be measured, and the table that it goes to.

    The table is written after each case, so that whoever interrupts a run loses one case.
    """

    def __init__(
        self,
        device: Device,
        operations: Sequence[Operation],
        quick: bool = False,
        fresh: bool = False,
        measure: Measure = measure,
    ) -> None:
        self.operations = operations
        self._quick, self._measure = quick, measure
        self.table = tables.read(device) or Table(device)
        for operation in operations:
            self._drop(operation, everything=fresh)
        self.steps = [
            Step(operation, case)
            for operation in operations
            for case in operation.cases
            if case.quick or not quick
        ]

    @property
    def left(self) -> list[Step]:
        """What is not measured yet."""
        return [step for step in self.steps if not self._is_done(step)]

    def measure(self, step: Step) -> Entry:
        """Measure a case and store the table."""
        seconds = _QUICK_SECONDS if self._quick else _SECONDS
        entry = self._measure(step.operation, step.case, seconds, self._quick)
        self.table.add(entry)
        tables.write(self.table)
        switch.forget()
        return entry

    def _is_done(self, step: Step) -> bool:
        entry = self.table.entries.get((step.operation.name, step.case.name))
        return entry is not None and (self._quick or not entry.rough)

    def _drop(self, operation: Operation, everything: bool) -> None:
        """Forget what was measured, or at least the cases that there are no longer."""
        cases = {case.name for case in operation.cases}
        for entry in self.table.of(operation.name):
            if everything or entry.case not in cases:
                del self.table.entries[operation.name, entry.case]
