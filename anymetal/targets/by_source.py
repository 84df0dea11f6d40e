"""What targets keep of kernels, by source and launch, for as long as each source exists."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar
from weakref import ref

from anymetal.source import KernelSource

_Key = TypeVar("_Key", bound=Hashable)
_T = TypeVar("_T")

_SOURCES = 4096
_PER_SOURCE = 256


class BySource(Generic[_Key, _T]):
    """What is kept, by source, and of each source by what tells its launches apart.

    Sources are told apart by identity: equal calls have the same one, and to compare two would take
    longer than a launch. What is kept must not hold the source.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[KernelSource], dict[_Key, _T]]] = {}

    def of(self, source: KernelSource) -> dict[_Key, _T]:
        """What is kept for a source."""
        known = self._known.get(id(source))
        if known is None:
            if len(self._known) >= _SOURCES:  # of calls that nobody evaluates
                self._known.clear()
            number, kept = id(source), self._known
            known = kept[number] = (ref(source, lambda _: kept.pop(number, None)), {})
        return known[1]

    @staticmethod
    def keep(kept: dict[_Key, _T], key: _Key, one: _T) -> None:
        """Add something to what `of` has returned; if that is full, it begins anew."""
        if len(kept) >= _PER_SOURCE:
            kept.clear()
        kept[key] = one
