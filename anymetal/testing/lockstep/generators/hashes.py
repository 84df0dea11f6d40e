"""Long hashes: tens of rounds in which each value is used twice or more, and chains of squares."""

from __future__ import annotations

import random

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators.common import finish, input_of, launch, starts
from anymetal.testing.lockstep.text import Text


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    type_ = rng.choice(("uint", "uint", "ulong", "int", "long"))
    inputs = [input_of(rng, "x", type_, 64), input_of(rng, "t", "uint", 256)]
    starts(text, inputs, 1)
    h = text.declare(
        type_, rng.choice(("x[gid & 63]", f"({type_})gid", f"({type_})gid * x[0]")), "h"
    )
    other = text.declare(type_, f"({type_})(gid + 1)", "g")
    rounds = rng.choice((3, 6, 8, 12, 20, 40, 60))
    shape = rng.choice((_xorshift, _murmur, _squares, _feistel, _mixed))
    if rng.random() < 0.25:
        with text.block(f"for (int r = 0; r < {rng.choice(('9', '(int)(gid & 15)', '4'))}; r++)"):
            for _ in range(min(rounds, 6)):
                shape(text, h.name, other.name, type_)
    else:
        for _ in range(rounds):
            shape(text, h.name, other.name, type_)
    if rng.random() < 0.3:
        text.line(f"if (({h.name} & 1) != 0) {other.name} ^= t[(uint){h.name} & 255u];")
    if rng.random() < 0.3:
        text.line(f"{other.name} += ({type_})t[(uint){h.name} >> 24];")
    return finish(text, inputs, *launch(rng))


def _xorshift(text: Text, h: str, g: str, type_: str) -> None:
    bits = 64 if "long" in type_ else 32
    for op in ("SHL", "SHR", "SHL"):
        text.line(f"{h} ^= {op}({h}, {text.rng.randrange(1, bits)});")


def _murmur(text: Text, h: str, g: str, type_: str) -> None:
    bits = 64 if "long" in type_ else 32
    text.line(f"{h} ^= SHR({h}, {text.rng.randrange(1, bits)});")
    text.line(f"{h} *= ({type_}){text.rng.getrandbits(31) | 1}u;")
    if text.chance(0.4):
        text.line(f"{h} = rotate({h}, ({type_}){text.rng.randrange(bits)}) + {g};")


def _squares(text: Text, h: str, g: str, type_: str) -> None:
    text.line(f"{h} = {h} * {h} + {g};")
    if text.chance(0.5):
        text.line(f"{g} = {g} * {h} + ({type_}){text.rng.randrange(100)};")


def _feistel(text: Text, h: str, g: str, type_: str) -> None:
    new = text.fresh("f")
    text.line(f"{type_} {new} = {h} ^ (SHR({g}, {text.rng.randrange(1, 31)}) * ({g} | 1));")
    text.line(f"{h} = {g};")
    text.line(f"{g} = {new};")


def _mixed(text: Text, h: str, g: str, type_: str) -> None:
    text.rng.choice((_xorshift, _murmur, _squares, _feistel))(text, h, g, type_)
    if text.chance(0.2):
        text.line(f"{h} = ({h} & 4) != 0 ? {h} + {g} : {h} - {g};")
    if text.chance(0.1):
        text.line(f"{g} += ({type_})popcount({h});")
