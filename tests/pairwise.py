"""Products of parameters, of which a part runs by default: any two values meet in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest

_SLOW = pytest.mark.slow


def pairwise(combinations: Iterable[tuple[Any, ...]]) -> list[Any]:
    """All combinations; those that bring no two values together that others do not are slow."""
    rows = list(combinations)
    missing = set().union(*map(_pairs, rows))
    wanted = set()
    while missing:
        best = max(range(len(rows)), key=lambda at: len(_pairs(rows[at]) & missing))
        wanted.add(best)
        missing -= _pairs(rows[best])
    return [
        pytest.param(*row, id=" ".join(map(str, row)), marks=[] if at in wanted else _SLOW)
        for at, row in enumerate(rows)
    ]


def _pairs(row: tuple[Any, ...]) -> set[Any]:
    return set(itertools.combinations(enumerate(row), 2))
