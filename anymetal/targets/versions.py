"""Versions of a kernel for the launches that it has most: whether they are wanted, and how many."""

from __future__ import annotations

import os
from typing import Literal
from weakref import WeakKeyDictionary

from anymetal.source import KernelSource

Mode = Literal["0", "1", "eager"]
#: Of a kernel, for all its grids and threadgroups.
MOST_VERSIONS = 8
_made: WeakKeyDictionary[KernelSource, int] = WeakKeyDictionary()


def mode() -> Mode:
    """The value of `ANYMETAL_SPECIALISE`: never, when a kernel is hot, before the first launch.

    Raises ValueError for a value that it may not have.
    """
    text = os.environ.get("ANYMETAL_SPECIALISE") or "1"
    if text not in ("0", "1", "eager"):
        raise ValueError(f"ANYMETAL_SPECIALISE must be 0, 1 or eager, not {text!r}")
    return text  # type: ignore[return-value]


def may_have_another(source: KernelSource) -> bool:
    """Whether a kernel has fewer versions than it may have; it has one more then."""
    made = _made.get(source, 0)
    if made >= MOST_VERSIONS:
        return False
    _made[source] = made + 1
    return True


def knows_sizes(source: KernelSource) -> bool:
    """Whether the kernel asks for sizes of the launch that are no array's, or for places that lie
    within them: loops from a thread's place in its threadgroup on."""
    telling = ("threads_per", "size", "threadgroup")
    return any(word in name for name in source.attributes for word in telling)
