"""Stray addresses under conditions: a load far outside of its array, whose value is not used. What
is computed of it on the way to the selection is not used either."""

from __future__ import annotations

import random
from dataclasses import replace

from anymetal.testing.lockstep.case import Case
from anymetal.testing.lockstep.generators.common import finish, input_of, launch, starts
from anymetal.testing.lockstep.text import Text

#: Unary steps between a load and the selection.
_STEPS = (
    "-({v})", "~({v})", "({v}) + {c}", "({v}) * ({v}) + ({v})", "max({v}, ({t}){c})",
    "({v}) ^ {c}", "SHR({v}, 3)", "({t})popcount({v})", "({v}) * {c} - ({v})",
    "min(({v}) & 255, ({t}){c})", "({t})(char)({v})", "({v}) / 3",
)  # fmt: skip

#: Where a thread reads, and how often it goes far away; then the same for all threads at once.
_PLACES = ("gid", "(gid * 3u)", "(z[gid & 63u] & 511u)", "(z[(gid * 7u) & 63u] & 255u)")
_DISTANCES = ("(gid & 1u)", "(gid % 3u)", "(uint)(gid > 9u)", "(gid >> 2 & 1u)", "gid")
_NUMBERS = ("z[{}]", "(z[{}] & 1u)", "(z[{}] & 2u)", "(z[{}] >> 28)")


def generate(rng: random.Random) -> Case:
    """A case."""
    text = Text(rng)
    element = rng.choice(("int", "uint", "short", "uchar", "long"))
    inputs = [
        replace(input_of(rng, "x", element, 512), checked=True),
        input_of(rng, "z", "uint", 64),
    ]
    grid, threadgroup = launch(rng)
    starts(text, inputs[1:])
    for _ in range(rng.randint(1, 4)):
        _stray(text, inputs[0].element)
        if text.chance(0.4):
            text.assign()
    return finish(text, inputs, grid, threadgroup)


def _stray(text: Text, element: str) -> None:
    """`i` is an element for some threads, and far away for the others."""
    rng = text.rng
    at, inside = text.fresh("i"), text.fresh("in")
    uniform = text.chance(0.4)  # one place for all threads
    base = rng.choice(_NUMBERS if uniform else _PLACES)
    far = rng.choice((400000000, 1 << 29, 123456789, 50000000))
    away = rng.choice(_NUMBERS if uniform else _DISTANCES).format(rng.randrange(64)) + " & 31u"
    sign = rng.choice(("+", "-"))
    text.line(
        f"int {at} = (int)({base.format(rng.randrange(64))} & 511u) {sign} (int)({away}) * {far};"
    )
    also = rng.choice(("", " && (gid & 3u) != 1u")) if uniform else ""
    text.line(f"bool {inside} = {at} >= 0 && {at} < {rng.choice((512, 512, 300, 17))}{also};")
    value = text.declare("int" if element in ("short", "uchar") else element, "0", "v")
    kind = value.type
    loaded = f"({kind})x[{at}]"
    shape = rng.randrange(4)
    if shape == 0:  # directly
        text.line(f"{value.name} = {inside} ? {_worked(text, loaded, kind, 2)} : ({kind})0;")
        return
    name = text.fresh("w")
    text.line(f"{kind} {name} = {loaded};")
    for _ in range(rng.randint(0, 3)):
        text.line(f"{name} = {_worked(text, name, kind, 1)};")
    if shape == 1:
        text.line(f"{value.name} = {inside} ? {name} : ({kind}){rng.randrange(9)};")
    elif shape == 2:  # two selections of one load
        text.line(f"{value.name} = {inside} ? {name} : ({kind})0;")
        text.line(f"{value.name} += {inside} ? ({kind})({name} * 3) : ({kind})1;")
    else:
        text.line(f"if ({inside}) {value.name} = {name};")


def _worked(text: Text, name: str, type_: str, steps: int) -> str:
    for _ in range(text.rng.randint(0, steps)):
        step = text.rng.choice(_STEPS).format(v=name, t=type_, c=text.rng.randrange(1, 100))
        name = f"({type_})({step})"
    return name
