"""Constants in odd places: where a compiler folds what Metal gives a meaning to and C++ none."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators.common import finish, input_of, launch, starts
from anymetal.testing.lockstep.text import BITS, WIDE, Text

_FLOATS = (
    "3e9f -3e9f 1e10f -1e20f 2147483648.0f 4294967296.0f -2147483904.0f INFINITY (-INFINITY) "
    "(0.0f/0.0f) 0.0f (-0.0f) 1.75f (-1.75f) 127.5f 128.0f 255.9f 65536.0f 9.3e18f 1.9e19f"
).split()
_SHIFTS = (0, 1, 5, 7, 8, 15, 16, 31, 32, 33, 47, 63, 64, 65, 100, -1, -31, 2147483647)


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    inputs = [input_of(rng, "x", rng.choice(WIDE), 64)]
    template: list[tuple[str, int | bool | str]] = [
        ("S", rng.choice(_SHIFTS)),
        ("N", rng.choice((0, 1, -1, 7, 31, 255, 65535, 2147483647, -(2**31) + 1))),
        ("F", rng.choice((True, False))),
        ("T", rng.choice(list(BITS))),
    ]
    starts(text, inputs)

    def shift() -> str:
        type_ = rng.choice(WIDE)
        left = rng.choice(
            (text.literal(type_), "N", f"(T)({text.literal('int')})", "1u", "1", "1ul")
        )
        right = rng.choice((str(rng.choice(_SHIFTS)), "S", "N", f"(S + {rng.randint(-3, 40)})"))
        return f"{text.choose('SHL', 'SHR')}({left}, {right})"

    def conversion() -> str:
        return f"CVT({rng.choice((*BITS, 'T'))}, {rng.choice(_FLOATS)})"

    def constant(_: str) -> str:
        roll = rng.random()
        if roll < 0.4:
            return shift()
        if roll < 0.7:
            return conversion()
        if roll < 0.8:
            return f"({shift()} {text.choose('-', '+', '^', '*')} {text.literal('uint')})"
        if roll < 0.9:
            return text.choose("N", "(F ? N : S)", "(T)N", "(uint)F", "(N & S)")
        return f"({text.integer('int', 1)} / {rng.choice((3, 7, 10, -3, -7))})"

    text.leaves.append(constant)
    for _ in range(rng.randint(2, 4)):
        type_ = rng.choice(("uint", "int", "ulong", "long", "T"))
        word = rng.choice(("const ", "", "const "))
        if type_ == "T":
            text.line(f"{word}T {text.fresh('t')} = (T)({constant('')});")
        else:
            name = text.declare(type_, f"({type_})({constant('')})", "c").name
            if word:
                text.lines[-1] = text.lines[-1].replace(f"{type_} {name}", f"const {type_} {name}")
                text.variables[-1] = type(text.variables[-1])(name, type_, True)
    for _ in range(rng.randint(2, 6)):
        if text.chance(0.2):
            with text.block(f"if ({text.choose('F', '!F', 'S > 31', 'N < 0')})"):
                text.assign()
        elif text.chance(0.15):
            with text.block(f"switch ((int)({text.integer('int', 1)} & 3))"):
                with text.block("case 0: case 2:"):
                    text.assign()
                text.line("break;")
                with text.block("default:"):
                    text.assign()
        else:
            text.assign(rng.randint(1, 3))
    return finish(text, inputs, *launch(rng), template=tuple(template))
