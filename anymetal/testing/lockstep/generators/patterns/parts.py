"""What these patterns are made of."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case, Extent, Input, Output
from anymetal.testing.lockstep.generators.common import input_of
from anymetal.testing.lockstep.generators.floats import small
from anymetal.testing.lockstep.text import Text, Variable

X = "uint i = thread_position_in_grid.x;"
KEPT = "#pragma clang loop unroll(disable)"
LANE = "uint lane = thread_index_in_simdgroup;"


def case_of(
    lines: list[str], inputs: list[Input], outputs: list[Output], grid: Extent, group: Extent,
    header: str = "", atomic: bool = False,
) -> Case:  # fmt: skip
    body = "\n".join(lines) + "\n"
    return Case("", "", 0, body, tuple(inputs), tuple(outputs), grid, group, header, atomic=atomic)


def touch(rng: random.Random, *names: str, count: int = 3) -> list[str]:
    """Some random arithmetic with variables of `uint`."""
    text = Text(rng)
    for name in names:
        text.variables.append(Variable(name, "uint"))
    text.line("")
    for _ in range(rng.randint(0, count)):
        name = rng.choice(names)
        text.line(f"{name} {text.choose('=', '^=', '+=')} (uint)({text.integer('uint', 2)});")
    return text.lines[1:]


def numbers_of(rng: random.Random, name: str, element: str, size: int) -> Input:
    """Random integers, or small floats."""
    if element == "float":
        return Input(name, element, small(rng, element, size))
    return input_of(rng, name, element, size)
