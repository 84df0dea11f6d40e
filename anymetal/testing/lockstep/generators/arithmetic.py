"""Integer arithmetic in branches and loops, of all widths: what the other classes are made of."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators.common import (
    element_leaf,
    finish,
    input_of,
    launch,
    starts,
)
from anymetal.testing.lockstep.text import BITS, Text


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    inputs = [
        input_of(rng, f"x{i}", rng.choice(list(BITS)), rng.choice((32, 64, 77, 256)))
        for i in range(rng.randint(1, 3))
    ]
    starts(text, inputs)
    element_leaf(text, inputs)
    statements(text, rng.randint(3, 9), 2)
    return finish(text, inputs, *launch(rng))


def statements(text: Text, count: int, deep: int) -> None:
    """Assignments, branches and loops."""
    for _ in range(count):
        roll = text.rng.random()
        if deep and roll < 0.15:
            with text.block(f"if ({text.condition()})"):
                statements(text, text.rng.randint(1, 3), deep - 1)
            if text.chance(0.5):
                with text.block("else"):
                    statements(text, text.rng.randint(1, 3), deep - 1)
        elif deep and roll < 0.25:
            counter = text.fresh("i")
            bound = text.rng.choice(("3", "8", "(int)(gid & 7)", f"(int)({text.integer()} & 7u)"))
            with text.block(f"for (int {counter} = 0; {counter} < {bound}; {counter}++)"):
                statements(text, text.rng.randint(1, 3), deep - 1)
        else:
            text.assign(text.rng.randint(1, 3))
