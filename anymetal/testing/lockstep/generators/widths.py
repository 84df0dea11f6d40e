"""Chains through types of all widths: narrow integers, long, bool, half and bfloat."""

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

_FLOATS = ("half", "bfloat", "float")


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    kinds = rng.sample(list(BITS), 3)
    inputs = [input_of(rng, f"x{i}", kind, rng.choice((64, 77))) for i, kind in enumerate(kinds)]
    starts(text, inputs)
    element_leaf(text, inputs)
    for _ in range(rng.randint(4, 10)):
        roll = rng.random()
        if roll < 0.4:
            type_ = rng.choice(("char", "uchar", "short", "ushort", "char", "short"))
            text.declare(type_, f"({type_})({text.integer(rng.choice(list(BITS)), 2)})", "n")
        elif roll < 0.55:
            _bool(text)
        elif roll < 0.75:
            _through_float(text)
        elif roll < 0.85:
            kind = rng.choice(("uchar", "ushort", "char", "short"))
            counter = text.fresh("i")
            bound = rng.choice(("5", "(uchar)(gid & 7u)", "9"))
            word = "uchar" if kind[0] == "u" else kind
            with text.block(f"for ({word} {counter} = 0; {counter} < {bound}; {counter}++)"):
                text.assign(1)
        else:
            text.assign(2)
    return finish(text, inputs, *launch(rng))


def _bool(text: Text) -> None:
    name = text.fresh("q")
    text.line(f"bool {name} = {text.condition()};")
    type_ = text.rng.choice(list(BITS))
    form = text.rng.choice((
        f"({type_}){name}", f"({type_})(({name} ? 1 : 2) * 3)", f"({type_})({name} + {name})",
        f"({type_})(!{name})", f"({type_})-({name})", f"({type_})({name} ^ {text.condition()})",
    ))  # fmt: skip
    text.declare(type_, form, "n")


def _through_float(text: Text) -> None:
    """Small whole numbers, which every float holds."""
    rng = text.rng
    float_ = rng.choice(_FLOATS)
    name = text.fresh("f")
    small = f"(int)(({text.integer('int', 1)}) & {rng.choice((63, 127, 15))})"
    text.line(f"{float_} {name} = ({float_})(float)({small} - {rng.choice((0, 8, 64))});")
    if text.chance(0.6):
        step = rng.choice((f"{name} * ({float_})2.0f", f"{name} + ({float_})1.0f", f"-{name}",
                           f"{name} - ({float_})0.5f"))  # fmt: skip
        text.line(f"{name} = {step};")
    target = rng.choice(list(BITS))
    if text.chance(0.2):
        text.declare(
            "uint", f"(uint)as_type<{'uint' if float_ == 'float' else 'ushort'}>({name})", "n"
        )
        return
    text.declare(target, f"CVT({target}, {name})", "n")
