"""Classes of kernels. Each module makes one: `generate(rng)` gives a case from a random source."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators import arithmetic, constants, hashes

Generator = Callable[[random.Random], Case]

#: Classes by name, each with how often it is drawn.
CLASSES: dict[str, tuple[int, Generator]] = {
    "arithmetic": (3, arithmetic.generate),
    "constants": (3, constants.generate),
    "hashes": (3, hashes.generate),
}


def generate(seed: int, only: str = "") -> Case:
    """The case of a seed, of one class or of any."""
    rng = random.Random(f"{seed} {only}")
    kinds = [only] if only else list(CLASSES)
    kind = rng.choices(kinds, [CLASSES[k][0] for k in kinds])[0]
    case = CLASSES[kind][1](rng)
    return replace(case, name=f"lockstep_{kind}_{seed}", kind=kind, seed=seed)
