"""Shapes of programs that single passes look for, with random parts: each pass is met often."""

from __future__ import annotations

import random
from collections.abc import Callable

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators.patterns import (
    ahead,
    computing,
    counting,
    layout,
    rows_and_columns,
)


def generate(rng: random.Random) -> Case:
    """A case."""
    return rng.choice(_PATTERNS)(rng)


#: Some several times: they have shapes of which a pass likes only one.
_PATTERNS: tuple[Callable[[random.Random], Case], ...] = (
    ahead.named_rows,
    ahead.long_turn,
    ahead.run_ends,
    ahead.short_runs,
    computing.nest,
    layout.transposed,
    computing.matrices,
    computing.products,
    computing.parts,
    layout.copies,
    counting.appended,
    counting.own_bins,
    counting.float_runs,
    layout.gaps,
    layout.scaled,
    layout.many_words,
    computing.looked_up,
    computing.elimination,
    layout.divided,
    layout.tiles,
    layout.often,
    ahead.walks,
    counting.histogram,
    ahead.neighbour_rows,
    counting.float_runs,
    counting.float_runs,
    layout.anywhere,
    layout.scaled,
    layout.copies,
    computing.matrices,
    computing.nest,
    ahead.neighbour_rows,
    ahead.neighbour_rows,
    ahead.run_ends,
    computing.nest,
    computing.parts,
    rows_and_columns.product,
    rows_and_columns.product,
    rows_and_columns.turned,
    rows_and_columns.flat,
)
