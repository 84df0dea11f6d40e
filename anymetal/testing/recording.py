"""Which kernels a program calls, how often, and how long their machine code takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any

from anymetal.kernel import MetalKernel
from anymetal.library import LibraryFunction
from anymetal.targets.cpu import code_lookup


@dataclass
class Record:
    """One kernel, by its name."""

    calls: int = 0
    compiled: int = 0  #: versions that were compiled
    cached: int = 0  #: versions that were found in the disk cache
    seconds: float = 0.0  #: until these versions were there

    def add(self, other: Record) -> None:
        """Counts what happened elsewhere, too."""
        self.calls += other.calls
        self.compiled += other.compiled
        self.cached += other.cached
        self.seconds += other.seconds


class Recording:
    """Everything from `begin` to `end`, on all threads of this process.

    Calls are counted where the program makes them; inside of `mx.compile` that is while a function
    is traced.
    """

    def __init__(self) -> None:
        self.kernels: dict[str, Record] = {}
        self._undo: list[Callable[[], None]] = []

    def begin(self) -> None:
        """From here on all is counted."""
        for kind in (MetalKernel, LibraryFunction):
            self._count_calls(kind)
        code_lookup.listeners.append(self._made)
        self._undo.append(lambda: code_lookup.listeners.remove(self._made))

    def end(self) -> None:
        """Up to here."""
        while self._undo:
            self._undo.pop()()

    def calls(self) -> dict[str, int]:
        """How often each kernel has been called."""
        return {name: one.calls for name, one in self.kernels.items() if one.calls}

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """For JSON, and for another process."""
        return {name: asdict(one) for name, one in sorted(self.kernels.items())}

    def add(self, other: dict[str, dict[str, Any]]) -> None:
        """What another process has recorded (`as_dict`)."""
        for name, one in other.items():
            self._of(name).add(Record(**one))

    def _of(self, name: str) -> Record:
        return self.kernels.setdefault(name, Record())

    def _count_calls(self, kind: Any) -> None:
        before = kind.__call__

        @wraps(before)
        def call(kernel: Any, /, *args: Any, **kwargs: Any) -> Any:
            self._of(kernel.name).calls += 1
            return before(kernel, *args, **kwargs)

        kind.__call__ = call
        self._undo.append(lambda: setattr(kind, "__call__", before))

    def _made(self, name: str, where: str, seconds: float) -> None:
        record = self._of(name)
        record.seconds += seconds
        if where == "compiled":
            record.compiled += 1
        else:
            record.cached += 1
