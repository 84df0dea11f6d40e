"""Classes of kernels. Each module makes one: `generate(rng)` gives a case from a random source."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators import (
    arithmetic,
    atomics,
    barriers,
    constants,
    factors,
    floats,
    flow,
    frames,
    hashes,
    lanes,
    launches,
    patterns,
    shapes,
    stray,
    vectors,
    views,
    widths,
)

Generator = Callable[[random.Random], Case]

#: Classes by name, each with how often it is drawn.
CLASSES: dict[str, tuple[int, Generator]] = {
    "arithmetic": (2, arithmetic.generate),
    "atomics": (3, atomics.generate),
    "barriers": (3, barriers.generate),
    "constants": (2, constants.generate),
    "factors": (3, factors.generate),
    "flow": (3, flow.generate),
    "floats": (2, floats.generate),
    "frames": (2, frames.generate),
    "hashes": (2, hashes.generate),
    "lanes": (3, lanes.generate),
    "launches": (4, launches.generate),
    "patterns": (18, patterns.generate),
    "shapes": (4, shapes.generate),
    "stray": (2, stray.generate),
    "vectors": (3, vectors.generate),
    "views": (2, views.generate),
    "widths": (2, widths.generate),
}


def generate(seed: int, only: str = "") -> Case:
    """The case of a seed, of one class or of any."""
    rng = random.Random(f"{seed} {only}")
    kinds = [only] if only else list(CLASSES)
    kind = rng.choices(kinds, [CLASSES[k][0] for k in kinds])[0]
    case = CLASSES[kind][1](rng)
    return replace(case, name=f"lockstep_{kind}_{seed}", kind=kind, seed=seed)
